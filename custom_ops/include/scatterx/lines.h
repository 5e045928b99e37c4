// Copying cache lines by vectors, in the same way on every processor that has the instructions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "scatterx/cpu.h"

#if SCATTERX_X86
#include <immintrin.h>
#endif

namespace scatterx {

// A run of a few lines is copied without a call, a vector at a time. If the last vector is not
// full, it overlaps the one before.
inline constexpr std::int64_t kVector = 32, kFewLines = 256;

namespace internal {

inline constexpr std::int64_t kLineBytes = 64;

#if SCATTERX_X86

__attribute__((target("avx2"))) inline void CopyFewLines(char* to, const char* from,
                                                         std::int64_t bytes) {
  const auto copy = [&](std::int64_t i) __attribute__((target("avx2"), always_inline)) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i),
                        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i)));
  };
  for (std::int64_t i = 0; i + kVector <= bytes; i += kVector) copy(i);
  copy(bytes - kVector);
}

// `count` lines, `to` on a border of lines; past the caches if `kPast`.
template <bool kPast>
__attribute__((target("avx2"))) inline void LinesAvx2(char* to, const char* from,
                                                      std::int64_t count) {
  for (; count > 0; --count, to += kLineBytes, from += kLineBytes) {
    const auto* source = reinterpret_cast<const __m256i*>(from);
    auto* target = reinterpret_cast<__m256i*>(to);
    const __m256i a = _mm256_loadu_si256(source), b = _mm256_loadu_si256(source + 1);
    if constexpr (kPast) {
      _mm256_stream_si256(target, a);
      _mm256_stream_si256(target + 1, b);
    } else {
      _mm256_store_si256(target, a);
      _mm256_store_si256(target + 1, b);
    }
  }
}

template <bool kPast>
inline void LinesSse2(char* to, const char* from, std::int64_t count) {
  for (; count > 0; --count, to += kLineBytes, from += kLineBytes) {
    const auto* source = reinterpret_cast<const __m128i*>(from);
    auto* target = reinterpret_cast<__m128i*>(to);
    const __m128i a = _mm_loadu_si128(source), b = _mm_loadu_si128(source + 1);
    const __m128i c = _mm_loadu_si128(source + 2), d = _mm_loadu_si128(source + 3);
    if constexpr (kPast) {
      _mm_stream_si128(target, a);
      _mm_stream_si128(target + 1, b);
      _mm_stream_si128(target + 2, c);
      _mm_stream_si128(target + 3, d);
    } else {
      _mm_store_si128(target, a);
      _mm_store_si128(target + 1, b);
      _mm_store_si128(target + 2, c);
      _mm_store_si128(target + 3, d);
    }
  }
}

template <bool kPast>
inline void Lines(char* to, const char* from, std::int64_t count) {
  HasAvx2() || kAlwaysAvx2 ? LinesAvx2<kPast>(to, from, count) : LinesSse2<kPast>(to, from, count);
}

inline std::int64_t BytesToLine(const char* place) {
  return (kLineBytes -
          static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(place) % kLineBytes)) %
         kLineBytes;
}

// Lines in order; the incomplete lines at either end separately.
template <bool kPast>
inline void CopyLines(char* to, const char* from, std::int64_t bytes) {
  const std::int64_t head = std::min(bytes, BytesToLine(to));
  const std::int64_t lines = (bytes - head) / kLineBytes, done = head + lines * kLineBytes;
  std::memcpy(to, from, static_cast<std::size_t>(head));
  Lines<kPast>(to + head, from + head, lines);
  std::memcpy(to + done, from + done, static_cast<std::size_t>(bytes - done));
}

#else

template <bool kPast>
inline void CopyLines(char* to, const char* from, std::int64_t bytes) {
  std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

#endif

}  // namespace internal

}  // namespace scatterx
