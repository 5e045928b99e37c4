// Moving bytes: past the caches if the caches are too small, and on several threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "scatterx/cpu.h"
#include "scatterx/lines.h"
#include "scatterx/parallel.h"

namespace scatterx {

// Copies like memcpy. This is not always fast for long stretches: if memcpy uses `rep movsb`, some
// processors move only 3 GB/s if `to` is a few bytes after `from` modulo a page.
inline void CopyBytes(char* to, const char* from, std::int64_t bytes) {
  constexpr std::int64_t kShort = 1 << 10;
  if (bytes >= kShort) return internal::CopyLines<false>(to, from, bytes);
  if (bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

// An output of so many bytes does not fit into the caches. If it is written past them, it is not
// read first.
inline constexpr std::int64_t kBytesPastCaches = 1 << 24;

// Copies like memcpy, with stores past the caches. FinishStreaming() must follow before other
// threads read.
inline void Stream(char* to, const char* from, std::int64_t bytes) {
  constexpr std::int64_t kShort = 128;
  if (bytes >= kShort) return internal::CopyLines<true>(to, from, bytes);
  if (bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(bytes));
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
