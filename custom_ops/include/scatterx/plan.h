// The plan of a scatter: runs of elements that are contiguous in updates and in data, and a loop nest
// that computes the target of each run.
//
//     run number q, at the point (i_0, i_1, ...) of the indexing in row-major order, is updates[q *
//     run, (q + 1) * run) and goes to  start + sum of i_d * target_d + base(row_start + sum of i_d
//     * row_d)
#pragma once

#include <cstdint>

#include "scatterx/picks.h"

namespace scatterx {

struct Dim {
  std::int64_t extent = 1;
  std::int64_t target = 0;  // elements of data per step
  std::int64_t row = 0;     // rows of f per step
  bool owns = false;        // different steps never write the same element
};

struct Plan {
  Dim dims[kMaxRank];  // outermost first, all extents >= 2
  std::size_t rank = 0;
  std::int64_t start = 0, row_start = 0;
  std::int64_t run = 1;   // elements
  bool run_owns = false;  // different elements of runs never have the same target
  std::int64_t runs = 0;
  Columns columns;      // of f; empty if the indexing describes f completely
  bool unique = false;  // no two updates collide
  std::int64_t data_count = 0;
};

namespace internal {

// The dims of the indexing without those of extent 1.
inline void TakeDims(const StridedIndexing& indexing, Plan& plan) {
  for (std::size_t d = 0; d < indexing.updates.size(); ++d) {
    if (indexing.updates[d] == 1) continue;
    // A dim in p2 is a coordinate of J, so its steps have different targets.
    plan.dims[plan.rank++] = {indexing.updates[d], indexing.targets[d], indexing.rows[d],
                              indexing.targets[d] != 0};
  }
}

// Merges neighbours that step as one dim, then splits off the contiguous run.
inline void Fold(Plan& plan) {
  if (plan.unique) {
    for (std::size_t d = 0; d < plan.rank; ++d) plan.dims[d].owns = true;
  }
  std::size_t rank = 0;
  for (std::size_t d = 0; d < plan.rank; ++d) {
    const Dim& inner = plan.dims[d];
    if (rank > 0) {
      Dim& outer = plan.dims[rank - 1];
      if (outer.target == inner.extent * inner.target && outer.row == inner.extent * inner.row) {
        outer = {outer.extent * inner.extent, inner.target, inner.row, outer.owns && inner.owns};
        continue;
      }
    }
    plan.dims[rank++] = inner;
  }
  plan.rank = rank;
  plan.run = 1;
  plan.run_owns = plan.unique;
  if (rank > 0 && plan.dims[rank - 1].target == 1 && plan.dims[rank - 1].row == 0) {
    plan.run = plan.dims[rank - 1].extent;
    plan.run_owns = plan.dims[rank - 1].owns;
    --plan.rank;
  }
  plan.runs = 1;
  for (std::size_t d = 0; d < plan.rank; ++d) plan.runs *= plan.dims[d].extent;
}

}  // namespace internal

}  // namespace scatterx
