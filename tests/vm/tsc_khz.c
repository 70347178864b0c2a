// Prints the frequency of this machine's time stamp counter. An emulated machine sees the same counter, but cannot
// measure it reliably while it starts on a busy host, so it is told.
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

static uint64_t nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

int main(void) {
    const uint64_t began = nanoseconds();
    const uint64_t first = __rdtsc();
    while (nanoseconds() - began < 100000000U) {
    }
    const uint64_t ticks = __rdtsc() - first;
    printf("%llu\n", (unsigned long long)(ticks * 1000000U / (nanoseconds() - began)));
    return 0;
}
