// Threads that share the rows of a small output, each with some columns of its own, scatter into
// panels: its columns, laid together in memory that no other thread writes. In the output itself,
// threads would slow each other down: a processor also reads ahead lines that another thread
// writes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>

#include "scatterx/copy.h"
#include "scatterx/loops.h"
#include "scatterx/parallel.h"
#include "scatterx/plan.h"
#include "scatterx/split.h"

namespace scatterx {

// The output is `rows` rows of `pitch` elements. Dim `dim` counts columns [first, first + extent);
// everything else counts rows.
struct Panels {
  std::size_t dim;
  std::int64_t first, extent, pitch, rows;
  std::size_t count;
};

// The panels of a plan, if it has enough work in few enough rows for panels to be faster.
inline std::optional<Panels> PanelsOf(const Plan& plan, std::int64_t element_bytes,
                                      const Parallel& parallel) {
  constexpr std::int64_t kLeastPart = 16, kLeastUses = 4;
  const std::int64_t work = plan.runs * (plan.run * element_bytes + kBytesPerRun);
  const std::int64_t bytes = plan.data_count * element_bytes;
  const auto tasks = static_cast<std::int64_t>(parallel.TasksFor(work));
  if (tasks == 1 || plan.run > 1 || bytes * kLeastUses > work || bytes > tasks * kNearBytes)
    return std::nullopt;
  std::size_t dim = 0;
  while (dim < plan.rank && !(plan.dims[dim].owns && plan.dims[dim].target == 1)) ++dim;
  if (dim == plan.rank) return std::nullopt;
  std::int64_t pitch = 0;
  for (std::size_t d = 0; d < plan.rank; ++d) {
    if (d == dim) continue;
    if (PartsAreApart(plan.dims[d], element_bytes, tasks)) return std::nullopt;
    pitch = std::gcd(pitch, plan.dims[d].target);
  }
  for (std::size_t j = 0; j < plan.columns.count; ++j)
    pitch = std::gcd(pitch, plan.columns.at[j].stride);
  if (pitch == 0 || plan.data_count % pitch != 0) return std::nullopt;
  const std::int64_t first = plan.start % pitch, extent = plan.dims[dim].extent;
  if (first + extent > pitch || extent / tasks * element_bytes < kLeastPart ||
      PartsAreApart(plan.dims[dim], element_bytes, tasks))
    return std::nullopt;
  const std::int64_t rows = plan.data_count / pitch;
  return Panels{dim, first, extent, pitch, rows, static_cast<std::size_t>(tasks)};
}

namespace internal {

// `count` pieces of `bytes` bytes, so many bytes apart on either side.
inline void CopyPieces(char* to, std::int64_t to_pitch, const char* from, std::int64_t from_pitch,
                       std::int64_t bytes, std::int64_t count) {
  for (; count > 0; --count, to += to_pitch, from += from_pitch)
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

inline void ScatterPanels(const Work& far, const Panels& panels, const char* data,
                          const Parallel& parallel) {
  const Work work{far.plan, far.table, far.moves, far.updates, far.output, CacheHints{}};
  const std::int64_t size = work.Bytes(), pitch = panels.pitch * size;
  const auto part_of = [&](std::size_t i) { return PartOf(panels.extent, i, panels.count); };
  // The columns of the rows that no update names go to the first and the last panel.
  const auto columns_of = [&](std::size_t i) {
    const Part part = part_of(i);
    return Part{i == 0 ? 0 : panels.first + part.begin,
                i + 1 == panels.count ? panels.pitch : panels.first + part.end};
  };
  // Panels do not share pages.
  constexpr std::int64_t kPage = 4096;
  const auto place_of = [&](std::size_t i) {
    return columns_of(i).begin * panels.rows * size + 2 * kPage * static_cast<std::int64_t>(i);
  };
  const std::unique_ptr<char[]> memory(
      new char[static_cast<std::size_t>(place_of(panels.count - 1) + panels.rows * pitch)]);
  parallel.For(panels.count, [&](std::size_t i) {
    const Part part = part_of(i), columns = columns_of(i);
    const std::int64_t width = columns.end - columns.begin, bytes = width * size;
    Cut cut = CutOf(work.plan, panels.dim, part.begin, part.end);
    Plan& plan = cut.plan;
    plan.start = plan.start / panels.pitch * width + plan.start % panels.pitch - columns.begin;
    for (std::size_t d = 0; d < plan.rank; ++d) {
      if (d != panels.dim) plan.dims[d].target = plan.dims[d].target / panels.pitch * width;
    }
    for (std::size_t j = 0; j < plan.columns.count; ++j)
      plan.columns.at[j].stride = plan.columns.at[j].stride / panels.pitch * width;
    char* panel = memory.get() + place_of(i);
    const std::int64_t begin = columns.begin * size;
    CopyPieces(panel, bytes, data + begin, pitch, bytes, panels.rows);
    ScatterCut(work, cut, panel);
    CopyPieces(work.output + begin, pitch, panel, bytes, bytes, panels.rows);
  });
}

}  // namespace internal

}  // namespace scatterx
