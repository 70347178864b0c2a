#include "http/served_connection.hpp"

#include <utility>

#include "http/connection.hpp"
#include "http/http2_connection.hpp"

namespace oyat::http {

std::unique_ptr<ServedConnection> make_connection(Executor executor, Accepted accepted, Service& service) {
    if (accepted.http2) {
        return std::make_unique<Http2Connection>(std::move(executor), std::move(accepted), service);
    }
    return std::make_unique<Connection>(std::move(executor), std::move(accepted), service);
}

}  // namespace oyat::http
