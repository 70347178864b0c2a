#include <algorithm>
#include <utility>

#include "core/installer.hpp"
#include "core/json_text.hpp"
#include "core/lifecycle.hpp"
#include "core/live_sandbox.hpp"
#include "core/record_fields.hpp"

// What a sandbox installs while it lives. Where its policy wants an install window, the way out is narrowed
// and secrets are suspended while a command runs that installs packages.
namespace oyat::core {
namespace {

bool wants_install_window(const policy::Policy& policy) {
    return std::ranges::any_of(
        policy.layers, [](const policy::LayerDocument& layer) { return layer.document->install_window; });
}

}  // namespace

Task<> LiveSandbox::command_starts(std::string command, std::vector<std::string> argv) {
    const std::string_view installer = installer_of(argv);
    trail_.command_started(command, installer);
    if (installer.empty()) co_return;
    const auto self = shared_from_this();
    const bool first = installing_.empty();
    installing_.emplace(std::move(command), installer);
    if (!first || !wants_install_window(*policy_)) co_return;
    renew_policy();
    // A restart in the middle must not open what is closed before the command is found again.
    co_await save();
}

void LiveSandbox::command_found(const std::string& command, const std::vector<std::string>& argv) {
    const std::string_view installer = installer_of(argv);
    trail_.command_started(command, installer);
    if (!installer.empty()) installing_.emplace(command, installer);
}

void LiveSandbox::command_ended(const std::string& command) {
    trail_.command_ended(command);
    if (installing_.erase(command) == 0 || !installing_.empty() || is_over(record_.state)) return;
    close_install_window();
}

// Now all commands are known that run.
void LiveSandbox::settle_installs() {
    if (installing_.empty()) return close_install_window();
    if (!record_.installing && wants_install_window(*policy_)) renew_policy();
}

void LiveSandbox::close_install_window() {
    if (std::exchange(record_.installing, false)) renew_policy();
}

void LiveSandbox::suspend_secrets() {
    record_.installing = policy_->install_window.has_value();
    if (deps_.secrets != nullptr) deps_.secrets->set_installing(record_.id, record_.installing);
}

void LiveSandbox::note_install_window(bool was_open, std::size_t cut) {
    const bool open = policy_->install_window.has_value();
    if (open == was_open) return;
    Event event = sandbox_event(record_, "install.window", Witness::host);
    event.fields["state"] = open ? "opened" : "closed";
    boost::json::array commands;
    for (const auto& [command, installer] : installing_)
        commands.push_back({{"command", command}, {"installer", installer}});
    if (open) event.fields["commands"] = std::move(commands);
    event.fields["generation"] = record_.policy_generation;
    event.fields["cut"] = cut;
    emit_or_log(deps_.events, std::move(event));
}

}  // namespace oyat::core
