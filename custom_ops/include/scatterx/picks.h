// The x-transformer of a ScatterX node, checked against its shapes.
//
//     J = p( f[p1(I)] ++ p2(I) )
//
// In flat, row-major terms the update I is written to the element of data
//
//     sum of I_d * target_d  +  base(row),    row = sum of I_d * row_d,
//     base(row) = sum of f[row, j] * column_j.stride
//
// where target_d collects the strides of the data axes that p2 gives to dim d. `StridedIndexing`
// holds these numbers.
#pragma once

#include <cstdint>
#include <string>

#include "scatterx/shape.h"

namespace scatterx {

struct Picks {
  Ints p1, p2, p;

  friend bool operator==(const Picks& a, const Picks& b) {
    return a.p1 == b.p1 && a.p2 == b.p2 && a.p == b.p;
  }
};

// A number of f: it names a place on one axis of data.
struct Column {
  std::int64_t size = 0;    // of the axis
  std::int64_t stride = 0;  // of the axis, in elements of data
  std::int64_t axis = 0;
};

struct Columns {
  Column at[kMaxRank];
  std::size_t count = 0;
};

struct StridedIndexing {
  Ints data, updates, table;  // shapes
  Picks picks;
  Ints targets;     // per update dim: elements of data per step
  Ints rows;        // per update dim: rows of f per step
  Columns columns;  // of f
  std::int64_t data_count = 0, update_count = 0;
  std::int64_t row_count = 0;      // of f; 0 if f has no columns
  bool every_row_is_used = false;  // by some update
};

namespace internal {

inline void CheckPick(const char* name, const Ints& pick, std::size_t rank) {
  for (const std::int64_t dim : pick) {
    if (dim < 0 || dim >= static_cast<std::int64_t>(rank)) {
      throw InvalidArgument(std::string(name) + " = " + ToString(pick) + " picks dim " +
                            std::to_string(dim) + ", but updates has rank " + std::to_string(rank));
    }
  }
}

inline void CheckPermutation(const Ints& p, std::size_t rank) {
  Ints seen(rank, 0);
  bool fits = p.size() == rank;
  for (std::size_t i = 0; fits && i < rank; ++i) {
    fits = p[i] >= 0 && p[i] < static_cast<std::int64_t>(rank) && seen[p[i]]++ == 0;
  }
  if (!fits) {
    throw InvalidArgument("p = " + ToString(p) + " is not a permutation of the " +
                          std::to_string(rank) + " axes of data");
  }
}

inline bool HasRepeats(const Ints& pick) {
  for (std::size_t i = 0; i < pick.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (pick[i] == pick[j]) return true;
    }
  }
  return false;
}

}  // namespace internal

// Throws InvalidArgument if picks and shapes do not fit together: p must be a permutation of data's
// axes, f of shape updates.shape[p1] + (rank(data) - len(p2),), and a dim that p2 puts on an axis
// at most as long as that axis. A dim of size 1 takes no steps. So the added strides belong to
// different dims of at least 2, and a sum of them is at most the number of elements.
inline StridedIndexing MakeStridedIndexing(const Picks& picks, const Ints& data,
                                           const Ints& updates, const Ints& table) {
  StridedIndexing indexing;
  indexing.data = data;
  indexing.updates = updates;
  indexing.table = table;
  indexing.picks = picks;
  internal::CheckPick("p1", picks.p1, updates.size());
  internal::CheckPick("p2", picks.p2, updates.size());
  internal::CheckPermutation(picks.p, data.size());
  if (picks.p2.size() > data.size()) {
    throw InvalidArgument("p2 = " + ToString(picks.p2) + " is longer than the rank of data, " +
                          std::to_string(data.size()));
  }
  const std::size_t columns = data.size() - picks.p2.size();
  Ints expected;
  for (const std::int64_t dim : picks.p1) expected.push_back(updates[dim]);
  expected.push_back(static_cast<std::int64_t>(columns));
  if (table != expected) {
    throw InvalidArgument("f has shape " + ToString(table) + ", but updates of shape " +
                          ToString(updates) + " and p1 = " + ToString(picks.p1) + " need " +
                          ToString(expected));
  }
  indexing.data_count = Count(data);
  indexing.update_count = Count(updates);
  indexing.targets = Ints(updates.size(), 0);
  indexing.rows = Ints(updates.size(), 0);
  indexing.columns.count = columns;
  if (indexing.update_count == 0) return indexing;  // without updates, no target is out of bounds

  // If data is empty, strides are 0, and every update is out of bounds.
  const Ints strides = indexing.data_count == 0 ? Ints(data.size(), 0) : RowMajorStrides(data);
  for (std::size_t axis = 0; axis < data.size(); ++axis) {
    const std::size_t source = static_cast<std::size_t>(picks.p[axis]);
    if (source < columns) {
      indexing.columns.at[source] = {data[axis], strides[axis], static_cast<std::int64_t>(axis)};
      continue;
    }
    const std::int64_t dim = picks.p2[source - columns];
    if (updates[dim] > data[axis]) {
      throw InvalidArgument("updates of shape " + ToString(updates) + " have size " +
                            std::to_string(updates[dim]) + " in dim " + std::to_string(dim) +
                            ", which p2 puts on axis " + std::to_string(axis) +
                            " of data, of size " + std::to_string(data[axis]));
    }
    if (data[axis] > 1) indexing.targets[dim] += strides[axis];
  }
  indexing.every_row_is_used = !internal::HasRepeats(picks.p1);
  if (columns == 0) return indexing;  // f has no columns
  indexing.row_count = Count(table) / static_cast<std::int64_t>(columns);
  std::int64_t stride = 1;
  for (std::size_t i = picks.p1.size(); i-- > 0; stride *= table[i]) {
    if (table[i] > 1) indexing.rows[picks.p1[i]] += stride;
  }
  return indexing;
}

}  // namespace scatterx
