// The loops: every update is moved or reduced to its place, on one thread or on several.
#pragma once

#include <algorithm>
#include <cstdint>

#include "scatterx/moves.h"
#include "scatterx/plan.h"
#include "scatterx/split.h"
#include "scatterx/walk.h"

namespace scatterx {

namespace internal {

inline constexpr std::int64_t kBatch = 256;

// Everything that a task needs to know.
struct Work {
  const Plan& plan;
  const Table& table;
  const Moves& moves;
  const char* updates;
  char* output;
  Reach reach;

  std::int64_t Bytes() const { return static_cast<std::int64_t>(moves.bytes); }
};

// Elements [begin, end) of every run.
inline void ScatterRuns(const Work& work, std::int64_t begin, std::int64_t end) {
  if (begin == end) return;
  Walk walk(work.plan, work.table);
  std::int64_t targets[kBatch];
  const char* updates = work.updates + begin * work.Bytes();
  for (std::int64_t q = 0; q < work.plan.runs; q += kBatch) {
    const std::int64_t count = std::min(kBatch, work.plan.runs - q);
    walk.Take(count, targets);
    work.moves.apply(work.output + begin * work.Bytes(), updates + q * work.plan.run * work.Bytes(),
                     {targets, nullptr, count, work.plan.run, end - begin, work.reach});
  }
}

// Steps [begin, end) of dim `d`. Within a step of the outer dims their runs follow each other in
// updates.
inline void ScatterSteps(const Work& work, std::size_t d, std::int64_t begin, std::int64_t end) {
  if (begin == end) return;
  Plan plan = work.plan;
  Dim& dim = plan.dims[d];
  plan.start += begin * dim.target;
  plan.row_start += begin * dim.row;
  dim.extent = end - begin;
  std::int64_t inner = 1;
  for (std::size_t i = d + 1; i < plan.rank; ++i) inner *= plan.dims[i].extent;
  const std::int64_t piece = dim.extent * inner, pitch = work.plan.dims[d].extent * inner;
  Walk walk(plan, work.table);
  std::int64_t targets[kBatch];
  for (std::int64_t first = begin * inner; first < work.plan.runs; first += pitch) {
    for (std::int64_t q = first; q < first + piece; q += kBatch) {
      const std::int64_t count = std::min(kBatch, first + piece - q);
      walk.Take(count, targets);
      work.moves.apply(work.output, work.updates + q * plan.run * work.Bytes(),
                       {targets, nullptr, count, plan.run, plan.run, work.reach});
    }
  }
}

// The runs that start in [begin, end) of the output. Which ones do is decided without a branch: it
// is a coin toss.
inline void ScatterRange(const Work& work, std::int64_t begin, std::int64_t end) {
  Walk walk(work.plan, work.table);
  std::int64_t targets[kBatch], kept[kBatch], sources[kBatch];
  for (std::int64_t q = 0; q < work.plan.runs; q += kBatch) {
    const std::int64_t count = std::min(kBatch, work.plan.runs - q);
    walk.Take(count, targets);
    std::int64_t keep = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      kept[keep] = targets[i];
      sources[keep] = i;
      keep += (targets[i] >= begin) & (targets[i] < end);
    }
    work.moves.apply(work.output, work.updates + q * work.plan.run * work.Bytes(),
                     {kept, sources, keep, work.plan.run, work.plan.run, work.reach});
  }
}

inline void ScatterAll(const Work& work, const Parallel& parallel) {
  const Plan& plan = work.plan;
  const std::int64_t to_line = ElementsToLine(work.output, work.Bytes());
  const Split split = ChooseSplit(plan, work.Bytes(), parallel);
  const auto scatter_strips = [&](std::size_t tasks) {
    parallel.For(tasks, [&](std::size_t i) {
      const Part part = LinesOf(plan.run, i, tasks, to_line, work.Bytes());
      ScatterRuns(work, part.begin, part.end);
    });
  };
  switch (split.way) {
    case Split::kSerial:
      return ScatterRuns(work, 0, plan.run);
    case Split::kRun:
      return scatter_strips(split.tasks);
    case Split::kDim:
      return parallel.For(split.tasks, [&](std::size_t i) {
        const Dim& dim = plan.dims[split.dim];
        const Part part = dim.target == 1
                              ? LinesOf(dim.extent, i, split.tasks, to_line, work.Bytes())
                              : PartOf(dim.extent, i, split.tasks);
        ScatterSteps(work, split.dim, part.begin, part.end);
      });
    case Split::kRanges: {
      const Ranges ranges = ChooseRanges(plan, work.table, split.tasks, to_line, work.Bytes());
      if (ranges.count < std::min(split.tasks, kMaxRanges) && split.strips > 1) return scatter_strips(split.strips);
      if (ranges.count == 1) return ScatterRuns(work, 0, plan.run);
      return parallel.For(ranges.count, [&](std::size_t i) {
        ScatterRange(work, ranges.borders[i], ranges.borders[i + 1]);
      });
    }
  }
}

}  // namespace internal

}  // namespace scatterx
