#include "cli/command_line.hpp"

#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

#include "cli/command_table.hpp"

namespace oyat::cli {
namespace {

int perform(CommandLine& line) {
    try {
        Context context{.client = Client{or_throw(find_settings(from_environment))}, .json = line.json};
        return line.action(context);
    } catch (const Failure& failure) {
        print_failure(failure, failure.hint(), line.json);
    } catch (const Error& error) {
        print_failure(error, hint_for(error), line.json);
    }
    return kFailed;
}

// The deepest command that the words name, as one types it.
std::string command_of(const CLI::App& app) {
    const std::vector<const CLI::App*> given =
        app.get_subcommands([](const CLI::App* each) { return each->parsed(); });
    return app.get_name() + (given.empty() ? "" : " " + command_of(*given.front()));
}

// Words that make no command. Beside the exit code of a command inside, ours must not look like one.
int refuse_words(const CommandLine& line, const CLI::ParseError& error) {
    std::string message = error.what();
    const std::vector<std::string> unknown = line.app.remaining(true);
    if (line.action == nullptr && !unknown.empty() && !unknown.front().starts_with('-')) {
        message = "there is no command '" + unknown.front() + "'";
    }
    const std::string command = command_of(line.app);
    print_failure(Error{Errc::invalid_argument, Fault::client, message}, "see '" + command + " --help'",
                  line.json);
    for (const std::string_view inside : {"oyat run", "oyat exec", "oyat shell"}) {
        if (command == inside) return kNotStarted;
    }
    return kUsage;
}

}  // namespace

int run_command_line(int argc, char** argv, std::string version) {
    ::signal(SIGPIPE, SIG_IGN);
    CommandLine line{std::move(version)};
    const std::vector<std::string> words(argv, argv + argc);
    if (const auto separator = std::ranges::find(words, "--"); separator != words.end())
        line.after_separator = static_cast<std::size_t>(words.end() - separator) - 1;
    try {
        line.app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) return line.app.exit(error);
        return refuse_words(line, error);
    }
    return perform(line);
}

}  // namespace oyat::cli
