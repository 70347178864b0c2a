#include <boost/json/serialize.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>

#include "cli/commands.hpp"
#include "cli/failure.hpp"
#include "cli/format.hpp"
#include "cli/interrupted.hpp"
#include "cli/json_read.hpp"
#include "cli/local_file.hpp"
#include "cli/progress.hpp"
#include "http/url.hpp"
#include "io/race.hpp"

namespace oyat::cli {
namespace {

constexpr std::size_t kPiece = 256 * 1024;

void show(const Context& context, const boost::json::value& facts) {
    if (context.json) {
        print(boost::json::serialize(facts) + "\n");
    } else {
        print(text(facts, "name") + "  " + text(facts, "digest") + "\n");
    }
}

}  // namespace

Task<int> template_ls(Context& context) {
    const boost::json::value answer = co_await context.client.get("/v1/templates");
    if (context.json) {
        print(boost::json::serialize(answer) + "\n");
        co_return 0;
    }
    std::vector<std::vector<std::string>> rows{{"NAME", "DIGEST", "SIZE", "FILES", "CREATED"}};
    for (const boost::json::value& facts : list(answer, "templates")) {
        rows.push_back({text(facts, "name"), text(facts, "digest"),
                        show_bytes(static_cast<std::uint64_t>(number(facts, "bytes"))),
                        std::to_string(number(facts, "files")), text(facts, "created")});
    }
    print(show_table(rows));
    co_return 0;
}

Task<int> template_import(Context& context, std::string file, std::string name, std::string digest) {
    const auto archive = std::make_shared<std::ifstream>(file == "-" ? "/dev/stdin" : file, std::ios::binary);
    if (!*archive) local_failure(file, "cannot read");
    std::error_code unknown;
    const std::uint64_t size = std::filesystem::file_size(file, unknown);
    Progress progress{context.json ? Progress::Where::nowhere : Progress::Where::terminal};
    progress.begin(name, unknown ? std::nullopt : std::optional{size});
    std::string path = "/v1/templates?name=" + http::percent_encode(name);
    if (!digest.empty()) path += "&digest=" + http::percent_encode(digest);
    const boost::json::value made =
        co_await context.client.upload("POST", std::move(path), [archive, &progress] {
            std::string piece(kPiece, '\0');
            archive->read(piece.data(), static_cast<std::streamsize>(piece.size()));
            piece.resize(static_cast<std::size_t>(archive->gcount()));
            progress.add(piece.size());
            return piece;
        });
    show(context, made);
    co_return 0;
}

Task<int> template_export(Context& context, std::string reference, std::string file) {
    LocalFile archive{file};
    Progress progress{context.json ? Progress::Where::nowhere : Progress::Where::terminal};
    progress.begin(reference, std::nullopt);
    std::uint64_t size = 0;
    const auto work = [&]() -> Task<> {
        co_await context.client.download("/v1/templates/" + http::percent_encode(reference) + "/archive",
                                         [&](std::string_view bytes) {
                                             archive.write(bytes);
                                             progress.add(bytes.size());
                                             size += bytes.size();
                                         });
    };
    if (co_await race(work(), interrupted()) == 1) co_return kKilledBy + SIGINT;
    archive.finish();
    if (context.json && file != "-")
        print(boost::json::serialize(boost::json::object{{"file", file}, {"bytes", size}}) + "\n");
    co_return 0;
}

Task<int> template_rm(Context& context, std::string reference) {
    co_await context.client.remove("/v1/templates/" + http::percent_encode(reference));
    if (context.json) print(boost::json::serialize(boost::json::object{{"removed", reference}}) + "\n");
    co_return 0;
}

}  // namespace oyat::cli
