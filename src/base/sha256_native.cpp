#include "base/sha256_blocks.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

namespace oyat::detail {

bool has_native_sha256() noexcept {
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (b & bit_SHA) == 0) return false;
    return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_SSE4_1) != 0;
}

// The instructions keep the state as (A B E F) and (C D G H) and do two rounds at a time.
__attribute__((target("sha,sse4.1"))) void sha256_blocks_native(Sha256State& state, const std::uint8_t* data,
                                                                std::size_t count) {
    const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    auto* const words = reinterpret_cast<__m128i*>(state.data());
    const __m128i cdab = _mm_shuffle_epi32(_mm_loadu_si128(words), 0xB1);
    const __m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128(words + 1), 0x1B);
    __m128i abef = _mm_alignr_epi8(cdab, efgh, 8);
    __m128i cdgh = _mm_blend_epi16(efgh, cdab, 0xF0);

    for (; count > 0; --count, data += 64) {
        const __m128i abef_before = abef;
        const __m128i cdgh_before = cdgh;
        __m128i w[4];
#pragma unroll
        for (std::size_t i = 0; i < 16; ++i) {
            __m128i& now = w[i % 4];
            if (i < 4) {
                now =
                    _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(data) + i), big_endian);
            } else {
                const __m128i middle = _mm_alignr_epi8(w[(i + 3) % 4], w[(i + 2) % 4], 4);
                const __m128i partly = _mm_add_epi32(_mm_sha256msg1_epu32(now, w[(i + 1) % 4]), middle);
                now = _mm_sha256msg2_epu32(partly, w[(i + 3) % 4]);
            }
            const __m128i round = _mm_add_epi32(
                now, _mm_loadu_si128(reinterpret_cast<const __m128i*>(kSha256Round.data()) + i));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, round);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(round, 0x0E));
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }

    const __m128i feba = _mm_shuffle_epi32(abef, 0x1B);
    const __m128i dchg = _mm_shuffle_epi32(cdgh, 0xB1);
    _mm_storeu_si128(words, _mm_blend_epi16(feba, dchg, 0xF0));
    _mm_storeu_si128(words + 1, _mm_alignr_epi8(dchg, feba, 8));
}

}  // namespace oyat::detail

#else

namespace oyat::detail {

bool has_native_sha256() noexcept {
    return false;
}

void sha256_blocks_native(Sha256State& state, const std::uint8_t* data, std::size_t count) {
    sha256_blocks_portable(state, data, count);
}

}  // namespace oyat::detail

#endif
