#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "cli/context.hpp"
#include "io/task.hpp"

// One function a command; each returns the program's exit code. What the command line says is already
// checked.
namespace oyat::cli {

struct NewSandbox {
    std::string base = "base";
    std::string isolation;
    std::string minimum_boundary;
    std::optional<std::uint64_t> memory, disk, cpu_millis;
    std::optional<Millis> timeout;
    std::vector<std::pair<std::string, std::string>> env, metadata;
    bool no_internet = false;
    std::string policy_file, preset;  // its own document, at most one of them
};
Task<int> create(Context& context, NewSandbox options);

struct Command {
    std::vector<std::string> argv;
    std::vector<std::pair<std::string, std::string>> env;
    std::string cwd, user;
    std::optional<Millis> timeout;
    bool terminal = false;
    bool interactive = false;  // standard input goes in
    bool detached = false;     // only start it
};
Task<int> run(Context& context, NewSandbox sandbox, Command command, bool keep);
Task<int> exec(Context& context, std::string id, Command command);
// Without an id: in a sandbox of its own.
Task<int> shell(Context& context, std::optional<std::string> id, NewSandbox sandbox, Command command);

struct Listing {
    std::vector<std::string> states;
    bool quiet = false;  // ids only
};
Task<int> ls(Context& context, Listing options);
Task<int> kill(Context& context, std::vector<std::string> ids, bool all);
// `keep` and `from`: "memory" or "disk".
Task<int> pause(Context& context, std::string id, std::string keep);
Task<int> resume(Context& context, std::string id, std::string from);
Task<int> timeout(Context& context, std::string id, Millis timeout);
Task<int> top(Context& context, bool once);
Task<int> info(Context& context, std::optional<std::string> id);

Task<int> snapshot_create(Context& context, std::string id, std::string name);
struct SnapshotListing {
    std::string sandbox, name;
    bool quiet = false;  // ids only
};
Task<int> snapshot_ls(Context& context, SnapshotListing options);
Task<int> snapshot_rm(Context& context, std::vector<std::string> snapshots);
Task<int> snapshot_retain(Context& context, std::string snapshot, Millis kept);  // 0: for ever
Task<int> fork(Context& context, std::string id, std::uint32_t count, std::optional<Millis> life);
// Without a snapshot: to its template.
Task<int> reset(Context& context, std::string id, std::string snapshot);

Task<int> cp(Context& context, std::string from, std::string to, std::string user);
struct Port {
    std::uint16_t inside = 0;
    std::uint16_t local = 0;  // 0 = a free one
    std::string who;          // closed, token, link or public
    std::optional<Millis> link_life;
};
// Leads a port of this machine to the one inside; or says who may come to it from outside, or makes a link.
Task<int> port(Context& context, std::string id, Port options);

Task<int> packages(Context& context, std::string id);
Task<int> logs(Context& context, std::string id, bool follow, std::uint64_t limit);
struct Watch {
    std::string sandbox, type;
    bool old = false;  // what has happened so far, too
};
Task<int> watch(Context& context, Watch options);

struct PolicyQuestion {
    std::string id, host;
    std::uint16_t port = 443;
    std::string method, path, ref;
};
// Without an id: the operator's document and the tenant's.
Task<int> policy_show(Context& context, std::optional<std::string> id);
Task<int> policy_test(Context& context, std::string file);
// `target`: a sandbox, or "tenant".
Task<int> policy_set(Context& context, std::string target, std::string file, std::string preset);
Task<int> policy_explain(Context& context, PolicyQuestion question);
// An allow list of what a sandbox has asked for, as TOML.
Task<int> policy_suggest(Context& context, std::string id);
int policy_ready(Context& context, std::string name);
Task<int> denied(Context& context, std::string id);

// Which sandboxes a brake is for.
struct Aim {
    std::vector<std::string> ids;
    bool all = false;
    std::string key, label;
    std::string state;  // of the keeper that is asked instead of a server; "" = the server
};
Task<int> freeze(Context& context, Aim aim);
Task<int> thaw(Context& context, Aim aim);
Task<int> stop(Context& context, Aim aim);
Task<int> egress_off(Context& context, Aim aim);  // without ids: of all
Task<int> egress_on(Context& context, Aim aim);
Task<int> egress_show(Context& context);
Task<int> put_down(Context& context, Aim aim);  // past agents, clients and holds

Task<int> template_ls(Context& context);
Task<int> template_import(Context& context, std::string file, std::string name, std::string digest);
Task<int> template_export(Context& context, std::string reference, std::string file);
Task<int> template_rm(Context& context, std::string reference);

Task<int> key_create(Context& context, std::string name, std::string tenant, std::vector<std::string> scopes);
Task<int> key_ls(Context& context, std::string tenant);
Task<int> key_revoke(Context& context, std::string id, std::string tenant);

struct NewSecret {
    std::string file;  // with the value; "" or "-": standard input
    std::vector<std::string> hosts;
    std::string description;
    std::optional<Millis> life;
};
Task<int> secret_create(Context& context, std::string name, NewSecret secret);
Task<int> secret_rotate(Context& context, std::string name, std::string file, Millis grace);
Task<int> secret_revoke(Context& context, std::string name);
Task<int> secret_ls(Context& context);
Task<int> secret_show(Context& context, std::string name);
Task<int> secret_rm(Context& context, std::string name);

// The record is read from the files, without any server.
struct AuditQuery {
    std::string state = "/var/lib/oyat";
    std::string chain;  // a sandbox id or "server"; "" = all
    std::string type, fault, text;
};
int audit_show(Context& context, AuditQuery query);
int audit_commands(Context& context, AuditQuery query);
int audit_verify(Context& context, std::string path);

struct TlsInit {
    std::string domain = "oyat.localhost:8443";  // with its port unless that is 443
    std::string state = "/var/lib/oyat";
};
// A private authority and a wildcard certificate, made here without any server.
int tls_init(Context& context, TlsInit options);

struct Server {
    std::string state = "/var/lib/oyat";
    std::optional<std::string> listen;
    bool without_template = false;
};
Task<int> up(Context& context, Server options);
Task<int> down(Context& context, Server options);
Task<int> status(Context& context);
// Asks the server to do each thing once, and says what does not work.
Task<int> doctor(Context& context);

}  // namespace oyat::cli
