// How the updates are shared among threads so that no two threads write the same element, and each element still
// meets its updates in row-major order.
#pragma once

#include <algorithm>
#include <cstdint>

#include "scatterx/copy.h"
#include "scatterx/plan.h"
#include "scatterx/walk.h"

namespace scatterx {

struct Split {
  enum Way {
    kSerial,  // one thread
    kRun,     // each thread takes its part of every run
    kDim,     // each thread takes its part of a dim whose steps never meet
    kRanges,  // each thread looks at all updates and takes those that go to its range of the output
  };
  Way way = kSerial;
  std::size_t tasks = 1;
  std::size_t dim = 0;
};

inline Split ChooseSplit(const Plan& plan, std::int64_t element_bytes, const Parallel& parallel) {
  const std::int64_t run_bytes = plan.run * element_bytes;
  Split split;
  split.tasks = parallel.TasksFor(plan.runs * (run_bytes + kBytesPerRun));
  const auto tasks = static_cast<std::int64_t>(split.tasks);
  if (tasks == 1) return split;
  constexpr std::int64_t kLongPart = 1 << 14, kShortPart = 128;
  if (plan.run_owns && run_bytes / tasks >= kLongPart) {
    split.way = Split::kRun;
    return split;
  }
  std::int64_t inner_bytes = plan.runs * run_bytes;
  for (std::size_t d = 0; d < plan.rank; ++d) {
    inner_bytes /= plan.dims[d].extent;
    const std::int64_t part = plan.dims[d].extent / tasks;
    if (!plan.dims[d].owns || part < 4 || (d > 0 && part * inner_bytes < kShortPart)) continue;
    split.way = Split::kDim;
    split.dim = d;
    return split;
  }
  split.way = plan.run_owns && run_bytes / tasks >= kShortPart ? Split::kRun : Split::kRanges;
  return split;
}

// Borders for `tasks` ranges of the output that are about equally busy, from a sample of the runs: task i takes the
// runs that start in [borders[i], borders[i + 1]). Borders lie on cache lines, so that no line has two writers.
inline constexpr std::size_t kMaxRanges = 64;

struct Ranges {
  std::int64_t borders[kMaxRanges + 1];
  std::size_t count = 0;
};

inline Ranges ChooseRanges(const Plan& plan, const Table& table, std::size_t tasks,
                           std::int64_t element_bytes) {
  constexpr std::int64_t kSamplesPerRange = 32;
  const std::size_t wanted = std::min(tasks, kMaxRanges);
  const std::int64_t samples =
      std::min<std::int64_t>(plan.runs, static_cast<std::int64_t>(wanted) * kSamplesPerRange);
  std::int64_t targets[kMaxRanges * kSamplesPerRange];
  Walk walk(plan, table);
  for (std::int64_t i = 0; i < samples; ++i) {
    targets[i] = walk.At(PartOf(plan.runs, static_cast<std::size_t>(i), static_cast<std::size_t>(samples)).begin);
  }
  std::sort(targets, targets + samples);
  const std::int64_t line = std::max<std::int64_t>(1, 64 / element_bytes);
  Ranges ranges;
  ranges.borders[0] = 0;
  for (std::size_t i = 1; i < wanted; ++i) {
    const std::int64_t border =
        targets[samples * static_cast<std::int64_t>(i) / static_cast<std::int64_t>(wanted)] / line * line;
    if (border > ranges.borders[ranges.count]) ranges.borders[++ranges.count] = border;
  }
  ranges.borders[++ranges.count] = plan.data_count;
  return ranges;
}

}  // namespace scatterx
