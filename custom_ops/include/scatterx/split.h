// How the updates are shared among threads. No two threads write the same element, and each element
// gets its updates in row-major order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>

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
  std::size_t strips = 0;  // if the ranges of kRanges are uneven: kRun in so many tasks; 0 for none
};

// Elements from `output` to the next cache line. If two threads write to one line, both are very
// slow.
inline std::int64_t ElementsToLine(const char* output, std::int64_t element_bytes) {
  constexpr std::uintptr_t kLine = 64;
  return static_cast<std::int64_t>((kLine - reinterpret_cast<std::uintptr_t>(output) % kLine) %
                                   kLine) /
         element_bytes;
}

// The part of a contiguous stretch of `extent` elements that task i takes; parts begin on cache
// lines.
inline Part LinesOf(std::int64_t extent, std::size_t i, std::size_t tasks, std::int64_t to_line,
                    std::int64_t element_bytes) {
  const std::int64_t line = std::max<std::int64_t>(1, 64 / element_bytes);
  const auto border = [&](std::int64_t element) {
    if (element == 0 || element == extent) return element;
    return std::min(extent, std::max<std::int64_t>(0, (element - to_line) / line * line + to_line));
  };
  const Part part = PartOf(extent, i, tasks);
  return {border(part.begin), border(part.end)};
}

// An output of so many bytes for each thread does not fit into its nearest caches.
inline constexpr std::int64_t kNearBytes = 1 << 20;

// Does each of so many threads, given its part of a dim, write to pages of its own at every step
// around it?
inline bool PartsAreApart(const Dim& dim, std::int64_t element_bytes, std::int64_t tasks) {
  constexpr std::int64_t kPage = 4096;
  const std::int64_t part = dim.extent / tasks;
  return dim.owns && part >= 4 && part * std::abs(dim.target) * element_bytes >= kPage;
}

// Does each of so many threads get about as many whole lines of `bytes` bytes as the others?
inline bool LinesAreEven(std::int64_t bytes, std::int64_t tasks) {
  const std::int64_t lines = bytes / 64, most = (lines + tasks - 1) / tasks;
  return most * tasks * 10 <= lines * 11;
}

inline Split ChooseSplit(const Plan& plan, std::int64_t element_bytes, const Parallel& parallel) {
  const std::int64_t run_bytes = plan.run * element_bytes;
  Split split;
  split.tasks = parallel.TasksFor(plan.runs * (run_bytes + kBytesPerRun));
  const auto tasks = static_cast<std::int64_t>(split.tasks);
  if (tasks == 1) return split;
  constexpr std::int64_t kLine = 64, kLongPart = 1 << 14, kShortPart = 2 * kLine;
  // If the pieces are on different lines, there may be more pieces than threads.
  const auto pieces = [&](std::int64_t most) {
    const std::size_t wanted = parallel.PiecesFor(plan.runs * (run_bytes + kBytesPerRun));
    return std::max(split.tasks, std::min(wanted, static_cast<std::size_t>(most)));
  };
  if (plan.run_owns && run_bytes / tasks >= kLongPart) {
    split.way = Split::kRun;
    split.tasks = pieces(run_bytes / kLongPart);
    return split;
  }
  // Parts of an inner dim or of a run recur at every step around them, so each thread must always
  // write the same cache lines. If the output fits into the caches, it must also write the same
  // pages, because a processor that reads ahead in a page slows other threads down.
  const bool is_far = plan.data_count * element_bytes > tasks * kNearBytes;
  std::int64_t pitch = 0;
  for (std::size_t j = 0; j < plan.columns.count; ++j)
    pitch = std::gcd(pitch, plan.columns.at[j].stride);
  std::int64_t inner_bytes = plan.runs * run_bytes;
  for (std::size_t d = 0; d < plan.rank; ++d) {
    const Dim& dim = plan.dims[d];
    inner_bytes /= dim.extent;
    const std::int64_t part = dim.extent / tasks;
    const bool on_lines = (dim.target == 1 && pitch * element_bytes % kLine == 0 &&
                           LinesAreEven(dim.extent * element_bytes, tasks)) ||
                          dim.target * element_bytes % kLine == 0;
    const bool apart = d == 0 || (on_lines && part * inner_bytes >= kShortPart &&
                                  (is_far || PartsAreApart(dim, element_bytes, tasks)));
    if (dim.owns && part >= 4 && apart) {
      split.way = Split::kDim;
      split.tasks = pieces(d == 0 ? dim.extent / 4 : dim.extent * inner_bytes / kShortPart / 4);
      split.dim = d;
      return split;
    }
    pitch = std::gcd(pitch, dim.target);
  }
  // Reading a run in strips is slower than reading it whole.
  if (plan.run_owns && pitch * element_bytes % kLine == 0 && run_bytes / tasks >= kShortPart)
    split.strips = pieces(run_bytes / kShortPart / 2);
  // Checking an update costs as much as writing it, unless it is long or misses the caches.
  if (run_bytes >= 4 * kLine || plan.data_count * element_bytes >= 4 * parallel.grain)
    split.way = Split::kRanges;
  return split;
}

// Borders for `tasks` ranges of the output that are about equally busy, from a sample of the runs:
// task i takes the runs that start in [borders[i], borders[i + 1]). Borders lie on cache lines, so
// that no line has two writers.
inline constexpr std::size_t kMaxRanges = 64;

struct Ranges {
  std::int64_t borders[kMaxRanges + 1];
  std::size_t count = 0;
};

inline Ranges ChooseRanges(const Plan& plan, const Table& table, std::size_t tasks,
                           std::int64_t to_line, std::int64_t element_bytes) {
  constexpr std::int64_t kSamplesPerRange = 32;
  const std::size_t wanted = std::min(tasks, kMaxRanges);
  const std::int64_t samples =
      std::min<std::int64_t>(plan.runs, static_cast<std::int64_t>(wanted) * kSamplesPerRange);
  std::int64_t targets[kMaxRanges * kSamplesPerRange];
  Walk walk(plan, table);
  for (std::int64_t i = 0; i < samples; ++i) {
    targets[i] = walk.At(
        PartOf(plan.runs, static_cast<std::size_t>(i), static_cast<std::size_t>(samples)).begin);
  }
  std::sort(targets, targets + samples);
  const std::int64_t line = std::max<std::int64_t>(1, 64 / element_bytes);
  Ranges ranges;
  ranges.borders[0] = 0;
  for (std::size_t i = 1; i < wanted; ++i) {
    const std::int64_t border =
        targets[samples * static_cast<std::int64_t>(i) / static_cast<std::int64_t>(wanted)] / line *
            line +
        to_line;
    if (border > ranges.borders[ranges.count] && border < plan.data_count)
      ranges.borders[++ranges.count] = border;
  }
  ranges.borders[++ranges.count] = plan.data_count;
  return ranges;
}

}  // namespace scatterx
