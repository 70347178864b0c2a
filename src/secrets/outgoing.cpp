#include "secrets/outgoing.hpp"

#include <utility>

namespace oyat::secrets {
namespace {

RequestView view_of(const http::OutgoingRequest& request) {
    RequestView view{.tls = request.tls,
                     .host = request.host,
                     .port = request.port,
                     .method = request.method,
                     .target = request.target,
                     .fields = request.fields,
                     .body = {}};
    if (request.body) view.body = *request.body;
    return view;
}

constexpr std::uint16_t kNamePort = 53;

class Watch final : public http::BodyWatch {
public:
    Watch(Secrets& secrets, std::string sandbox, Broker::Scanner scanner,
          const http::OutgoingRequest& request)
        : secrets_{secrets},
          sandbox_{std::move(sandbox)},
          scanner_{std::move(scanner)},
          host_{request.host},
          port_{request.port} {}

    [[nodiscard]] Result<void> pass(std::string_view piece) override {
        if (!scanner_.feed(piece)) return {};
        secrets_.leaked(sandbox_, host_, port_, "body");
        return refuse(Errc::denied,
                      "the placeholder of a secret has no business in the body of this request");
    }

private:
    Secrets& secrets_;
    const std::string sandbox_;
    Broker::Scanner scanner_;
    const std::string host_;
    const std::uint16_t port_;
};

}  // namespace

std::size_t Outgoing::wants_body(const http::OutgoingRequest& request) const {
    const Broker* const broker = secrets_.broker(sandbox_);
    return broker != nullptr && broker->body_need(view_of(request)) == BodyNeed::whole ? kMaxBody : 0;
}

Task<Result<void>> Outgoing::apply(http::OutgoingRequest& request) {
    Prepared prepared = secrets_.prepare(sandbox_, view_of(request));
    if (!prepared.forward) co_return refuse(Errc::denied, std::move(prepared.refusal));
    request.target = std::move(prepared.target);
    request.fields = std::move(prepared.fields);
    if (prepared.body) request.body = std::move(prepared.body);
    co_return Result<void>{};
}

std::unique_ptr<http::BodyWatch> Outgoing::watch(const http::OutgoingRequest& request) {
    const Broker* const broker = secrets_.broker(sandbox_);
    if (broker == nullptr) return nullptr;
    return std::make_unique<Watch>(secrets_, sandbox_, broker->scanner(), request);
}

bool Outgoing::may_record(std::string_view text) const {
    const Broker* const broker = secrets_.broker(sandbox_);
    return broker == nullptr || !broker->could_be_placeholder(text);
}

bool Outgoing::may_look_up(const std::string& name) {
    if (may_record(name)) return true;
    secrets_.leaked(sandbox_, name, kNamePort, "name");
    return false;
}

}  // namespace oyat::secrets
