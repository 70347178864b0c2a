#include "layers/package_search.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "base/throwing.hpp"
#include "layers/child_job.hpp"
#include "layers/confine.hpp"
#include "layers/directory.hpp"
#include "packages/finder.hpp"

namespace oyat::layers {
namespace {

void write_whole(int file, const std::string& text) {
    std::size_t done = 0;
    while (done < text.size()) {
        const ssize_t n =
            sys(::pwrite(file, text.data() + done, text.size() - done, static_cast<off_t>(done)),
                "write the list of packages");
        done += static_cast<std::size_t>(n);
    }
}

void search_confined(int box, const std::vector<Fd>& template_layers, int into, JobReporter& reporter) {
    packages::DebianSet shipped;
    for (const Fd& layer : template_layers) shipped.merge(packages::installed_debian(layer.get()));
    const Fd changed = open_directory(box, "u");
    confine_to(changed.get(), {into, reporter.fd()});
    const Fd root{sys(::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open the changed files")};
    const std::string text = to_text(packages::find_packages(root.get(), shipped));
    write_whole(into, text);
    reporter.done(0, text.size(), "done");
}

}  // namespace

std::unique_ptr<Job> search_packages(Fd box, std::vector<Fd> template_layers, Fd into) {
    const auto work = [&](JobReporter& reporter) {
        search_confined(box.get(), template_layers, into.get(), reporter);
    };
    const auto finish = [](const std::string&, Job::Progress counted) {
        TemplateMeta meta;
        meta.bytes = counted.bytes;
        return meta;
    };
    return std::make_unique<ChildJob>(work, finish, [] {});
}

}  // namespace oyat::layers
