// Moving bytes: past the caches where they are too many to stay there, and on several threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "scatterx/cpu.h"
#include "scatterx/parallel.h"

#if SCATTERX_X86
#include <immintrin.h>
#endif

namespace scatterx {

// A run of a few lines is copied without a call: a vector at a time, and the last vector over again
// where it is not full.
inline constexpr std::int64_t kVector = 32, kFewLines = 256;

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
#endif

// Copies like memcpy, which for long stretches is not always the fastest way there is.
inline void CopyBytes(char* to, const char* from, std::int64_t bytes) {
#if SCATTERX_X86
  constexpr std::int64_t kLong = 1 << 14;
  if (bytes >= kLong && HasFastMoves()) {
    asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
    return;
  }
#endif
  if (bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

// An output of so many bytes does not stay in the caches. To write it past them saves reading it
// first.
inline constexpr std::int64_t kBytesPastCaches = 1 << 24;

#if SCATTERX_X86
namespace internal {

// One line of 64 bytes, `to` on its border.
SCATTERX_INLINE void StreamLine(char* to, const char* from) {
  const auto* source = reinterpret_cast<const __m128i*>(from);
  auto* target = reinterpret_cast<__m128i*>(to);
  const __m128i a = _mm_loadu_si128(source), b = _mm_loadu_si128(source + 1);
  const __m128i c = _mm_loadu_si128(source + 2), d = _mm_loadu_si128(source + 3);
  _mm_stream_si128(target, a);
  _mm_stream_si128(target + 1, b);
  _mm_stream_si128(target + 2, c);
  _mm_stream_si128(target + 3, d);
}

// Several pages take turns, a few lines each: memory and the prefetchers serve as many streams at
// once.
inline void StreamLines(char* to, const char* from, std::int64_t bytes) {
  constexpr std::int64_t kLine = 64, kPage = 4096, kTurn = 8 * kPage, kFew = 2 * kLine;
  for (; bytes >= kTurn; bytes -= kTurn, to += kTurn, from += kTurn) {
    for (std::int64_t few = 0; few < kPage; few += kFew) {
      for (std::int64_t page = 0; page < kTurn; page += kPage) {
        for (std::int64_t i = page + few; i < page + few + kFew; i += kLine)
          StreamLine(to + i, from + i);
      }
    }
  }
  for (std::int64_t i = 0; i < bytes; i += kLine) StreamLine(to + i, from + i);
}

}  // namespace internal
#endif

// Copies like memcpy, with stores that go past the caches; FinishStreaming() must follow before
// others may read.
inline void Stream(char* to, const char* from, std::int64_t bytes) {
#if SCATTERX_X86
  constexpr std::int64_t kLine = 64;
  const auto start = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) % kLine);
  const std::int64_t head = std::min(bytes, (kLine - start) % kLine);
  const std::int64_t lines = (bytes - head) / kLine * kLine;
  std::memcpy(to, from, static_cast<std::size_t>(head));
  internal::StreamLines(to + head, from + head, lines);
  to += head + lines;
  from += head + lines;
  bytes -= head + lines;
#endif
  std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

inline void FinishStreaming() {
#if SCATTERX_X86
  _mm_sfence();
#endif
}

// Copies `bytes` bytes between places that do not overlap.
inline void CopyAll(char* to, const char* from, std::int64_t bytes, const Parallel& parallel) {
  const std::size_t tasks = parallel.PiecesFor(bytes);
  constexpr std::int64_t kLine = 64;
  parallel.For(tasks, [=](std::size_t i) {
    const Part lines = PartOf((bytes + kLine - 1) / kLine, i, tasks);
    const std::int64_t begin = lines.begin * kLine, end = std::min(lines.end * kLine, bytes);
    if (begin == end) return;
    if (bytes >= kBytesPastCaches) {
      Stream(to + begin, from + begin, end - begin);
      FinishStreaming();
    } else {
      CopyBytes(to + begin, from + begin, end - begin);
    }
  });
}

}  // namespace scatterx
