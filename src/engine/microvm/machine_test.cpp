#include "engine/microvm/machine.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/throwing.hpp"

namespace oyat::microvm {
namespace {

Machine a_machine() {
    Machine machine{.qemu = "7.2.22",
                    .accelerator = "tcg",
                    .guest = "kernel",
                    .base = "template-disk",
                    .tsc_khz = 2'600'000};
    set_size(machine, {.memory_bytes = 512 << 20, .cpu_millis = 1500, .disk_bytes = 1 << 30});
    return machine;
}

std::string words_of(const Machine& machine, const Wiring& wiring) {
    std::string all;
    for (const std::string& word : command_line(machine, wiring)) all += word + "\n";
    return all;
}

TEST(Machine, HasTheSizeThatItsLimitsSay) {
    const Machine machine = a_machine();
    EXPECT_EQ(machine.memory_mib, 512U);
    EXPECT_EQ(machine.processors, 2U) << "a processor and a half";
    EXPECT_EQ(machine.disk_bytes, std::uint64_t{960} << 20) << "a sixteenth is the store's";
}

TEST(Machine, ComesBackFromItsManifest) {
    EXPECT_EQ(or_throw(machine_from_json(to_json(a_machine()))), a_machine());
}

TEST(Machine, RefusesManifestsThatAreNone) {
    for (const char* text : {"", "[]", "{}", "{\"format\":1}", "{\"format\":2,\"qemu\":\"x\"}"}) {
        EXPECT_FALSE(machine_from_json(text)) << text;
    }
    std::string later = to_json(a_machine());
    later.replace(later.find("\"format\":1"), 10, "\"format\":9");
    EXPECT_TRUE(machine_from_json(later).error().message().contains("format 9"));
}

TEST(Machine, GoesOnOnlyAsOneLikeItself) {
    const Machine saved = a_machine();
    EXPECT_TRUE(fits(saved, a_machine()));
    const auto refusal = [&](auto change) {
        Machine here = a_machine();
        change(here);
        const Result<void> outcome = fits(saved, here);
        return outcome ? std::string{} : outcome.error().message();
    };
    EXPECT_TRUE(refusal([](Machine& m) { m.qemu = "9.0"; }).contains("QEMU 7.2.22, here it is 9.0"));
    EXPECT_TRUE(refusal([](Machine& m) { m.accelerator = "kvm"; }).contains("accelerator tcg"));
    EXPECT_TRUE(refusal([](Machine& m) { m.guest = "other"; }).contains("kernel"));
    EXPECT_TRUE(refusal([](Machine& m) { m.base = "other"; }).contains("template"));
    EXPECT_TRUE(refusal([](Machine& m) { m.memory_mib = 256; }).contains("MiB of memory 512"));
    EXPECT_TRUE(refusal([](Machine& m) { m.processors = 1; }).contains("processors 2"));
    EXPECT_TRUE(refusal([](Machine& m) { m.disk_bytes = 1; }).contains("disk"));
    EXPECT_TRUE(refusal([](Machine& m) { m.tsc_khz = 2'610'000; }).contains("time stamp counter"));
    EXPECT_EQ(refusal([](Machine& m) { m.tsc_khz = 2'600'900; }), "") << "less than a tenth of a percent";
}

// A guest that is not told hangs on a busy host.
TEST(Machine, IsToldHowFastItsClockRuns) {
    const std::string words = words_of(a_machine(), {});
    EXPECT_TRUE(words.contains("tsc=reliable no_timer_check"));
    EXPECT_TRUE(words.contains("tsc_early_khz=2600000 lpj=10400000")) << words;
}

TEST(Machine, LeavesItsKernelsDefencesOnUnderKvm) {
    Machine machine = a_machine();
    EXPECT_TRUE(words_of(machine, {}).contains("mitigations=off nokaslr"));
    machine.accelerator = "kvm";
    EXPECT_FALSE(words_of(machine, {}).contains("mitigations"));
}

TEST(Machine, WaitsForItsMemoryWhenItGoesOn) {
    EXPECT_FALSE(words_of(a_machine(), {}).contains("-incoming"));
    const std::string words = words_of(a_machine(), {.memory = "/proc/self/fd/13"});
    EXPECT_TRUE(words.contains("share=off,mem-path=/proc/self/fd/13"));
    EXPECT_TRUE(words.contains("-incoming\ndefer"));
}

}  // namespace
}  // namespace oyat::microvm
