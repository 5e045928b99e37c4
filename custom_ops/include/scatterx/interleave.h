// Copying and scattering in one pass, for reduction none. Runs lie on a grid: they start `pitch`
// elements apart, or a multiple of it. First the last writer of every place on the grid is found;
// then the output is made of stretches of data and of updates, front to back, and every byte of it
// is written once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>

#include "scatterx/copy.h"
#include "scatterx/plan.h"
#include "scatterx/walk.h"

namespace scatterx {

// Place i is elements [first + i * pitch, first + i * pitch + run), i < count.
struct Grid {
  std::int64_t first, pitch, count;
};

// The grid of a plan, if its runs are long enough and cover enough of data for one pass to be
// faster. A processor copies one long stretch in half of the time that many short ones take. So if
// the stretches between the runs are short, all data are copied first, and then the runs.
inline std::optional<Grid> GridOf(const Plan& plan, std::int64_t element_bytes) {
  constexpr std::int64_t kShortest = 4096, kLeastShare = 16;
  if (plan.runs == 0 || plan.run * element_bytes < kShortest || plan.runs > 0x7fffffff)
    return std::nullopt;
  if (plan.runs < plan.data_count / plan.run / kLeastShare) return std::nullopt;
  std::int64_t pitch = 0;
  for (std::size_t d = 0; d < plan.rank; ++d) pitch = std::gcd(pitch, plan.dims[d].target);
  for (std::size_t j = 0; j < plan.columns.count; ++j)
    pitch = std::gcd(pitch, plan.columns.at[j].stride);
  if (pitch == 0) pitch = plan.data_count;  // a single place
  if (pitch < plan.run) return std::nullopt;
  const std::int64_t first = plan.start % pitch;
  return Grid{first, pitch, (plan.data_count - first - plan.run) / pitch + 1};
}

namespace internal {

// Moves stretches, put together where they follow each other on both sides. The next few wait in a
// queue while their sources are fetched: they jump about, and the processor cannot guess where to.
class CopyQueue {
 public:
  explicit CopyQueue(bool past_caches) : past_caches_(past_caches) {}

  void Add(char* to, const char* from, std::int64_t bytes) {
    if (to == last_.to + last_.bytes && from == last_.from + last_.bytes) {
      last_.bytes += bytes;
      return;
    }
    Push();
    last_ = {to, from, bytes};
  }
  void Finish() {
    Push();
    for (std::size_t i = 0; i < kQueue; ++i) Move(queue_[next_++ % kQueue]);
    if (past_caches_) FinishStreaming();
  }

 private:
  struct Stretch {
    char* to = nullptr;
    const char* from = nullptr;
    std::int64_t bytes = 0;
  };
  static constexpr std::size_t kQueue = 4;

  void Push() {
    constexpr std::int64_t kFetch = 8192, kLine = 64;
    for (std::int64_t i = 0; i < last_.bytes && i < kFetch; i += kLine)
      __builtin_prefetch(last_.from + i);
    Stretch& oldest = queue_[next_++ % kQueue];
    Move(oldest);
    oldest = last_;
  }
  void Move(Stretch& stretch) const {
    if (stretch.bytes == 0) return;
    if (past_caches_) {
      Stream(stretch.to, stretch.from, stretch.bytes);
    } else {
      CopyBytes(stretch.to, stretch.from, stretch.bytes);
    }
    stretch.bytes = 0;
  }

  Stretch last_, queue_[kQueue];
  std::size_t next_ = 0;
  bool past_caches_;
};

inline constexpr std::int32_t kNobody = -1;

// The number of the last run that goes to each place.
inline std::unique_ptr<std::int32_t[]> FindWriters(const Plan& plan, const Table& table,
                                                   const Grid& grid) {
  constexpr std::int64_t kBatch = 256;
  std::unique_ptr<std::int32_t[]> writers(new std::int32_t[static_cast<std::size_t>(grid.count)]);
  std::fill_n(writers.get(), grid.count, kNobody);
  Walk walk(plan, table);
  std::int64_t targets[kBatch];
  for (std::int64_t q = 0; q < plan.runs; q += kBatch) {
    const std::int64_t count = std::min(kBatch, plan.runs - q);
    walk.Take(count, targets);
    for (std::int64_t i = 0; i < count; ++i) {
      writers[static_cast<std::size_t>((targets[i] - grid.first) / grid.pitch)] =
          static_cast<std::int32_t>(q + i);
    }
  }
  return writers;
}

}  // namespace internal

inline void Interleave(const Plan& plan, const Table& table, const Grid& grid, std::int64_t size,
                       const char* data, const char* updates, char* output,
                       const Parallel& parallel) {
  const auto writers = internal::FindWriters(plan, table, grid);
  const std::int64_t bytes = plan.data_count * size, line = std::max<std::int64_t>(1, 64 / size);
  const std::size_t tasks = parallel.PiecesFor(bytes);
  parallel.For(tasks, [&](std::size_t i) {
    const Part lines = PartOf((plan.data_count + line - 1) / line, i, tasks);
    const std::int64_t end = std::min(lines.end * line, plan.data_count);
    std::int64_t done = std::min(lines.begin * line, plan.data_count);
    internal::CopyQueue stretches(bytes >= kBytesPastCaches);
    const auto take_data = [&](std::int64_t stop) {
      if (stop <= done) return;
      stretches.Add(output + done * size, data + done * size, (stop - done) * size);
      done = stop;
    };
    for (std::int64_t place = done <= grid.first ? 0 : (done - grid.first) / grid.pitch;
         place < grid.count && done < end; ++place) {
      const std::int64_t writer = writers[static_cast<std::size_t>(place)];
      const std::int64_t begin = grid.first + place * grid.pitch;
      const std::int64_t stop = std::min(begin + plan.run, end);
      if (writer == internal::kNobody || stop <= done) continue;
      if (begin >= end) break;
      take_data(begin);
      stretches.Add(output + done * size, updates + (writer * plan.run + done - begin) * size,
                    (stop - done) * size);
      done = stop;
    }
    take_data(end);
    stretches.Finish();
  });
}

}  // namespace scatterx
