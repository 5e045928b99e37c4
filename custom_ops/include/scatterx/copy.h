// Copying data to the output on several threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "scatterx/parallel.h"

namespace scatterx {

// Copies `bytes` bytes between places that do not overlap.
inline void CopyAll(char* to, const char* from, std::int64_t bytes, const Parallel& parallel) {
  const std::size_t tasks = parallel.TasksFor(bytes);
  constexpr std::int64_t kLine = 64;
  parallel.For(tasks, [=](std::size_t i) {
    const Part lines = PartOf((bytes + kLine - 1) / kLine, i, tasks);
    const std::int64_t begin = lines.begin * kLine, end = std::min(lines.end * kLine, bytes);
    if (begin < end) std::memcpy(to + begin, from + begin, static_cast<std::size_t>(end - begin));
  });
}

}  // namespace scatterx
