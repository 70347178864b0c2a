#include "secrets/secret.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value_to.hpp>

#include "core/json_text.hpp"

namespace oyat::secrets {
namespace {

namespace json = boost::json;

json::value time_json(const std::optional<WallTime>& time) {
    if (!time) return nullptr;
    return unix_millis(*time);
}

std::optional<WallTime> time_of(const json::value& value) {
    if (value.is_null()) return std::nullopt;
    return from_unix_millis(value.to_number<std::int64_t>());
}

Secret read(const json::object& from) {
    Secret secret;
    secret.id = json::value_to<std::string>(from.at("id"));
    secret.name = json::value_to<std::string>(from.at("name"));
    secret.tenant = json::value_to<std::string>(from.at("tenant"));
    secret.metadata = json::value_to<std::map<std::string, std::string>>(from.at("metadata"));
    secret.description = json::value_to<std::string>(from.at("description"));
    secret.hosts = json::value_to<std::vector<std::string>>(from.at("hosts"));
    for (const json::value& each : from.at("versions").as_array()) {
        const json::object& version = each.as_object();
        secret.versions.push_back({.number = version.at("number").to_number<std::uint32_t>(),
                                   .sealed = json::value_to<std::string>(version.at("sealed")),
                                   .created = *time_of(version.at("created")),
                                   .retires = time_of(version.at("retires"))});
    }
    secret.created = *time_of(from.at("created"));
    secret.updated = *time_of(from.at("updated"));
    secret.expires = time_of(from.at("expires"));
    secret.revoked = from.at("revoked").as_bool();
    return secret;
}

}  // namespace

Result<std::string> secret_name(std::string_view given) {
    std::string name{given};
    for (char& c : name) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    const auto fits = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    };
    if (name.empty() || name.size() > kMaxName || !std::ranges::all_of(name, fits)) {
        return refuse(Errc::invalid_argument, "the name of a secret is 1 to 128 of a-z, 0-9, '_' and '-'");
    }
    if (name.starts_with("sec_")) {
        return refuse(Errc::invalid_argument, "names that begin with 'sec_' are reserved for ids");
    }
    return name;
}

std::string seal_label(const Secret& secret, std::uint32_t version) {
    return "oyat secret " + secret.tenant + "/" + secret.id + "/" + std::to_string(version);
}

json::object to_json(const Secret& secret) {
    json::array versions;
    for (const SecretVersion& each : secret.versions) {
        versions.push_back({{"number", each.number},
                            {"sealed", each.sealed},
                            {"created", unix_millis(each.created)},
                            {"retires", time_json(each.retires)}});
    }
    return {{"id", secret.id},
            {"name", secret.name},
            {"tenant", secret.tenant},
            {"metadata", core::json_texts(secret.metadata)},
            {"description", core::json_text(secret.description)},
            {"hosts", core::json_texts(secret.hosts)},
            {"versions", std::move(versions)},
            {"created", unix_millis(secret.created)},
            {"updated", unix_millis(secret.updated)},
            {"expires", time_json(secret.expires)},
            {"revoked", secret.revoked}};
}

Result<Secret> secret_from_json(std::string_view text) {
    try {
        Secret secret = read(json::parse(text).as_object());
        if (secret.versions.empty()) return refuse(Errc::internal, "a secret without a value");
        return secret;
    } catch (const std::exception&) {  // what the library says of it could quote it
        return refuse(Errc::internal, "the stored form of a secret cannot be read");
    }
}

}  // namespace oyat::secrets
