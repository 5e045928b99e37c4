// f, the index tensor: reading it, and proving that every number in it is in bounds.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <type_traits>

#include "scatterx/cpu.h"
#include "scatterx/parallel.h"
#include "scatterx/picks.h"

namespace scatterx {

// f as int32 or int64 numbers, row-major, `columns.count` numbers a row.
struct Table {
  const void* values = nullptr;
  bool wide = true;   // int64, else int32
  bool kept = false;  // by places.h: uint32 if wide, else uint16

  std::int64_t Bytes() const { return (wide ? 8 : 4) / (kept ? 2 : 1); }  // of a number

  std::int64_t operator[](std::int64_t i) const {
    if (kept) {
      return wide ? static_cast<std::int64_t>(static_cast<const std::uint32_t*>(values)[i])
                  : static_cast<const std::uint16_t*>(values)[i];
    }
    return wide ? static_cast<const std::int64_t*>(values)[i]
                : static_cast<const std::int32_t*>(values)[i];
  }
};

// The flat place that a row of f names: sum of f[row, j] * stride_j, a negative number counting
// from the end.
inline std::int64_t Base(const Table& table, const Columns& columns, std::int64_t row) {
  const std::int64_t first = row * static_cast<std::int64_t>(columns.count);
  std::int64_t base = 0;
  for (std::size_t j = 0; j < columns.count; ++j) {
    std::int64_t value = table[first + static_cast<std::int64_t>(j)];
    value += value < 0 ? columns.at[j].size : 0;
    base += value * columns.at[j].stride;
  }
  return base;
}

namespace internal {

// -size <= value < size for every row of [begin, end)? This is true if and only if value + size and
// size - 1 - value are both not negative; if one of them overflows, the other is negative. So the
// sign bits are collected, without a comparison, and every compiler vectorizes this. `kCount` is
// the number of columns, or 0 for any number. If a size needs all bits of Int, the answer may be a
// wrong "no"; then the slow check decides.
template <class Int, std::size_t kCount>
SCATTERX_INLINE bool LookAtRows(const Int* values, const Columns& columns, std::int64_t begin,
                                std::int64_t end) {
  using Bits = std::make_unsigned_t<Int>;
  constexpr std::size_t kRows = kCount ? 4 : 1;  // at a time
  const std::size_t count = kCount ? kCount : columns.count, lanes = count * kRows;
  Bits sizes[kCount ? kCount * kRows : kMaxRank], signs[kCount ? kCount * kRows : kMaxRank] = {};
  for (std::size_t j = 0; j < lanes; ++j) sizes[j] = static_cast<Bits>(columns.at[j % count].size);
  const auto look = [&](std::size_t j, Int value) {
    signs[j] |= (static_cast<Bits>(value) + sizes[j]) | (sizes[j] - 1 - static_cast<Bits>(value));
  };
  const Int* row = values + begin * static_cast<std::int64_t>(count);
  const Int* stop = values + end * static_cast<std::int64_t>(count);
  for (; static_cast<std::size_t>(stop - row) >= lanes; row += lanes) {
    for (std::size_t j = 0; j < (kCount ? kCount * kRows : lanes); ++j) look(j, row[j]);
  }
  for (std::size_t j = 0; row + j < stop; ++j) look(j, row[j]);
  Bits any = 0;
  for (std::size_t j = 0; j < lanes; ++j) any |= signs[j];
  return any >> (sizeof(Bits) * 8 - 1) == 0;
}

template <class Int, std::size_t kCount>
SCATTERX_AVX2 bool LookAtRowsAvx2(const Int* values, const Columns& columns, std::int64_t begin,
                                  std::int64_t end) {
  return LookAtRows<Int, kCount>(values, columns, begin, end);
}

template <class Int, std::size_t kCount>
bool RowsAreInBounds(const Int* values, const Columns& columns, std::int64_t begin,
                     std::int64_t end) {
  return HasAvx2() ? LookAtRowsAvx2<Int, kCount>(values, columns, begin, end)
                   : LookAtRows<Int, kCount>(values, columns, begin, end);
}

template <class Int>
bool RowsAreInBounds(const void* values, const Columns& columns, std::int64_t begin,
                     std::int64_t end) {
  const Int* typed = static_cast<const Int*>(values);
  switch (columns.count) {
    case 1:
      return RowsAreInBounds<Int, 1>(typed, columns, begin, end);
    case 2:
      return RowsAreInBounds<Int, 2>(typed, columns, begin, end);
    case 3:
      return RowsAreInBounds<Int, 3>(typed, columns, begin, end);
    case 4:
      return RowsAreInBounds<Int, 4>(typed, columns, begin, end);
    default:
      return RowsAreInBounds<Int, 0>(typed, columns, begin, end);
  }
}

// Throws at the first update, in row-major order, whose target is out of bounds. Slow: one update
// at a time.
inline void CheckUpdatesOneByOne(const StridedIndexing& indexing, const Table& table) {
  Ints index(indexing.updates.size(), 0);
  do {
    std::int64_t row = 0;
    for (std::size_t d = 0; d < index.size(); ++d) row += index[d] * indexing.rows[d];
    for (std::size_t j = 0; j < indexing.columns.count; ++j) {
      const Column& column = indexing.columns.at[j];
      const std::int64_t value = table[row * static_cast<std::int64_t>(indexing.columns.count) +
                                       static_cast<std::int64_t>(j)];
      if (value >= -column.size && value < column.size) continue;
      throw InvalidArgument("update " + ToString(index) + " is out of bounds: component " +
                            std::to_string(j) + " of f is " + std::to_string(value) +
                            ", but axis " + std::to_string(column.axis) + " of data has size " +
                            std::to_string(column.size));
    }
  } while (Next(indexing.updates, index));
}

}  // namespace internal

// Throws InvalidArgument if the target of an update is out of bounds.
inline void CheckBounds(const StridedIndexing& indexing, const Table& table,
                        const Parallel& parallel) {
  if (indexing.update_count == 0 || indexing.columns.count == 0) return;
  if (!indexing.every_row_is_used) return internal::CheckUpdatesOneByOne(indexing, table);
  const std::size_t tasks =
      parallel.TasksFor(indexing.row_count * static_cast<std::int64_t>(indexing.columns.count * 8));
  std::atomic<bool> good{true};
  parallel.For(tasks, [&](std::size_t i) {
    const Part part = PartOf(indexing.row_count, i, tasks);
    const bool fits = table.wide ? internal::RowsAreInBounds<std::int64_t>(
                                       table.values, indexing.columns, part.begin, part.end)
                                 : internal::RowsAreInBounds<std::int32_t>(
                                       table.values, indexing.columns, part.begin, part.end);
    if (!fits) good.store(false, std::memory_order_relaxed);
  });
  if (!good.load(std::memory_order_relaxed)) internal::CheckUpdatesOneByOne(indexing, table);
}

}  // namespace scatterx
