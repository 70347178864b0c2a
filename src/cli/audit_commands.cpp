#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <filesystem>
#include <fstream>

#include "audit/commands.hpp"
#include "audit/line.hpp"
#include "audit/segment_file.hpp"
#include "audit/verify.hpp"
#include "cli/commands.hpp"
#include "cli/event_view.hpp"
#include "cli/failure.hpp"
#include "cli/json_read.hpp"

// The record, read from its files: it answers when the sandbox and both daemons are gone.
namespace oyat::cli {
namespace {

namespace fs = std::filesystem;

fs::path record_of(const AuditQuery& query) {
    const fs::path directory = fs::path{query.state} / "audit";
    std::error_code problem;
    if (!fs::is_directory(directory, problem)) {
        throw Failure{Error{Errc::not_found, "there is no record in " + directory.string()},
                      "--state names the server's state directory; reading it needs root or the group oyat"};
    }
    return directory;
}

std::vector<audit::SegmentFile> segments(const AuditQuery& query) {
    std::vector<audit::SegmentFile> found = audit::list_segments(record_of(query));
    // What was recorded while the disk was full stands apart, for all sandboxes together.
    std::erase_if(found, [&](const audit::SegmentFile& file) {
        return !query.chain.empty() && file.name.chain != query.chain &&
               file.name.chain != audit::kFullDiskChain;
    });
    return found;
}

bool matches(const boost::json::value& event, std::string_view record, const AuditQuery& query) {
    return text(event, "type").starts_with(query.type) &&
           (query.fault.empty() || text(event, "fault") == query.fault) &&
           record.find(query.text) != std::string_view::npos;
}

// How many lines matched.
std::uint64_t show_segment(const Context& context, const audit::SegmentFile& segment,
                           const AuditQuery& query) {
    std::ifstream file{segment.path, std::ios::binary};
    if (!file)
        throw Failure{Error{Errc::denied, "cannot read " + segment.path.string()},
                      "the record is for root and the group oyat"};
    std::uint64_t shown = 0;
    for (std::string line; std::getline(file, line);) {
        // A torn line is no record; `verify` says where it is.
        const Result<audit::Line> parsed = audit::parse_line(line);
        if (!parsed) continue;
        boost::system::error_code problem;
        const boost::json::value event = boost::json::parse(parsed->record, problem);
        if (problem || !matches(event, parsed->record, query)) continue;
        const bool asked = query.chain.empty() || segment.name.chain == query.chain;
        if (!asked && text(event, "sandbox") != query.chain) continue;
        print(context.json ? std::string{parsed->record} + "\n"
                           : show_event(event, context.paint, Output::shown));
        ++shown;
    }
    return shown;
}

boost::json::object chain_json(const audit::ChainReport& chain) {
    boost::json::object shown{{"chain", chain.chain},
                              {"first_segment", chain.first_segment},
                              {"last_segment", chain.last_segment},
                              {"lines", chain.lines},
                              {"bytes", chain.bytes},
                              {"head", audit::to_hex(chain.head)},
                              {"closed", chain.closed},
                              {"gaps", boost::json::array(chain.gaps.begin(), chain.gaps.end())},
                              {"broken", nullptr},
                              {"missing", nullptr}};
    if (chain.broken) {
        shown["broken"] = {{"file", chain.broken->file},
                           {"line", chain.broken->line},
                           {"offset", chain.broken->offset},
                           {"sentence", chain.broken->sentence}};
    }
    if (chain.missing) shown["missing"] = *chain.missing;
    return shown;
}

}  // namespace

int audit_show(Context& context, AuditQuery query) {
    std::uint64_t shown = 0;
    for (const audit::SegmentFile& file : segments(query)) shown += show_segment(context, file, query);
    if (shown > 0) return 0;
    if (query.chain.empty()) {
        print_to(STDERR_FILENO, "oyat: nothing in the record matches\n");
        return 0;
    }
    throw Failure{Error{Errc::not_found, "the record has nothing of that about " + query.chain},
                  "'oyat audit query' searches all sandboxes"};
}

int audit_commands(Context& context, AuditQuery query) {
    std::uint64_t shown = 0;
    audit::for_each_command(record_of(query), query.chain, [&](const boost::json::object& command) {
        print(context.json ? boost::json::serialize(command) + "\n" : show_command(command, context.paint));
        ++shown;
    });
    if (shown > 0) return 0;
    throw Failure{Error{Errc::not_found, "the record has no command of " + query.chain},
                  "'oyat audit query --type command.' searches all sandboxes"};
}

int audit_verify(Context& context, std::string path) {
    const audit::Report report = audit::verify(path);
    if (context.json) {
        boost::json::array chains;
        for (const audit::ChainReport& chain : report.chains) chains.push_back(chain_json(chain));
        print(boost::json::serialize(
                  boost::json::object{{"sound", report.sound()}, {"chains", std::move(chains)}}) +
              "\n");
    } else {
        print(report.text());
    }
    return report.sound() ? 0 : kFailed;
}

}  // namespace oyat::cli
