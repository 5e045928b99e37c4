// The loops: every update is moved or reduced to its place, on one thread or on several.
#pragma once

#include <algorithm>
#include <cstdint>

#include "scatterx/batch.h"
#include "scatterx/compact.h"
#include "scatterx/plan.h"
#include "scatterx/split.h"
#include "scatterx/walk.h"

namespace scatterx {

namespace internal {

inline constexpr std::int64_t kBatch = 512;

// All data that a task needs.
struct Work {
  const Plan& plan;
  const Table& table;
  const Moves& moves;
  const char* updates;
  char* output;
  CacheHints reach;

  std::int64_t Bytes() const { return static_cast<std::int64_t>(moves.bytes); }
};

// Takes the targets of runs from a walk, a batch at a time, and moves the runs there.
class Mover {
 public:
  // The plan must outlive it. Targets are counted from `output`.
  Mover(const Work& work, const Plan& plan, char* output)
      : work_(work),
        walk_(plan, work.table),
        output_(output),
        length_(plan.run),
        is_near_(plan.data_count <= kNear) {}

  // The next `count` runs, at most kBatch. Run i is run sources[i] of `updates`, or i if that is
  // null.
  void Move(std::int64_t count, const char* updates, const std::uint32_t* sources) {
    if (is_near_) {
      std::uint32_t targets[kBatch];
      walk_.Take(count, targets);
      Apply(output_, updates, {targets, sources, count, Stride(), length_, work_.reach});
    } else {
      std::int64_t targets[kBatch];
      walk_.Take(count, targets);
      MoveFar(count, targets, updates, sources);
    }
  }

  // Those of the next `count` runs that start in [begin, end).
  void MoveWithin(std::int64_t begin, std::int64_t end, std::int64_t count, const char* updates) {
    std::uint32_t sources[kBatch + kKeepSlack];
    if (is_near_) {
      std::uint32_t targets[kBatch], kept[kBatch + kKeepSlack];
      walk_.Take(count, targets);
      const std::int64_t keep = CompactInRange(targets, count, begin, end, kept, sources);
      Apply(output_, updates, {kept, sources, keep, Stride(), length_, work_.reach});
    } else {
      std::int64_t targets[kBatch], kept[kBatch + kKeepSlack];
      walk_.Take(count, targets);
      const std::int64_t keep = KeepFrom(0, 0, targets, count, begin, end, kept, sources);
      MoveFar(keep, kept, updates, sources);
    }
  }

 private:
  std::int64_t Stride() const { return work_.plan.run; }

  void Apply(char* output, const char* updates, const Batch& batch) const {
    work_.moves.apply(output, updates, batch);
  }

  // Runs that follow each other are moved together if they are less than kNear apart.
  void MoveFar(std::int64_t count, const std::int64_t* targets, const char* updates,
               const std::uint32_t* sources) const {
    std::uint32_t near[kBatch];
    for (std::int64_t i = 0; i < count;) {
      const std::int64_t first = i, base = std::max<std::int64_t>(0, targets[i] - kNear / 2);
      for (; i < count && targets[i] >= base && targets[i] - base < kNear; ++i)
        near[i - first] = static_cast<std::uint32_t>(targets[i] - base);
      const std::int64_t bytes = work_.Bytes(), skipped = sources ? 0 : first * Stride() * bytes;
      Apply(output_ + base * bytes, updates + skipped,
            {near, sources ? sources + first : nullptr, i - first, Stride(), length_, work_.reach});
    }
  }

  const Work& work_;
  Walk walk_;
  char* output_;
  std::int64_t length_;
  bool is_near_;
};

// A part of the steps of dim `dim`, or of the elements of every run if `dim` is the rank: those
// from `begin` on, as many as `plan` has. Otherwise `plan` is the plan of the work. It may send
// them to an output of another layout.
struct Cut {
  Plan plan;
  std::size_t dim;
  std::int64_t begin;
};

// Steps [begin, end) of dim `dim`, or elements of every run, in place in the output.
inline Cut CutOf(const Plan& plan, std::size_t dim, std::int64_t begin, std::int64_t end) {
  Cut cut{plan, dim, begin};
  if (dim == plan.rank) {
    cut.plan.run = end - begin;
    cut.plan.start += begin;
    return cut;
  }
  Dim& steps = cut.plan.dims[dim];
  cut.plan.start += begin * steps.target;
  cut.plan.row_start += begin * steps.row;
  steps.extent = end - begin;
  return cut;
}

// Within a step of the outer dims the runs of a cut follow each other in updates: `piece` of them,
// and the next ones are `pitch` runs on.
inline void ScatterCut(const Work& work, const Cut& cut, char* output) {
  constexpr std::int64_t kShortRun = 64;
  const Plan& plan = cut.plan;
  const std::int64_t size = work.Bytes(), stride = work.plan.run;
  std::int64_t piece = work.plan.runs, pitch = piece;
  const char* updates = work.updates;
  if (cut.dim == plan.rank) {
    updates += cut.begin * size;
  } else {
    std::int64_t inner = 1;
    for (std::size_t i = cut.dim + 1; i < plan.rank; ++i) inner *= plan.dims[i].extent;
    piece = plan.dims[cut.dim].extent * inner;
    pitch = work.plan.dims[cut.dim].extent * inner;
    updates += cut.begin * inner * stride * size;
  }
  if (piece == 0 || plan.run == 0) return;
  Mover mover(work, plan, output);
  const std::int64_t pieces = work.plan.runs / pitch, together = kBatch / piece;
  if (together > 1 && pieces > 1 && plan.run * size <= kShortRun && pitch < UINT32_MAX / kBatch) {
    std::uint32_t sources[kBatch];
    for (std::int64_t i = 0; i < together; ++i) {
      for (std::int64_t j = 0; j < piece; ++j)
        sources[i * piece + j] = static_cast<std::uint32_t>(i * pitch + j);
    }
    for (std::int64_t first = 0; first < pieces; first += together) {
      const std::int64_t count = std::min(together, pieces - first) * piece;
      mover.Move(count, updates + first * pitch * stride * size, sources);
    }
    return;
  }
  for (std::int64_t first = 0; first < work.plan.runs; first += pitch) {
    for (std::int64_t q = first; q < first + piece; q += kBatch) {
      const std::int64_t count = std::min(kBatch, first + piece - q);
      mover.Move(count, updates + q * stride * size, nullptr);
    }
  }
}

// Elements [begin, end) of every run.
inline void ScatterRuns(const Work& work, std::int64_t begin, std::int64_t end) {
  ScatterCut(work, CutOf(work.plan, work.plan.rank, begin, end), work.output);
}

// Steps [begin, end) of dim `dim`.
inline void ScatterSteps(const Work& work, std::size_t dim, std::int64_t begin, std::int64_t end) {
  ScatterCut(work, CutOf(work.plan, dim, begin, end), work.output);
}

// The runs that start in [begin, end) of the output.
inline void ScatterRange(const Work& work, std::int64_t begin, std::int64_t end) {
  Mover mover(work, work.plan, work.output);
  for (std::int64_t q = 0; q < work.plan.runs; q += kBatch) {
    const std::int64_t count = std::min(kBatch, work.plan.runs - q);
    mover.MoveWithin(begin, end, count, work.updates + q * work.plan.run * work.Bytes());
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
      if (ranges.count < std::min(split.tasks, kMaxRanges) && split.strips > 1)
        return scatter_strips(split.strips);
      if (ranges.count == 1) return ScatterRuns(work, 0, plan.run);
      return parallel.For(ranges.count, [&](std::size_t i) {
        ScatterRange(work, ranges.borders[i], ranges.borders[i + 1]);
      });
    }
  }
}

}  // namespace internal

}  // namespace scatterx
