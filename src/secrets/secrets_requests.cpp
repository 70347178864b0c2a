#include <algorithm>

#include "core/json_text.hpp"
#include "secrets/secrets.hpp"

// What becomes of requests, and the record of it.
namespace oyat::secrets {
namespace {

std::string_view type_of(Note::Kind kind) {
    switch (kind) {
        case Note::Kind::used: return "secret.used";
        case Note::Kind::refused: return "secret.refused";
        case Note::Kind::leak: return "secret.leak_attempt";
    }
    return {};
}

}  // namespace

const Broker* Secrets::broker(const std::string& sandbox) const {
    const auto found = holdings_.find(sandbox);
    return found == holdings_.end() ? nullptr : &found->second->broker();
}

Prepared Secrets::prepare(const std::string& sandbox, const RequestView& request) {
    const auto found = holdings_.find(sandbox);
    if (found == holdings_.end()) {
        return {.forward = true, .target = std::string{request.target}, .fields = request.fields};
    }
    Prepared prepared = found->second->broker().prepare(request);
    record(sandbox, request, prepared);
    return prepared;
}

void Secrets::record(const std::string& sandbox, const RequestView& request, const Prepared& prepared) {
    const Holding& holding = *holdings_.at(sandbox);
    for (const Note& note : prepared.notes) {
        core::Event event{.type = std::string{type_of(note.kind)},
                          .sandbox = sandbox,
                          .tenant = holding.tenant(),
                          .by = core::Witness::proxy};
        if (note.kind != Note::Kind::used) event.fault = Fault::policy;
        event.fields["secret"] = core::json_text(note.secret);
        event.fields["in"] = core::json_text(note.place.substr(0, 64));
        event.fields["host"] = core::json_text(request.host);
        event.fields["port"] = request.port;
        event.fields["method"] = core::json_text(request.method.substr(0, 16));
        if (!note.reason.empty()) event.fields["reason"] = core::json_text(note.reason);
        deps_.events.emit(std::move(event));
    }
    const bool counted = prepared.forward && std::ranges::any_of(holding.bound(), [](const auto& each) {
                             return each.binding->asked().max_uses != 0;
                         });
    if (!prepared.notes.empty() && counted) tasks_.spawn(save(sandbox));
}

void Secrets::leaked(const std::string& sandbox, const std::string& host, std::uint16_t port,
                     const std::string& place) {
    const auto found = holdings_.find(sandbox);
    if (found == holdings_.end()) return;
    core::Event event{.type = "secret.leak_attempt",
                      .sandbox = sandbox,
                      .tenant = found->second->tenant(),
                      .by = core::Witness::proxy,
                      .fault = Fault::policy};
    event.fields["in"] = core::json_text(place);
    // A name that was to be looked up is itself the leak, and no placeholder enters the record.
    event.fields["host"] = found->second->broker().could_be_placeholder(host)
                               ? boost::json::string{"(withheld)"}
                               : core::json_text(host);
    event.fields["port"] = port;
    deps_.events.emit(std::move(event));
}

void Secrets::echoed(const std::string& sandbox, const std::string& secret, const std::string& host,
                     std::uint16_t port) {
    const auto found = holdings_.find(sandbox);
    if (found == holdings_.end()) return;
    core::Event event{.type = "secret.echoed",
                      .sandbox = sandbox,
                      .tenant = found->second->tenant(),
                      .by = core::Witness::proxy};
    event.fields["secret"] = core::json_text(secret);
    event.fields["host"] = core::json_text(host);
    event.fields["port"] = port;
    deps_.events.emit(std::move(event));
}

}  // namespace oyat::secrets
