// Copying and scattering in one pass: where the runs ascend, the output is made of stretches of data and of updates
// that take turns, and every byte of it is written once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "scatterx/copy.h"
#include "scatterx/plan.h"
#include "scatterx/walk.h"

namespace scatterx {

namespace internal {

// Every run of a table starts at or behind the end of the one before.
inline bool TableAscends(const Plan& plan, const Table& table) {
  constexpr std::int64_t kBatch = 256;
  std::int64_t targets[kBatch], end = 0;
  Walk walk(plan, table);
  for (std::int64_t q = 0; q < plan.runs; q += kBatch) {
    const std::int64_t count = std::min(kBatch, plan.runs - q);
    walk.Take(count, targets);
    for (std::int64_t i = 0; i < count; ++i) {
      if (targets[i] < end) return false;
      end = targets[i] + plan.run;
    }
  }
  return true;
}

// Puts stretches together that follow each other on both sides.
class Stretches {
 public:
  void Add(char* to, const char* from, std::int64_t bytes) {
    if (to == to_ + bytes_ && from == from_ + bytes_) {
      bytes_ += bytes;
      return;
    }
    Flush();
    to_ = to;
    from_ = from;
    bytes_ = bytes;
  }
  void Flush() {
    if (bytes_ > 0) std::memcpy(to_, from_, static_cast<std::size_t>(bytes_));
    bytes_ = 0;
  }

 private:
  char* to_ = nullptr;
  const char* from_ = nullptr;
  std::int64_t bytes_ = 0;
};

// Makes elements [begin, end) of the output.
inline void InterleavePart(const Plan& plan, const Table& table, std::int64_t size,
                           const char* data, const char* updates, char* output, std::int64_t begin,
                           std::int64_t end) {
  Walk walk(plan, table);
  std::int64_t low = 0, high = plan.runs;  // the first run that ends behind `begin`
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (walk.At(middle) + plan.run > begin) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  constexpr std::int64_t kBatch = 256;
  std::int64_t targets[kBatch], done = begin;
  Stretches stretches;
  if (low < plan.runs) walk.Seek(low);
  for (std::int64_t q = low; q < plan.runs && done < end; q += kBatch) {
    const std::int64_t count = std::min(kBatch, plan.runs - q);
    walk.Take(count, targets);
    for (std::int64_t i = 0; i < count && targets[i] < end; ++i) {
      if (targets[i] > done) {
        stretches.Add(output + done * size, data + done * size, (targets[i] - done) * size);
        done = targets[i];
      }
      const std::int64_t stop = std::min(targets[i] + plan.run, end);
      const std::int64_t source = (q + i) * plan.run + done - targets[i];
      stretches.Add(output + done * size, updates + source * size, (stop - done) * size);
      done = stop;
    }
    if (targets[count - 1] >= end) break;
  }
  if (done < end) stretches.Add(output + done * size, data + done * size, (end - done) * size);
  stretches.Flush();
}

}  // namespace internal

// The stretches are long enough, and the updates cover enough of data for its copy to be worth saving.
inline bool IsWorthInterleaving(const Plan& plan, const Table& table, std::int64_t size) {
  constexpr std::int64_t kShortest = 256;
  if (plan.runs == 0 || plan.run * size < kShortest) return false;
  if (plan.runs > plan.data_count / plan.run || plan.runs * plan.run < plan.data_count / 16) return false;
  return plan.ascending || internal::TableAscends(plan, table);
}

inline void Interleave(const Plan& plan, const Table& table, std::int64_t size, const char* data,
                       const char* updates, char* output, const Parallel& parallel) {
  const std::size_t tasks = parallel.TasksFor(plan.data_count * size);
  const std::int64_t line = std::max<std::int64_t>(1, 64 / size);
  parallel.For(tasks, [&](std::size_t i) {
    const Part lines = PartOf((plan.data_count + line - 1) / line, i, tasks);
    internal::InterleavePart(plan, table, size, data, updates, output,
                             std::min(lines.begin * line, plan.data_count),
                             std::min(lines.end * line, plan.data_count));
  });
}

}  // namespace scatterx
