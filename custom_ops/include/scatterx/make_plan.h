// Makes the plan of a scatter from its indexing and the numbers in f.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "scatterx/affine.h"
#include "scatterx/parallel.h"
#include "scatterx/picks.h"
#include "scatterx/plan.h"
#include "scatterx/table.h"

namespace scatterx {

namespace internal {

// If, sorted by step, every step is longer than the reach of all shorter dims together, no two
// points of the indexing have the same target.
inline bool IsInjective(const Plan& plan) {
  Dim dims[kMaxRank];
  std::copy(plan.dims, plan.dims + plan.rank, dims);
  std::sort(dims, dims + plan.rank,
            [](const Dim& a, const Dim& b) { return std::abs(a.target) < std::abs(b.target); });
  std::int64_t reach = 0;
  for (std::size_t d = 0; d < plan.rank; ++d) {
    const std::int64_t step = std::abs(dims[d].target);
    if (step <= reach) return false;
    reach += (dims[d].extent - 1) * step;
  }
  return true;
}

// The contiguous run at the end of the indexing. A long run is moved fast in any case, so an affine
// table gains nothing.
inline constexpr std::int64_t kLongRun = 64;

inline std::int64_t TrailingRun(const Plan& plan) {
  std::int64_t run = 1;
  for (std::size_t d = plan.rank; d-- > 0 && plan.dims[d].row == 0 && plan.dims[d].target == run;) {
    run *= plan.dims[d].extent;
  }
  return run;
}

}  // namespace internal

// The result of the shapes alone: a plan that is right for every table in bounds, and whether an
// affine table could improve it.
struct Outline {
  Plan plan;
  bool may_fold = false;
};

// `unique` is the caller's promise that no two updates collide.
inline Outline MakeOutline(const StridedIndexing& indexing, bool unique) {
  Outline outline;
  Plan& plan = outline.plan;
  plan.data_count = indexing.data_count;
  if (indexing.update_count == 0) return outline;
  plan.columns = indexing.columns;
  plan.unique = unique;
  internal::TakeDims(indexing, plan);
  if (plan.columns.count == 0) {
    plan.unique = plan.unique || internal::IsInjective(plan);
  } else {
    outline.may_fold =
        indexing.every_row_is_used && internal::TrailingRun(plan) < internal::kLongRun;
  }
  internal::Fold(plan);
  return outline;
}

// Folds an affine table into the steps of the indexing, if this shows that no two updates collide.
// Then the table is in bounds. Otherwise `plan` is not changed.
inline bool FoldAffineIndices(const StridedIndexing& indexing, const Table& table,
                              const Parallel& parallel, Plan& plan) {
  Affine affine;
  if (!FindAffine(indexing, table, parallel, affine)) return false;
  Plan straight;
  straight.data_count = indexing.data_count;
  internal::TakeDims(indexing, straight);
  for (std::size_t j = 0; j < indexing.columns.count; ++j) {
    const Column& column = indexing.columns.at[j];
    straight.start += (affine.start[j] + (affine.start[j] < 0 ? column.size : 0)) * column.stride;
  }
  for (std::size_t i = 0; i < indexing.picks.p1.size(); ++i) {
    if (indexing.table[i] == 1) continue;
    std::size_t d = 0;  // of the plan: the dims of updates that have more than one step
    for (std::int64_t dim = 0; dim < indexing.picks.p1[i]; ++dim) d += indexing.updates[dim] > 1;
    for (std::size_t j = 0; j < indexing.columns.count; ++j)
      straight.dims[d].target += affine.step[i][j] * indexing.columns.at[j].stride;
    straight.dims[d].row = 0;
  }
  if (!internal::IsInjective(straight)) return false;
  straight.unique = true;
  internal::Fold(straight);
  plan = straight;
  return true;
}

// The plan for an indexing whose table is in bounds.
inline Plan MakePlan(const StridedIndexing& indexing, const Table& table, bool unique,
                     const Parallel& parallel) {
  Outline outline = MakeOutline(indexing, unique);
  if (outline.may_fold) FoldAffineIndices(indexing, table, parallel, outline.plan);
  return outline.plan;
}

}  // namespace scatterx
