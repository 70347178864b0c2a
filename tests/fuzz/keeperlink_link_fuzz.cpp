// What an agent may send after its hello: any bytes, in pieces of any size. Besides not crashing, the link
// keeps its books: it is over as soon as something was wrong, and then stays over.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/assert.hpp"
#include "io/loop.hpp"
#include "keeperlink/fake_agent.hpp"
#include "keeperlink/hello_finder.hpp"
#include "keeperlink/link.hpp"

namespace {

using namespace oyat;
using namespace oyat::keeperlink;

void open_streams(Link& link) {
    (void)link.open(StreamKind::process, {.spawn = wire::Spawn{.argv = {"x"}}});
    (void)link.open(StreamKind::read_file, {.read_file = wire::ReadFile{.path = "/a"}});
    (void)link.open(StreamKind::write_file, {.write_file = wire::WriteFile{.path = "/a"}});
    (void)link.open(StreamKind::listing, {.list_dir = wire::ListDir{.path = "/"}});
    (void)link.open(StreamKind::watch, {.watch = wire::Watch{.path = "/"}});
    (void)link.open(StreamKind::call, {.stat = wire::Stat{.path = "/a"}});
}

// Before the hello: whatever is skipped, the bytes after the right one are not lost.
void find_hello(std::string_view noise) {
    constexpr std::uint64_t kNumber = 0x1122334455667788;
    std::string hello;
    wire::append_frame(hello, wire::FrameKind::hello, 0, wire::ChannelId::none,
                       wire::encode(wire::Hello{.magic = wire::kAgentMagic, .echo = kNumber}));
    HelloFinder finder{kNumber};
    const auto early = finder.feed(noise);
    if (!early || *early) return;
    const auto found = finder.feed(hello + std::string(300, 'x'));
    // The noise may have begun a HELLO of its own, as an agent behind a socket does.
    OYAT_ASSERT(!found || (*found && ((*found)->echo == kNumber || (*found)->echo == 0)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    find_hello({reinterpret_cast<const char*>(data), size});
    Loop loop;
    auto [ours, theirs] = FakeAgent::socket_pair();
    const auto link = std::make_shared<Link>(loop.executor(), std::move(ours), 7,
                                             std::make_shared<std::string>(4096, '\0'));
    std::string hello;
    wire::append_frame(hello, wire::FrameKind::hello, 0, wire::ChannelId::none,
                       wire::encode(wire::Hello{
                           .magic = wire::kAgentMagic, .version = wire::kAgentVersion, .generation = 7}));
    link->take(hello);
    OYAT_ASSERT(!link->over());
    open_streams(*link);

    std::string_view rest{reinterpret_cast<const char*>(data), size};
    bool was_over = false;
    while (!rest.empty()) {
        // The first byte of a piece says how long it is.
        const std::size_t piece =
            std::min<std::size_t>(rest.size(), 1 + static_cast<unsigned char>(rest.front()));
        link->take(rest.substr(0, piece));
        rest.remove_prefix(piece);
        OYAT_ASSERT(!was_over || link->over());
        was_over = link->over();
        OYAT_ASSERT(!was_over || link->broke_protocol());
    }
    link->lose("the input is over");
    return 0;
}
