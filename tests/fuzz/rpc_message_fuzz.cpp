// Messages in proto3's JSON mapping: every way to read a field, on whatever was sent.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.hpp"
#include "rpc/message.hpp"

namespace {

void read_everything(const oyat::rpc::Message& message) {
    using oyat::rpc::Message;
    const auto attempt = [](auto read) {
        try {
            (void)read();
        } catch (const oyat::Error&) {
            // A field of another type: an ordinary answer.
        }
    };
    for (const char* name : {"a", "process", "watcherId", "pid", "envs"}) {
        attempt([&] { return message.string(name); });
        attempt([&] { return message.boolean(name); });
        attempt([&] { return message.uint32(name); });
        attempt([&] { return message.bytes(name); });
        attempt([&] { return message.strings(name); });
        attempt([&] { return message.uint32s(name); });
        attempt([&] { return message.string_map(name); });
        attempt([&] { return message.enumeration(name, {{"SIGNAL_SIGKILL", 9}}); });
        attempt([&] {
            if (const auto inner = message.message(name)) read_everything(*inner);
            return 0;
        });
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto object = oyat::rpc::parse_object({reinterpret_cast<const char*>(data), size});
    if (object) read_everything(oyat::rpc::Message{*object});
    return 0;
}
