// Which runs of a batch go to a range of the output.
#pragma once

#include <cstdint>

#include "scatterx/cpu.h"

#if SCATTERX_X86
#include <immintrin.h>
#endif

namespace scatterx {

// Elements beyond `count` that Keep() may write.
inline constexpr std::int64_t kKeepSlack = 4;

namespace internal {

// From run `i` on. Without a branch, because the processor cannot predict whether a run is kept.
inline std::int64_t KeepFrom(std::int64_t i, std::int64_t keep, const std::int64_t* targets,
                             std::int64_t count, std::int64_t begin, std::int64_t end,
                             std::int64_t* kept, std::int64_t* sources) {
  for (; i < count; ++i) {
    kept[keep] = targets[i];
    sources[keep] = i;
    keep += (targets[i] >= begin) & (targets[i] < end);
  }
  return keep;
}

#if SCATTERX_X86
// For each set of four lanes, the halves that bring those lanes to the front.
struct Fronts {
  alignas(32) std::int32_t halves[16][8] = {};
};

constexpr Fronts MakeFronts() {
  Fronts fronts;
  for (int set = 0; set < 16; ++set) {
    int to = 0;
    for (int lane = 0; lane < 4; ++lane) {
      if ((set >> lane & 1) == 0) continue;
      fronts.halves[set][to++] = 2 * lane;
      fronts.halves[set][to++] = 2 * lane + 1;
    }
  }
  return fronts;
}

inline constexpr Fronts kFronts = MakeFronts();

// Four runs at a time.
__attribute__((target("avx2,popcnt"))) inline std::int64_t KeepAvx2(
    const std::int64_t* targets, std::int64_t count, std::int64_t begin, std::int64_t end,
    std::int64_t* kept, std::int64_t* sources) {
  const __m256i below = _mm256_set1_epi64x(begin - 1), beyond = _mm256_set1_epi64x(end);
  const __m256i four = _mm256_set1_epi64x(4);
  __m256i source = _mm256_setr_epi64x(0, 1, 2, 3);
  std::int64_t i = 0, keep = 0;
  for (; i + 4 <= count; i += 4) {
    const __m256i target = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(targets + i));
    const __m256i fits =
        _mm256_and_si256(_mm256_cmpgt_epi64(target, below), _mm256_cmpgt_epi64(beyond, target));
    const int set = _mm256_movemask_pd(_mm256_castsi256_pd(fits));
    const __m256i front = _mm256_load_si256(reinterpret_cast<const __m256i*>(kFronts.halves[set]));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(kept + keep),
                        _mm256_permutevar8x32_epi32(target, front));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(sources + keep),
                        _mm256_permutevar8x32_epi32(source, front));
    source = _mm256_add_epi64(source, four);
    keep += __builtin_popcount(static_cast<unsigned>(set));
  }
  return KeepFrom(i, keep, targets, count, begin, end, kept, sources);
}
#endif

}  // namespace internal

// Puts the targets in [begin, end) into `kept` and their numbers into `sources`, in order, and
// gives how many there are. Both have room for `count` and kKeepSlack more.
inline std::int64_t Keep(const std::int64_t* targets, std::int64_t count, std::int64_t begin,
                         std::int64_t end, std::int64_t* kept, std::int64_t* sources) {
#if SCATTERX_X86
  if (HasAvx2() || kAlwaysAvx2)
    return internal::KeepAvx2(targets, count, begin, end, kept, sources);
#endif
  return internal::KeepFrom(0, 0, targets, count, begin, end, kept, sources);
}

}  // namespace scatterx
