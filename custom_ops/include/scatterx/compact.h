// Which runs of a batch go to a range of the output.
#pragma once

#include <cstdint>

#include "scatterx/cpu.h"

#if SCATTERX_X86
#include <immintrin.h>
#endif

namespace scatterx {

// Elements beyond `count` that CompactInRange() may write.
inline constexpr std::int64_t kKeepSlack = 4;

namespace internal {

// From run `i` on. Without a branch, because the processor cannot predict whether a run is kept.
template <class Target>
std::int64_t KeepFrom(std::int64_t i, std::int64_t keep, const Target* targets, std::int64_t count,
                      std::int64_t begin, std::int64_t end, Target* kept, std::uint32_t* sources) {
  for (; i < count; ++i) {
    const std::int64_t target = targets[i];
    kept[keep] = targets[i];
    sources[keep] = static_cast<std::uint32_t>(i);
    keep += (target >= begin) & (target < end);
  }
  return keep;
}

#if SCATTERX_X86
// For each set of four lanes, the bytes that bring those lanes to the front.
struct CompactLut {
  alignas(16) std::int8_t bytes[16][16] = {};
};

constexpr CompactLut MakeCompactLut() {
  CompactLut lut;
  for (int set = 0; set < 16; ++set) {
    int to = 0;
    for (int lane = 0; lane < 4; ++lane) {
      if ((set >> lane & 1) == 0) continue;
      for (int byte = 0; byte < 4; ++byte)
        lut.bytes[set][to++] = static_cast<std::int8_t>(4 * lane + byte);
    }
  }
  return lut;
}

inline constexpr CompactLut kCompactLut = MakeCompactLut();

// Four runs at a time. Targets less `begin` are compared with `end - begin`, without a sign.
__attribute__((target("avx2,popcnt"))) inline std::int64_t CompactInRangeAvx2(
    const std::uint32_t* targets, std::int64_t count, std::int64_t begin, std::int64_t end,
    std::uint32_t* kept, std::uint32_t* sources) {
  const __m128i first = _mm_set1_epi32(static_cast<int>(begin));
  const __m128i last = _mm_set1_epi32(static_cast<int>(end - begin - 1));
  const __m128i four = _mm_set1_epi32(4);
  __m128i source = _mm_setr_epi32(0, 1, 2, 3);
  std::int64_t i = 0, keep = 0;
  if (begin >= end) return 0;
  for (; i + 4 <= count; i += 4) {
    const __m128i target = _mm_loadu_si128(reinterpret_cast<const __m128i*>(targets + i));
    const __m128i past = _mm_sub_epi32(target, first);
    const __m128i fits = _mm_cmpeq_epi32(_mm_min_epu32(past, last), past);
    const int set = _mm_movemask_ps(_mm_castsi128_ps(fits));
    const __m128i front = _mm_load_si128(reinterpret_cast<const __m128i*>(kCompactLut.bytes[set]));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(kept + keep), _mm_shuffle_epi8(target, front));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(sources + keep), _mm_shuffle_epi8(source, front));
    source = _mm_add_epi32(source, four);
    keep += __builtin_popcount(static_cast<unsigned>(set));
  }
  return KeepFrom(i, keep, targets, count, begin, end, kept, sources);
}
#endif

}  // namespace internal

// Puts the targets in [begin, end), which lies below 2^32, into `kept` and their numbers into
// `sources`, in order, and gives how many there are. Both have room for `count` and kKeepSlack
// more.
inline std::int64_t CompactInRange(const std::uint32_t* targets, std::int64_t count,
                                   std::int64_t begin, std::int64_t end, std::uint32_t* kept,
                                   std::uint32_t* sources) {
#if SCATTERX_X86
  if (HasAvx2() || kAlwaysAvx2)
    return internal::CompactInRangeAvx2(targets, count, begin, end, kept, sources);
#endif
  return internal::KeepFrom(0, 0, targets, count, begin, end, kept, sources);
}

}  // namespace scatterx
