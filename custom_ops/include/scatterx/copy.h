// Moving bytes: past the caches where they are too many to stay there, and on several threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "scatterx/parallel.h"

namespace scatterx {

// An output of so many bytes does not stay in the caches. To write it past them saves reading it
// first.
inline constexpr std::int64_t kBytesPastCaches = 1 << 24;

// Copies like memcpy, with stores that go past the caches; FinishStreaming() must follow before
// others may read.
inline void Stream(char* to, const char* from, std::size_t bytes) {
#if defined(__SSE2__)
  constexpr std::size_t kLine = 64;
  const std::size_t head =
      std::min(bytes, (kLine - reinterpret_cast<std::uintptr_t>(to) % kLine) % kLine);
  std::memcpy(to, from, head);
  to += head;
  from += head;
  bytes -= head;
  for (; bytes >= kLine; bytes -= kLine, to += kLine, from += kLine) {
    const auto* source = reinterpret_cast<const __m128i*>(from);
    auto* target = reinterpret_cast<__m128i*>(to);
    const __m128i a = _mm_loadu_si128(source), b = _mm_loadu_si128(source + 1);
    const __m128i c = _mm_loadu_si128(source + 2), d = _mm_loadu_si128(source + 3);
    _mm_stream_si128(target, a);
    _mm_stream_si128(target + 1, b);
    _mm_stream_si128(target + 2, c);
    _mm_stream_si128(target + 3, d);
  }
#endif
  std::memcpy(to, from, bytes);
}

inline void FinishStreaming() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

// Copies `bytes` bytes between places that do not overlap.
inline void CopyAll(char* to, const char* from, std::int64_t bytes, const Parallel& parallel) {
  const std::size_t tasks = parallel.TasksFor(bytes);
  if (tasks == 1) {  // memcpy knows best
    if (bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(bytes));
    return;
  }
  constexpr std::int64_t kLine = 64;
  parallel.For(tasks, [=](std::size_t i) {
    const Part lines = PartOf((bytes + kLine - 1) / kLine, i, tasks);
    const std::int64_t begin = lines.begin * kLine, end = std::min(lines.end * kLine, bytes);
    if (begin >= end) return;
    if (bytes >= kBytesPastCaches) {
      Stream(to + begin, from + begin, static_cast<std::size_t>(end - begin));
      FinishStreaming();
    } else {
      std::memcpy(to + begin, from + begin, static_cast<std::size_t>(end - begin));
    }
  });
}

}  // namespace scatterx
