// Makes the plan of a scatter from its nest and the numbers in f.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>

#include "scatterx/parallel.h"
#include "scatterx/picks.h"
#include "scatterx/plan.h"
#include "scatterx/table.h"
#include "scatterx/walk.h"

namespace scatterx {

namespace internal {

// Sorted by step, every step is longer than all shorter dims reach together: no two points of the
// nest meet.
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

// The rows of f as a nest of its own, with their bases for targets.
inline Plan PlanOfRows(const Nest& nest) {
  Plan rows;
  rows.columns = nest.columns;
  rows.runs = nest.row_count;
  std::int64_t step = 1;
  for (std::size_t i = 0; i + 1 < nest.table.size(); ++i) {
    if (nest.table[i] > 1) rows.dims[rows.rank++].extent = nest.table[i];
  }
  for (std::size_t d = rows.rank; d-- > 0; step *= rows.dims[d].extent) rows.dims[d].row = step;
  return rows;
}

// Are the targets of runs [begin, end) the same in both?
inline bool Agree(Walk& a, Walk& b, std::int64_t begin, std::int64_t end) {
  constexpr std::int64_t kBatch = 256;
  std::int64_t left[kBatch], right[kBatch];
  a.Seek(begin);
  b.Seek(begin);
  for (std::int64_t q = begin; q < end; q += kBatch) {
    const std::int64_t count = std::min(kBatch, end - q);
    a.Take(count, left);
    b.Take(count, right);
    std::int64_t differences = 0;
    for (std::int64_t i = 0; i < count; ++i) differences |= left[i] ^ right[i];
    if (differences != 0) return false;
  }
  return true;
}

// The contiguous run at the end of the nest. A long one is moved well as it is: a straight table
// gains nothing.
inline constexpr std::int64_t kLongRun = 64;

inline std::int64_t TrailingRun(const Plan& plan) {
  std::int64_t run = 1;
  for (std::size_t d = plan.rank; d-- > 0 && plan.dims[d].row == 0 && plan.dims[d].target == run;) {
    run *= plan.dims[d].extent;
  }
  return run;
}

}  // namespace internal

// What shapes alone say: a plan that is right for every table in bounds, and whether a table that
// is affine could make a better one.
struct Outline {
  Plan plan;
  bool may_straighten = false;
};

// `unique` is the caller's promise that no two updates meet.
inline Outline MakeOutline(const Nest& nest, bool unique) {
  Outline outline;
  Plan& plan = outline.plan;
  plan.data_count = nest.data_count;
  if (nest.update_count == 0) return outline;
  plan.columns = nest.columns;
  plan.unique = unique;
  internal::TakeDims(nest, plan);
  if (plan.columns.count == 0) {
    plan.unique = plan.unique || internal::IsInjective(plan);
  } else {
    outline.may_straighten =
        nest.every_row_is_used && internal::TrailingRun(plan) < internal::kLongRun;
  }
  internal::Fold(plan);
  return outline;
}

// Folds a table that is affine, base(row) == base(0) + sum of r_i * step_i, into the steps of the
// nest, where that shows that no two updates meet; else it leaves `plan` as it was. A table that is
// not affine mostly shows it in the first rows.
inline bool Straighten(const Nest& nest, const Table& table, const Parallel& parallel, Plan& plan) {
  const std::int64_t last = nest.table.size() < 2 ? 1 : nest.table[nest.table.size() - 2];
  if (last > 2) {  // three bases in a row tell most tables
    const std::int64_t base = Base(table, nest.columns, 1);
    if (Base(table, nest.columns, 2) - base != base - Base(table, nest.columns, 0)) return false;
  }
  const Plan rows = internal::PlanOfRows(nest);
  Walk walk(rows, table);
  Plan affine = rows;
  affine.columns.count = 0;
  affine.start = walk.At(0);
  for (std::size_t d = 0; d < rows.rank; ++d) {
    affine.dims[d].target = walk.At(rows.dims[d].row) - affine.start;
    affine.dims[d].row = 0;
  }
  Plan straight;
  straight.data_count = nest.data_count;
  straight.start = affine.start;
  internal::TakeDims(nest, straight);
  for (std::size_t i = 0, r = 0; i < nest.picks.p1.size(); ++i) {
    if (nest.table[i] == 1) continue;
    std::size_t d = 0;  // of the plan: the dims of updates that have more than one step
    for (std::int64_t dim = 0; dim < nest.picks.p1[i]; ++dim) d += nest.updates[dim] > 1;
    straight.dims[d].target += affine.dims[r++].target;
    straight.dims[d].row = 0;
  }
  if (!internal::IsInjective(straight)) return false;
  Walk line(affine, table);
  const std::int64_t few = std::min<std::int64_t>(nest.row_count, 64);
  if (!internal::Agree(walk, line, 0, few)) return false;
  const std::size_t tasks = parallel.TasksFor(nest.row_count * kBytesPerRun);
  std::atomic<bool> agree{true};
  parallel.For(tasks, [&](std::size_t i) {
    const Part part = PartOf(nest.row_count, i, tasks);
    Walk ours(rows, table), theirs(affine, table);
    if (!internal::Agree(ours, theirs, part.begin, part.end))
      agree.store(false, std::memory_order_relaxed);
  });
  if (!agree.load(std::memory_order_relaxed)) return false;
  straight.unique = true;
  internal::Fold(straight);
  plan = straight;
  return true;
}

// The plan for a nest whose table is in bounds.
inline Plan MakePlan(const Nest& nest, const Table& table, bool unique, const Parallel& parallel) {
  Outline outline = MakeOutline(nest, unique);
  if (outline.may_straighten) Straighten(nest, table, parallel, outline.plan);
  return outline.plan;
}

}  // namespace scatterx
