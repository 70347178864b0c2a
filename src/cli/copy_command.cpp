#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "base/id.hpp"
#include "cli/commands.hpp"
#include "cli/failure.hpp"
#include "cli/interrupted.hpp"
#include "cli/json_read.hpp"
#include "cli/local_file.hpp"
#include "cli/path_below.hpp"
#include "cli/progress.hpp"
#include "cli/quiet_command.hpp"
#include "http/url.hpp"
#include "io/race.hpp"

// Files in and out. What comes out is named by the sandbox, which is not trusted: nothing is written outside
// of where the caller said, and links are not made.
namespace oyat::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPiece = 256 * 1024;
constexpr const char* kStandard = "-";

// "ID:/path" names a place inside; anything else is here.
struct Place {
    std::string id;  // "" = here
    std::string path;
};

Place parse_place(const std::string& text) {
    const std::size_t colon = text.find(':');
    if (colon == std::string::npos || !is_sandbox_id(text.substr(0, colon))) return {"", text};
    return {text.substr(0, colon), text.substr(colon + 1)};
}

struct Copy {
    Context& context;
    std::string id;
    std::string user;
    Progress progress;
    std::uint64_t files = 0;
    std::uint64_t skipped = 0;
    std::vector<std::string> executables;  // inside

    [[nodiscard]] std::string call(std::string_view what, const std::string& path) const {
        std::string target =
            "/v1/sandboxes/" + id + "/" + std::string{what} + "?path=" + http::percent_encode(path);
        if (!user.empty()) target += "&user=" + http::percent_encode(user);
        return target;
    }
};

bool is_executable(fs::perms mode) {
    constexpr fs::perms kAny = fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec;
    return (mode & kAny) != fs::perms::none;
}

LocalFile::Kind kind_of(const boost::json::value& entry) {
    const auto mode = static_cast<fs::perms>(number(entry, "mode"));
    return is_executable(mode) ? LocalFile::Kind::executable : LocalFile::Kind::plain;
}

std::function<std::string()> pieces_of(std::shared_ptr<std::istream> file, Progress& progress) {
    return [file = std::move(file), &progress] {
        std::string piece(kPiece, '\0');
        file->read(piece.data(), static_cast<std::streamsize>(piece.size()));
        piece.resize(static_cast<std::size_t>(file->gcount()));
        progress.add(piece.size());
        return piece;
    };
}

Task<> put_file(Copy& copy, fs::path from, std::string to) {
    const fs::path path = from == kStandard ? "/dev/stdin" : from;
    const auto file = std::make_shared<std::ifstream>(path, std::ios::binary);
    if (!*file) local_failure(from, "cannot read");
    std::error_code unknown;
    const std::uint64_t size = fs::file_size(path, unknown);
    copy.progress.begin(from.filename().string(), unknown ? std::nullopt : std::optional{size});
    co_await copy.context.client.upload("PUT", copy.call("files", to), pieces_of(file, copy.progress));
    if (from != kStandard && is_executable(fs::status(from).permissions())) copy.executables.push_back(to);
    ++copy.files;
}

// A program that was brought in can be run. The paths of one call fit into one command line.
Task<> mark_executables(Copy& copy) {
    constexpr std::size_t kAtOnce = 200;
    for (std::size_t done = 0; done < copy.executables.size(); done += kAtOnce) {
        std::vector<std::string> argv{"chmod", "+x", "--"};
        const std::size_t end = std::min(done + kAtOnce, copy.executables.size());
        argv.insert(argv.end(), copy.executables.begin() + static_cast<std::ptrdiff_t>(done),
                    copy.executables.begin() + static_cast<std::ptrdiff_t>(end));
        co_await run_quietly(copy.context.client, copy.id, std::move(argv), copy.user);
    }
}

Task<> put_tree(Copy& copy, fs::path from, std::string to) {
    co_await copy.context.client.post(copy.call("directory", to), {});
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator{from}) {
        const std::string inside = to + "/" + fs::relative(entry.path(), from).string();
        if (entry.is_symlink()) {
            ++copy.skipped;
        } else if (entry.is_directory()) {
            co_await copy.context.client.post(copy.call("directory", inside), {});
        } else if (entry.is_regular_file()) {
            co_await put_file(copy, entry.path(), inside);
        } else {
            ++copy.skipped;
        }
    }
}

Task<boost::json::value> stat_inside(Copy& copy, std::string path) {
    co_return co_await copy.context.client.get(copy.call("stat", path));
}

Task<bool> is_directory_inside(Copy& copy, std::string path) {
    bool is_directory = path.ends_with('/');
    try {
        const boost::json::value entry = co_await stat_inside(copy, std::move(path));
        is_directory = text(entry, "type") == "directory" || text(entry, "target_type") == "directory";
    } catch (const Failure& failure) {
        if (failure.code() != Errc::not_found) throw;
    }
    co_return is_directory;
}

Task<> get_file(Copy& copy, std::string from, fs::path to, const boost::json::value& entry) {
    LocalFile file{to};
    copy.progress.begin(to.filename().string(), static_cast<std::uint64_t>(number(entry, "size")));
    co_await copy.context.client.download(copy.call("files", from), [&](std::string_view bytes) {
        file.write(bytes);
        copy.progress.add(bytes.size());
    });
    file.finish(kind_of(entry));
    ++copy.files;
}

Task<> get_tree(Copy& copy, std::string root, fs::path to) {
    std::vector<boost::json::value> entries;
    co_await copy.context.client.lines(copy.call("directory", root) + "&depth=64",
                                       [&](std::string_view line) {
                                           boost::system::error_code problem;
                                           entries.push_back(boost::json::parse(line, problem));
                                       });
    fs::create_directories(to);
    for (const boost::json::value& entry : entries) {
        const std::string inside = text(entry, "path");
        const std::optional<fs::path> relative = path_below(root, inside);
        const std::string type = text(entry, "type");
        if (!relative || fs::is_symlink(to / *relative)) {
            ++copy.skipped;
        } else if (type == "directory") {
            fs::create_directories(to / *relative);
        } else if (type == "file") {
            fs::create_directories((to / *relative).parent_path());
            co_await get_file(copy, inside, to / *relative, entry);
        } else {
            ++copy.skipped;
        }
    }
}

Task<> put(Copy& copy, std::string from, std::string to) {
    const bool into = from != kStandard && co_await is_directory_inside(copy, to);
    if (into) to = (fs::path{to} / fs::path{from}.lexically_normal().filename()).string();
    if (from != kStandard && fs::is_directory(from)) {
        co_await put_tree(copy, std::move(from), std::move(to));
    } else {
        co_await put_file(copy, std::move(from), std::move(to));
    }
    co_await mark_executables(copy);
}

Task<> get(Copy& copy, std::string from, fs::path to) {
    const boost::json::value entry = co_await stat_inside(copy, from);
    const std::string root = text(entry, "path");  // absolute
    if (to != kStandard && fs::is_directory(to)) to /= fs::path{root}.filename();
    if (text(entry, "type") == "directory") {
        co_await get_tree(copy, root, std::move(to));
    } else {
        co_await get_file(copy, std::move(from), std::move(to), entry);
    }
}

}  // namespace

Task<int> cp(Context& context, std::string from, std::string to, std::string user) {
    const Place source = parse_place(from), target = parse_place(to);
    if (source.id.empty() == target.id.empty()) {
        throw Failure{
            Error{Errc::invalid_argument, "one of the two places must be inside a sandbox: ID:PATH"},
            "oyat cp data.csv " + (source.id.empty() ? std::string{"i0123..."} : source.id) + ":/home/user/"};
    }
    Copy copy{.context = context,
              .id = source.id.empty() ? target.id : source.id,
              .user = std::move(user),
              .progress = Progress{context.json ? Progress::Where::nowhere : Progress::Where::terminal}};
    try {
        if (source.id.empty()) {
            co_await put(copy, source.path, target.path);
        } else if (co_await race(get(copy, source.path, target.path), interrupted()) == 1) {
            co_return kKilledBy + SIGINT;  // in order: no half file stays here
        }
    } catch (const fs::filesystem_error& error) {
        throw Failure{Error{Errc::failed_precondition, Fault::client, error.what()}, ""};
    }
    if (context.json) {
        print(boost::json::serialize(boost::json::object{{"files", copy.files}, {"skipped", copy.skipped}}) +
              "\n");
    } else if (copy.skipped > 0) {
        print_to(STDERR_FILENO,
                 "oyat: " + std::to_string(copy.skipped) + " links and special files were left out\n");
    }
    co_return 0;
}

}  // namespace oyat::cli
