#include "core/trusted_authority.hpp"

#include <array>

namespace oyat::core {
namespace {

constexpr const char* kDirectory = "/run/oyat";
constexpr const char* kAuthority = "/run/oyat/authority.pem";  // for programs that add it to their own list
constexpr std::uint32_t kReadable = 0755;
constexpr std::size_t kMaxStore = 4 << 20;

// Where images keep what they trust, and the source of which their own tools make that file again.
struct Store {
    const char* bundle;
    const char* source;
};
constexpr std::array kStores{
    Store{.bundle = "/etc/ssl/certs/ca-certificates.crt",  // Debian, Alpine
          .source = "/usr/local/share/ca-certificates/oyat-authority.crt"},
    Store{.bundle = "/etc/pki/tls/certs/ca-bundle.crt",  // Fedora
          .source = "/etc/pki/ca-trust/source/anchors/oyat-authority.pem"},
};

// "" when there is none.
Task<std::string> read_store(AgentChannel& agent, std::string path) {
    try {
        const std::unique_ptr<FileSource> source =
            co_await agent.read(std::move(path), "root", 0, kMaxStore + 1);
        std::string text;
        for (;;) {
            const std::string piece = co_await source->next();
            if (piece.empty()) co_return text;
            text += piece;
            if (text.size() > kMaxStore)
                throw Error{Errc::exhausted, "the image's list of authorities is too long"};
        }
    } catch (const Error& error) {
        if (error.code() != Errc::not_found) throw;
    }
    co_return std::string{};
}

Task<> write_file(AgentChannel& agent, std::string path, std::string text) {
    const std::unique_ptr<FileSink> sink = co_await agent.write(std::move(path), "root", {});
    co_await sink->write(text);
    co_await sink->finish();
}

std::string with(std::string store, const std::string& authority) {
    if (store.contains(authority)) return store;
    if (!store.empty() && !store.ends_with('\n')) store += '\n';
    return store + authority;
}

Task<> make_directory(AgentChannel& agent) {
    try {
        co_await agent.make_dir(kDirectory, "root", kReadable);
    } catch (const Error& error) {
        if (error.code() != Errc::already_exists) throw;
    }
}

}  // namespace

Task<std::string> install_authority(AgentChannel& agent, std::string authority_pem) {
    std::string list;
    for (const Store& place : kStores) {
        std::string store = co_await read_store(agent, place.bundle);
        if (store.empty()) continue;
        std::string joined = with(store, authority_pem);
        if (joined != store) {
            co_await write_file(agent, place.bundle, std::move(joined));
            co_await write_file(agent, place.source, authority_pem);
        }
        if (list.empty()) list = place.bundle;
    }
    co_await make_directory(agent);
    co_await write_file(agent, kAuthority, authority_pem);
    co_return list.empty() ? kAuthority : list;
}

std::map<std::string, std::string> authority_environment(const std::string& list) {
    std::map<std::string, std::string> all;
    for (const char* name : {"SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO",
                             "PIP_CERT", "AWS_CA_BUNDLE", "CARGO_HTTP_CAINFO", "DENO_CERT"}) {
        all[name] = list;
    }
    all["NODE_EXTRA_CA_CERTS"] = kAuthority;  // Node adds to its own list
    return all;
}

}  // namespace oyat::core
