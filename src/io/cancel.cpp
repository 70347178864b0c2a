#include "io/cancel.hpp"

#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>

namespace oyat {

bool is_canceled(const std::exception_ptr& error) noexcept {
    if (!error) return false;
    try {
        std::rethrow_exception(error);
    } catch (const Error& e) {
        return e.code() == Errc::canceled;
    } catch (const boost::system::system_error& e) {
        return e.code() == boost::asio::error::operation_aborted;
    } catch (...) {
        return false;
    }
}

}  // namespace oyat
