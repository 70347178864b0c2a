#include "secrets/outgoing.hpp"

#include <set>
#include <utility>

#include "masking/same_length_masker.hpp"

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

class EchoFilter final : public http::AnswerFilter {
public:
    EchoFilter(Secrets& secrets, std::string sandbox, std::shared_ptr<const masking::Patterns> patterns,
               const http::OutgoingRequest& request)
        : secrets_{secrets},
          sandbox_{std::move(sandbox)},
          patterns_{std::move(patterns)},
          body_{patterns_},
          host_{request.host},
          port_{request.port} {}

    [[nodiscard]] std::string field(std::string_view value) override {
        masking::SameLengthMasker masker{patterns_};
        std::string masked;
        masker.feed(value, masked);
        masker.finish(masked);
        tell(masker);
        return masked;
    }
    void feed(std::string_view piece, std::string& out) override {
        body_.feed(piece, out);
        tell(body_);
    }
    void finish(std::string& out) override { body_.finish(out); }

private:
    void tell(const masking::SameLengthMasker& masker) {
        for (const std::string& name : masker.names()) {
            if (told_.insert(name).second) secrets_.echoed(sandbox_, name, host_, port_);
        }
    }

    Secrets& secrets_;
    const std::string sandbox_;
    std::shared_ptr<const masking::Patterns> patterns_;  // shared with the other answers
    masking::SameLengthMasker body_;
    const std::string host_;
    const std::uint16_t port_;
    std::set<std::string> told_;
};

// A signature may cover the field, and its key is not sent.
bool is_signed(const http::Fields& fields) {
    return fields.get("Authorization").starts_with("AWS4-");
}

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
    for (Note& note : prepared.notes) request.carries.push_back(std::move(note.secret));
    // What comes back compressed could not be searched.
    if (!request.carries.empty() && request.fields.has("Accept-Encoding") && !is_signed(request.fields)) {
        request.fields.set("Accept-Encoding", "identity");
    }
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

std::unique_ptr<http::AnswerFilter> Outgoing::filter(const http::OutgoingRequest& request) {
    if (const std::uint64_t now = secrets_.generation(); now != generation_) {
        patterns_ = masking::Patterns::of(secrets_.values_of(sandbox_));
        generation_ = now;
    }
    if (!patterns_) return nullptr;
    return std::make_unique<EchoFilter>(secrets_, sandbox_, patterns_, request);
}

}  // namespace oyat::secrets
