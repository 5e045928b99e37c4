// What a scatter comes down to: runs of elements that are contiguous in updates and in data, and a loop nest that
// says where each run goes.
//
//     run number q, at the point (i_0, i_1, ...) of the nest in row-major order, is updates[q * run, (q + 1) * run)
//     and goes to  start + sum of i_d * target_d + base(row_start + sum of i_d * row_d)
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "scatterx/parallel.h"
#include "scatterx/picks.h"
#include "scatterx/table.h"

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
  bool run_owns = false;  // different elements of a run never meet, in any two runs
  std::int64_t runs = 0;
  Columns columns;         // of f; none where the nest says it all
  bool unique = false;     // no two updates meet
  bool ascending = false;  // every run starts at or behind the end of the one before
  std::int64_t data_count = 0;
};

namespace internal {

// The dims of the nest without those of extent 1.
inline void TakeDims(const Nest& nest, Plan& plan) {
  for (std::size_t d = 0; d < nest.updates.size(); ++d) {
    if (nest.updates[d] == 1) continue;
    // A dim in p2 is a coordinate of J, so it tells its steps apart.
    plan.dims[plan.rank++] = {nest.updates[d], nest.targets[d], nest.rows[d], nest.targets[d] != 0};
  }
}

// Merges neighbours that step as one dim, then splits off the contiguous run.
inline void Fold(Plan& plan) {
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

// Sorted by step, every step is longer than all shorter dims reach together: no two points of the nest meet.
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

// base(row) == base(0) + sum of r_i * step_i over the dims of f, for all rows?
struct AffineTable {
  Ints extents, steps;
  std::int64_t base = 0;

  bool HoldsAt(const Table& table, const Columns& columns, std::int64_t row) const {
    std::int64_t expected = base, rest = row;
    for (std::size_t i = extents.size(); i-- > 0;) {
      expected += rest % extents[i] * steps[i];
      rest /= extents[i];
    }
    return Base(table, columns, row) == expected;
  }

  // The same for all rows whose last coordinate varies over its extent, from `row` on.
  bool HoldsAlongLast(const Table& table, const Columns& columns, std::int64_t row) const {
    if (!HoldsAt(table, columns, row)) return false;
    const std::int64_t first = Base(table, columns, row), step = steps[steps.size() - 1];
    bool same = true;
    for (std::int64_t i = 1; i < extents[extents.size() - 1]; ++i) {
      same &= Base(table, columns, row + i) == first + i * step;
    }
    return same;
  }
};

// Folds an index table that is affine in its own coordinates into the steps of the nest, where that shows that no
// two updates meet. A few rows are looked at first, so a table that is not affine costs next to nothing.
inline bool Straighten(const Nest& nest, const Table& table, const Parallel& parallel, Plan& plan) {
  if (plan.columns.count == 0 || !nest.every_row_is_used) return false;
  AffineTable affine;
  for (std::size_t i = 0; i + 1 < nest.table.size(); ++i) affine.extents.push_back(nest.table[i]);
  affine.steps = Ints(affine.extents.size(), 0);
  affine.base = Base(table, plan.columns, 0);
  Plan straight = plan;
  std::int64_t rows_per_step = 1;
  for (std::size_t i = affine.extents.size(); i-- > 0; rows_per_step *= affine.extents[i]) {
    if (affine.extents[i] == 1) continue;
    affine.steps[i] = Base(table, plan.columns, rows_per_step) - affine.base;
  }
  std::size_t d = 0;
  for (std::size_t dim = 0; dim < nest.updates.size(); ++dim) {
    if (nest.updates[dim] == 1) continue;
    for (std::size_t i = 0; i < affine.extents.size(); ++i) {
      if (nest.picks.p1[i] == static_cast<std::int64_t>(dim)) straight.dims[d].target += affine.steps[i];
    }
    straight.dims[d++].row = 0;
  }
  if (!IsInjective(straight)) return false;
  constexpr std::int64_t kSamples = 8;
  for (std::int64_t i = 1; i <= kSamples; ++i) {
    if (!affine.HoldsAt(table, plan.columns, (nest.row_count - 1) * i / kSamples)) return false;
  }
  if (affine.extents.size() > 0) {
    const std::int64_t last = affine.extents[affine.extents.size() - 1];
    const std::int64_t lines = nest.row_count / last;
    const std::size_t tasks = parallel.TasksFor(nest.row_count * 16);
    std::atomic<bool> holds{true};
    parallel.For(tasks, [&](std::size_t task) {
      const Part part = PartOf(lines, task, tasks);
      for (std::int64_t line = part.begin; line < part.end; ++line) {
        if (!holds.load(std::memory_order_relaxed)) return;
        if (!affine.HoldsAlongLast(table, plan.columns, line * last)) {
          holds.store(false, std::memory_order_relaxed);
        }
      }
    });
    if (!holds.load()) return false;
  }
  straight.start += affine.base;
  straight.columns.count = 0;
  plan = straight;
  return true;
}

// Without a table: each dim steps forward, past all that the dims inside it reach.
inline bool NestAscends(const Plan& plan) {
  std::int64_t reach = plan.run;
  for (std::size_t d = plan.rank; d-- > 0;) {
    if (plan.dims[d].target < reach) return false;
    reach += (plan.dims[d].extent - 1) * plan.dims[d].target;
  }
  return true;
}

}  // namespace internal

// The plan for a nest whose table is in bounds. `unique` is the caller's promise that no two updates meet.
inline Plan MakePlan(const Nest& nest, const Table& table, bool unique, const Parallel& parallel) {
  Plan plan;
  plan.data_count = nest.data_count;
  if (nest.update_count == 0) return plan;
  plan.columns = nest.columns;
  plan.unique = unique;
  internal::TakeDims(nest, plan);
  if (internal::Straighten(nest, table, parallel, plan)) plan.unique = true;
  if (plan.unique) {
    for (std::size_t d = 0; d < plan.rank; ++d) plan.dims[d].owns = true;
  }
  internal::Fold(plan);
  plan.ascending = plan.columns.count == 0 && internal::NestAscends(plan);
  if (plan.ascending) plan.unique = true;
  return plan;
}

}  // namespace scatterx
