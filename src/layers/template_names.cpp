#include "layers/template_names.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/throwing.hpp"
#include "layers/directory.hpp"
#include "layers/template_meta.hpp"

namespace oyat::layers {

TemplateNames::TemplateNames(int templates) : dir_{make_directory(templates, "names", 0700)} {}

std::optional<std::string> TemplateNames::digest_of(std::string_view name) const {
    const std::string file{name};
    if (!is_template_name(name) || ::faccessat(dir_.get(), file.c_str(), F_OK, 0) != 0) return std::nullopt;
    std::string digest = read_file(dir_.get(), file);
    if (digest.ends_with('\n')) digest.pop_back();
    if (!is_digest(digest)) return std::nullopt;
    return digest;
}

std::map<std::string, std::vector<std::string>> TemplateNames::by_digest() const {
    std::map<std::string, std::vector<std::string>> all;
    // What a crash left of a change bears no name of ours, and is overwritten by the next change.
    for (const std::string& name : names_in(dir_.get())) {
        if (const std::optional<std::string> digest = digest_of(name)) all[*digest].push_back(name);
    }
    return all;
}

void TemplateNames::point(const std::string& name, const std::string& digest) const {
    in("name template", [&] {
        const Fd locked = lock();
        replace_file(dir_.get(), name, digest + "\n");
        sys(::fsync(dir_.get()), "sync names");
    });
}

void TemplateNames::drop(std::string_view digest) const {
    const Fd locked = lock();
    for (const std::string& name : names_in(dir_.get())) {
        if (digest_of(name) == digest) sys(::unlinkat(dir_.get(), name.c_str(), 0), "remove name");
    }
}

// A descriptor of its own: the lock belongs to what was opened, and dir_ is shared with our children.
Fd TemplateNames::lock() const {
    Fd own = open_directory(dir_.get(), ".");
    sys(::flock(own.get(), LOCK_EX), "lock names");
    return own;
}

}  // namespace oyat::layers
