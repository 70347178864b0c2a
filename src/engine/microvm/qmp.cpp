#include "engine/microvm/qmp.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cstring>
#include <utility>

#include "base/throwing.hpp"
#include "engine/microvm/unix_socket.hpp"

namespace oyat::microvm {
namespace {

constexpr std::size_t kMostOfALine = 256 * 1024;
constexpr std::size_t kMostEvents = 256;
constexpr std::size_t kMostOfAComplaint = 200;

[[noreturn]] void refuse_answer(const char* why) {
    throw Error{Errc::unavailable, Fault::engine, std::string{"QEMU's answer "} + why};
}

std::string text_of(const boost::json::object& object, std::string_view key) {
    const boost::json::value* value = object.if_contains(key);
    if (value == nullptr || !value->is_string()) return {};
    return std::string{value->get_string().subview(0, kMostOfAComplaint)};
}

boost::json::object object_of(const boost::json::object& object, std::string_view key) {
    const boost::json::value* value = object.if_contains(key);
    return value != nullptr && value->is_object() ? value->get_object() : boost::json::object{};
}

void send_with(int socket, std::string_view bytes, int fd) {
    iovec part{const_cast<char*>(bytes.data()), bytes.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> space{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (fd >= 0) {
        message.msg_control = space.data();
        message.msg_controllen = space.size();
        cmsghdr* header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
    }
    // Commands are far shorter than a socket's buffer: a part of one means that QEMU reads nothing.
    if (std::cmp_not_equal(sys(::sendmsg(socket, &message, MSG_NOSIGNAL), "speak to QEMU"), bytes.size())) {
        throw Error{Errc::unavailable, Fault::engine, "QEMU does not listen"};
    }
}

}  // namespace

Qmp::Qmp(const std::string& path, Millis patience)
    : socket_{connect_to(path)}, patience_{patience}, until_{SystemClock{}.mono() + patience} {
    if (!next_message().contains("QMP")) refuse_answer("is no greeting");
    ask("qmp_capabilities");
}

boost::json::object Qmp::ask(std::string_view command, const boost::json::object& arguments, int fd) {
    until_ = SystemClock{}.mono() + patience_;
    boost::json::object order{{"execute", command}};
    if (!arguments.empty()) order["arguments"] = arguments;
    send_with(socket_.get(), boost::json::serialize(order), fd);
    for (;;) {
        boost::json::object message = next_message();
        if (message.contains("return")) return message;
        if (message.contains("error")) {
            throw Error{
                Errc::failed_precondition, Fault::engine,
                "QEMU refuses " + std::string{command} + ": " + text_of(object_of(message, "error"), "desc")};
        }
        if (events_.size() == kMostEvents) events_.pop_front();
        events_.push_back(std::move(message));
    }
}

void Qmp::wait_for_migration() {
    until_ = SystemClock{}.mono() + patience_;
    for (;;) {
        boost::json::object event;
        if (events_.empty()) {
            event = next_message();
        } else {
            event = std::move(events_.front());
            events_.pop_front();
        }
        if (text_of(event, "event") != "MIGRATION") continue;
        const std::string status = text_of(object_of(event, "data"), "status");
        if (status == "completed") return;
        if (status == "failed" || status == "cancelled") {
            throw Error{Errc::failed_precondition, Fault::engine, "QEMU could not save or load the machine"};
        }
    }
}

boost::json::object Qmp::next_message() {
    boost::json::error_code error;
    const boost::json::parse_options strict{};  // at most 32 deep
    boost::json::value value = boost::json::parse(next_line(), error, {}, strict);
    if (error || !value.is_object()) refuse_answer("is not JSON");
    return std::move(value.get_object());
}

std::string Qmp::next_line() {
    for (;;) {
        const std::size_t end = received_.find('\n');
        if (end != std::string::npos) {
            std::string line = received_.substr(0, end);
            received_.erase(0, end + 1);
            return line;
        }
        if (received_.size() > kMostOfALine) refuse_answer("is too long");
        wait_readable();
        std::array<char, 16 * 1024> part{};
        const ssize_t got = ::recv(socket_.get(), part.data(), part.size(), MSG_DONTWAIT);
        if (got == 0) refuse_answer("does not come: it has hung up");
        if (got > 0) received_.append(part.data(), static_cast<std::size_t>(got));
    }
}

void Qmp::wait_readable() {
    const auto left = std::chrono::ceil<Millis>(until_ - SystemClock{}.mono());
    pollfd wait{socket_.get(), POLLIN, 0};
    if (left.count() <= 0 || ::poll(&wait, 1, static_cast<int>(left.count())) == 0) {
        throw Error{Errc::deadline, Fault::engine, "QEMU does not answer"};
    }
}

}  // namespace oyat::microvm
