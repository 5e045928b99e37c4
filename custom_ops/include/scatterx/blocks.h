// Copying and scattering a block at a time, while it is in the nearest caches. It needs a plan
// whose outermost steps write consecutive bands of the output: then the updates of a block are
// consecutive too. If the output does not fit into the caches, it is built in a separate buffer, a
// block at a time, and stored from there past the caches. So the output is never read.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>

#include "scatterx/copy.h"
#include "scatterx/loops.h"
#include "scatterx/parallel.h"
#include "scatterx/plan.h"

namespace scatterx {

// The nearest cache holds a block until it is stored.
inline constexpr std::int64_t kBlockBytes = 1 << 14;

// Step i of the outermost dim writes into elements [first + i * pitch, first + (i + 1) * pitch).
struct RowBlocks {
  std::int64_t first, pitch, count;
};

// The bands of a plan, if its output is many blocks and a band is not long. If a block gets
// few runs, moving it once more costs more than fetching the lines that they write.
inline std::optional<RowBlocks> RowBlocksOf(const Plan& plan, std::int64_t element_bytes) {
  constexpr std::int64_t kBytesOfRun = 256, kLeastOutput = 1 << 18, kLongestBand = 1 << 18;
  const std::int64_t bytes = plan.data_count * element_bytes;
  if (plan.rank == 0 || bytes < kLeastOutput) return std::nullopt;
  if (bytes >= kBytesPastCaches && plan.runs * kBytesOfRun < bytes) return std::nullopt;
  const Dim& outer = plan.dims[0];
  std::int64_t reach = plan.run - 1;  // how far a step's last element may be from its first place
  for (std::size_t d = 1; d < plan.rank; ++d) {
    if (plan.dims[d].target < 0) return std::nullopt;
    reach += (plan.dims[d].extent - 1) * plan.dims[d].target;
  }
  for (std::size_t j = 0; j < plan.columns.count; ++j)
    reach += (plan.columns.at[j].size - 1) * plan.columns.at[j].stride;
  if (outer.target <= reach || outer.target * element_bytes > kLongestBand) return std::nullopt;
  return RowBlocks{plan.start, outer.target, outer.extent};
}

namespace internal {

inline void ScatterBlocks(const Work& far, const RowBlocks& bands, const char* data,
                          const Parallel& parallel) {
  // The blocks are copied in any case, so they may be of another form until all runs are moved.
  constexpr std::int64_t kElementsOfRun = 8;
  const bool turns = far.moves.form.apply != nullptr && far.plan.run == 1 &&
                     far.plan.runs * kElementsOfRun >= far.plan.data_count;
  Moves moves = far.moves;
  if (turns) moves.apply = moves.form.apply;
  const Work work{far.plan, far.table, moves, far.updates, far.output, CacheHints{}};
  const std::int64_t size = work.Bytes();
  const std::int64_t steps = std::max<std::int64_t>(1, kBlockBytes / (bands.pitch * size));
  const auto copy = [&](std::int64_t begin, std::int64_t end) {
    CopyBytes(work.output + begin * size, data + begin * size, (end - begin) * size);
  };
  // The last band may end beyond the output. The first and last task copy the elements outside of
  // all bands.
  const auto border = [&](std::int64_t step) {
    return std::min(bands.first + step * bands.pitch, work.plan.data_count);
  };
  const std::size_t tasks = parallel.PiecesFor(
      work.plan.data_count * size + work.plan.runs * (work.plan.run * size + kBytesPerRun));
  const bool past = work.plan.data_count * size >= kBytesPastCaches;
  const std::int64_t room = past ? steps * bands.pitch * size : 0;
  const std::unique_ptr<char[]> memory(new char[tasks * static_cast<std::size_t>(room)]);
  parallel.For(tasks, [&](std::size_t i) {
    const Part part = PartOf(bands.count, i, tasks);
    char* beside = memory.get() + static_cast<std::int64_t>(i) * room;
    if (i == 0) copy(0, border(0));
    for (std::int64_t step = part.begin; step < part.end; step += steps) {
      const std::int64_t stop = std::min(step + steps, part.end);
      const std::int64_t first = border(step), bytes = (border(stop) - first) * size;
      char* const there = work.output + first * size;
      char* const block = past ? beside : there;
      turns ? moves.form.in(block, data + first * size, bytes)
            : CopyBytes(block, data + first * size, bytes);
      Cut cut = CutOf(work.plan, 0, step, stop);
      cut.plan.start -= first;
      ScatterCut(work, cut, block);
      if (turns) moves.form.out(block, block, bytes);
      if (past) Stream(there, block, bytes);
    }
    if (i + 1 == tasks) copy(border(bands.count), work.plan.data_count);
    if (past) FinishStreaming();
  });
}

}  // namespace internal

}  // namespace scatterx
