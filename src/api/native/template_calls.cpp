#include <fcntl.h>
#include <unistd.h>

#include <boost/json/array.hpp>
#include <vector>

#include "api/native/call.hpp"
#include "api/native/sandbox_json.hpp"
#include "base/throwing.hpp"
#include "io/async_fd.hpp"
#include "io/gate.hpp"
#include "io/race.hpp"

// Templates: read-only roots by content digest.
namespace oyat::native {
namespace {

using core::Scope;

constexpr std::size_t kPiece = 256 * 1024;

// Templates are all tenants': who could replace "base" would decide what runs in everybody's sandboxes.
void require_operator(const Call& call) {
    if (call.of_operator()) return;
    throw Error{Errc::denied, "templates belong to who runs the server, and this key to another tenant"};
}

void emit(Call& call, std::string type, const core::TemplateFacts& facts) {
    core::Event event;
    event.type = std::move(type);
    event.tenant = call.who.tenant;
    event.by = core::Witness::host;
    event.fields = {{"template", facts.name}, {"template_digest", facts.digest}};
    call.sign(event.fields);
    call.services.events.emit(std::move(event));
}

Task<> list(Call& call) {
    co_await call.services.templates.refresh();
    boost::json::array all;
    for (const core::TemplateFacts& facts : call.services.templates.known())
        all.push_back(template_json(facts));
    co_await call.answer(200, boost::json::object{{"templates", std::move(all)}});
}

void write_whole(int file, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t n = ::write(file, bytes.data(), bytes.size());
        if (n < 0 && errno == EINTR) continue;
        bytes.remove_prefix(static_cast<std::size_t>(sys(n, "store the upload")));
    }
}

// A nameless file: whatever happens to this process, nothing of it stays.
Task<Fd> spool_body(Call& call) {
    Fd file{sys(::open(call.services.settings.spool.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600),
                "open a file for the upload")};
    std::vector<char> piece(kPiece);
    while (const std::size_t n = co_await call.exchange.read_body(piece))
        write_whole(file.get(), {piece.data(), n});
    sys(::lseek(file.get(), 0, SEEK_SET), "rewind the upload");
    co_return file;
}

// ?name=NAME and, to be sure of the contents, ?digest=sha256:... The body is a tar, optionally zstd.
Task<> import(Call& call) {
    require_operator(call);
    const std::string name = call.text("name");
    const std::string digest = call.text("digest");
    if (name.empty()) throw Error{Errc::invalid_argument, "name is missing"};
    Fd upload = co_await spool_body(call);
    const core::TemplateFacts made =
        co_await call.services.keeper.import_template(name, digest, std::move(upload));
    co_await call.services.templates.refresh();
    emit(call, "template.imported", made);
    co_await call.answer(201, template_json(made));
}

// The archive runs through a pipe: no copy of it lies anywhere. An end of the pipe says nothing about how the
// export ended, so both are waited for.
struct Export {
    AsyncFd archive;
    Gate succeeded;
};

Task<> write_archive(core::Keeper& keeper, std::string digest, Fd into, Export& state) {
    co_await keeper.export_template(std::move(digest), std::move(into));
    state.succeeded.open();
    Condition never;  // the race ends with the last byte sent
    co_await never.wait();
}

Task<> send_archive(http::Exchange& exchange, std::string digest, Export& state) {
    std::vector<char> piece(kPiece);
    for (;;) {
        const ssize_t n = ::read(state.archive.get(), piece.data(), piece.size());
        if (n < 0 && errno == EAGAIN) {
            co_await state.archive.readable();
            continue;
        }
        if (sys(n, "read the archive") == 0) break;
        if (!exchange.started()) {
            co_await exchange.start(
                200, {{"Content-Type", "application/zstd"}, {"Oyat-Template-Digest", digest}}, std::nullopt);
        }
        co_await exchange.write({piece.data(), static_cast<std::size_t>(n)});
    }
    co_await state.succeeded.pass();
    co_await exchange.finish();
}

Task<> archive(Call& call) {
    require_operator(call);
    const core::TemplateFacts facts = co_await call.services.templates.resolve(call.values.at("ref"));
    int ends[2];
    sys(::pipe2(ends, O_CLOEXEC), "make a pipe for the archive");
    Fd into{ends[1]};
    Export state{.archive = AsyncFd{call.exchange.executor(), Fd{ends[0]}}, .succeeded = {}};
    co_await race(send_archive(call.exchange, facts.digest, state),
                  write_archive(call.services.keeper, facts.digest, std::move(into), state));
}

Task<> remove(Call& call) {
    require_operator(call);
    const core::TemplateFacts facts = co_await call.services.templates.resolve(call.values.at("ref"));
    co_await call.services.keeper.remove_template(facts.digest);
    co_await call.services.templates.refresh();
    emit(call, "template.removed", facts);
    co_await call.answer_empty();
}

constexpr Route kRoutes[] = {
    {"GET", "/v1/templates", Scope::read, list},
    {"POST", "/v1/templates", Scope::admin, import},
    {"GET", "/v1/templates/{ref}/archive", Scope::admin, archive},
    {"DELETE", "/v1/templates/{ref}", Scope::admin, remove},
};

}  // namespace

std::span<const Route> template_routes() {
    return kRoutes;
}

}  // namespace oyat::native
