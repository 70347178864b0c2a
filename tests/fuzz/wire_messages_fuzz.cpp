// Every message that one side decodes and the other side may have forged. The first byte chooses which. What
// could be read and is written again must be read again as the same.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/assert.hpp"
#include "wire/agent_messages.hpp"
#include "wire/frame.hpp"
#include "wire/keeper_messages.hpp"

namespace {

using namespace oyat;

template <class T>
void read_write_read(std::string_view bytes) {
    const Result<T> message = wire::decode<T>(bytes);
    if (!message) return;
    const std::string written = wire::encode(*message);
    const Result<T> again = wire::decode<T>(written);
    OYAT_ASSERT(again.has_value());
    OYAT_ASSERT(wire::encode(*again) == written);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view bytes{reinterpret_cast<const char*>(data + 1), size - 1};
    switch (data[0] % 14) {
        case 0: read_write_read<wire::Request>(bytes); break;
        case 1: read_write_read<wire::ProcessEvent>(bytes); break;
        case 2: read_write_read<wire::ProcessList>(bytes); break;
        case 3: read_write_read<wire::FileEntries>(bytes); break;
        case 4: read_write_read<wire::WatchEvents>(bytes); break;
        case 5: read_write_read<wire::Hello>(bytes); break;
        case 6: read_write_read<wire::Status>(bytes); break;
        case 7: read_write_read<wire::UserInfo>(bytes); break;
        case 8: read_write_read<wire::DiskUse>(bytes); break;
        case 9: read_write_read<wire::KeeperRequest>(bytes); break;
        case 10: read_write_read<wire::KeeperReply>(bytes); break;
        case 12: read_write_read<wire::Quiesced>(bytes); break;
        case 13: read_write_read<wire::Renewed>(bytes); break;
        case 11: static_cast<void>(wire::parse_credit(bytes)); break;
    }
    return 0;
}
