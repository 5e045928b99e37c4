// The equation, one update at a time; it shares only the shapes with the kernel. Also a pool of
// threads.
#pragma once

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include "scatterx/parallel.h"
#include "scatterx/picks.h"

namespace naive {

using scatterx::Ints;

inline std::int64_t Flat(const std::vector<std::int64_t>& index, const Ints& shape) {
  std::int64_t flat = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) flat = flat * shape[i] + index[i];
  return flat;
}

inline std::vector<std::int64_t> Unflat(std::int64_t flat, const Ints& shape) {
  std::vector<std::int64_t> index(shape.size());
  for (std::size_t i = shape.size(); i-- > 0; flat /= shape[i]) index[i] = flat % shape[i];
  return index;
}

// J as a flat place for every update in row-major order, or nullopt if one is out of bounds.
inline std::optional<std::vector<std::int64_t>> Targets(const scatterx::Picks& picks,
                                                        const Ints& data, const Ints& updates,
                                                        const Ints& table_shape,
                                                        const std::vector<std::int64_t>& table) {
  std::vector<std::int64_t> targets;
  std::int64_t count = 1;
  for (const std::int64_t n : updates) count *= n;
  const std::int64_t columns = table_shape[table_shape.size() - 1];
  for (std::int64_t u = 0; u < count; ++u) {
    const auto update = Unflat(u, updates);
    std::vector<std::int64_t> place;
    for (const std::int64_t dim : picks.p1) place.push_back(update[dim]);
    place.push_back(0);
    std::vector<std::int64_t> coordinates;
    for (std::int64_t j = 0; j < columns; ++j) {
      place.back() = j;
      coordinates.push_back(table[Flat(place, table_shape)]);
    }
    for (const std::int64_t dim : picks.p2) coordinates.push_back(update[dim]);
    std::vector<std::int64_t> target;
    for (std::size_t axis = 0; axis < data.size(); ++axis) {
      std::int64_t value = coordinates[picks.p[axis]];
      if (value < -data[axis] || value >= data[axis]) return std::nullopt;
      target.push_back(value < 0 ? value + data[axis] : value);
    }
    targets.push_back(Flat(target, data));
  }
  return targets;
}

// New threads for every call: slow, and as parallel as possible.
inline scatterx::Parallel Threads(std::size_t workers) {
  scatterx::Parallel parallel;
  parallel.workers = workers;
  parallel.grain = 1;
  parallel.run = [](void*, scatterx::Parallel::Task task, void* state, std::size_t count) {
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < count; ++i) threads.emplace_back(task, state, i);
    for (std::thread& thread : threads) thread.join();
  };
  return parallel;
}

}  // namespace naive
