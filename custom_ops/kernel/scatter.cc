#include "scatterx/scatter.h"

#include "scatterx/blocks.h"
#include "scatterx/copy.h"
#include "scatterx/interleave.h"
#include "scatterx/loops.h"
#include "scatterx/packed.h"
#include "scatterx/panels.h"

namespace scatterx {

void Scatter(const Plan& plan, const Table& table, const Moves& moves, const void* data,
             const void* updates, void* output, const Parallel& parallel) {
  const auto size = static_cast<std::int64_t>(moves.bytes);
  const CacheHints reach{plan.data_count * size >= kFar,
                         plan.runs * plan.run * size >= kBytesPastCaches};
  const internal::Work work{
      plan, table, moves, static_cast<const char*>(updates), static_cast<char*>(output), reach};
  const char* from = static_cast<const char*>(data);
  if (output != data) {
    const auto grid = moves.copies ? GridOf(plan, work.Bytes()) : std::nullopt;
    if (grid) {
      return Interleave(plan, table, *grid, work.Bytes(), from, work.updates, work.output,
                        parallel);
    }
    const auto bands = RowBlocksOf(plan, work.Bytes());
    if (bands) return internal::ScatterBlocks(work, *bands, from, parallel);
  }
  const auto panels = PanelsOf(plan, work.Bytes(), parallel);
  if (panels) return internal::ScatterPanels(work, *panels, from, parallel);
  if (output != data) {
    CopyAll(work.output, from, plan.data_count * work.Bytes(), parallel);
  }
  if (plan.runs > 0) internal::ScatterAll(work, parallel);
}

void ScatterPacked(const Plan& plan, const Table& table, const void* data, const void* updates,
                   void* output, const Parallel& parallel) {
  if (const auto whole = InWholeBytes(plan)) {
    return Scatter(*whole, table, FindMoves(ElementType::kUInt8, Reduction::kNone), data, updates,
                   output, parallel);
  }
  if (output != data) {
    CopyAll(static_cast<char*>(output), static_cast<const char*>(data),
            PackedBytes(plan.data_count), parallel);
  }
  ScatterNibbles(plan, table, static_cast<const std::uint8_t*>(updates),
                 static_cast<std::uint8_t*>(output));
}

}  // namespace scatterx
