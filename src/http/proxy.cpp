#include "http/proxy.hpp"

#include <utility>

#include "http/proxy_fields.hpp"
#include "http/upstream_exchange.hpp"

namespace oyat::http {

Task<> proxy_exchange(Exchange& exchange, std::unique_ptr<Stream> stream, ProxyOptions options) {
    UpstreamConnection upstream{.stream = std::move(stream)};
    Passing passing;
    passing.head = upstream_request_head(exchange.request(), options);
    passing.answer_fields = [&](const ResponseHead& answer) {
        return client_response_fields(exchange.request(), answer, options);
    };
    passing.on_head = options.on_head;
    co_await pass_exchange(exchange, upstream, std::move(passing));
}

}  // namespace oyat::http
