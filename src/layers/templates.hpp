#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.hpp"
#include "layers/job.hpp"
#include "layers/template_meta.hpp"
#include "layers/template_names.hpp"

namespace oyat::layers {

// The templates of this machine, shared by all states: DIR/<sha256 hex>/{root/, meta.json}, and their names.
// A template never changes: its digest is that of its content (docs/internals/layers.md). A name stands for
// what was imported under it last. DIR is 0700 root's.
//
// The names here are [a-z0-9-]{1,40}; digests are "sha256:" + 64 hex digits.
class Templates {
public:
    explicit Templates(const std::string& dir);

    // By name or by digest; of several names the first.
    [[nodiscard]] std::optional<TemplateMeta> find(std::string_view name_or_digest) const;
    // One entry for each name, and one for each template that has none.
    [[nodiscard]] std::vector<TemplateMeta> list() const;

    // The read-only layers of a template, newest first, as O_PATH directories for Staging::make_root. One
    // layer today; a chain has the same shape. Throws `not_found`.
    [[nodiscard]] std::vector<Fd> layers(std::string_view digest) const;

    // Unpacks a tar (plain, gzip, xz or zstd) in a child with its own root and files it under its digest, and
    // under `name` unless that is empty. A device node, a path out of the tree, a hard link to outside, a
    // bomb or another digest than `expected` (unless empty) refuses the whole archive. Nothing is left of a
    // failed import.
    [[nodiscard]] std::unique_ptr<Job> import(std::string name, std::string expected, Fd archive);

    // Writes the template's tree as tar.zst; an import of it has the same digest.
    [[nodiscard]] std::unique_ptr<Job> export_to(std::string_view digest, Fd archive);

    // Takes the template and its names away; the tree is removed by a child. The caller makes sure that no
    // sandbox of any state is made of it: one that lives keeps its files, as every unlinked file is kept, but
    // loses its names. So refuse while one lives. Throws `failed_precondition` while it is exported.
    void remove(std::string_view digest);

private:
    [[nodiscard]] std::optional<TemplateMeta> read_meta(std::string_view digest) const;
    TemplateMeta keep(const std::string& arrival, const TemplateMeta& meta, const std::string& name);

    Fd fd_;
    TemplateNames names_;
};

}  // namespace oyat::layers
