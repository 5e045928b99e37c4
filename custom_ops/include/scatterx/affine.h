// Tables that count: every number of f is start + sum of i_d * step_d at row (i_0, i_1, ...), as
// exporters write a box. Then the nest says it all, and two corners prove that f is in bounds.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <type_traits>

#include "scatterx/cpu.h"
#include "scatterx/parallel.h"
#include "scatterx/picks.h"
#include "scatterx/table.h"

namespace scatterx {

// The numbers of f by row: column j is start[j] + sum of i_d * step[d][j].
struct Affine {
  std::int64_t start[kMaxRank];
  std::int64_t step[kMaxRank][kMaxRank];
};

namespace internal {

// The only candidate: what the first row says, and the first after it along each dim. Nothing where
// its corners leave an axis, or count from the front here and from the end there.
inline bool GuessAffine(const Nest& nest, const Table& table, Affine& guess) {
  const std::size_t count = nest.columns.count, rank = nest.table.size() - 1;
  for (std::size_t j = 0; j < count; ++j) {
    const std::int64_t size = nest.columns.at[j].size;
    const auto fits = [size](std::int64_t value) { return value >= -size && value < size; };
    const std::int64_t start = table[static_cast<std::int64_t>(j)];
    if (!fits(start)) return false;
    std::int64_t low = start, high = start, rows = 1;
    for (std::size_t d = rank; d-- > 0; rows *= nest.table[d]) {
      guess.step[d][j] = 0;
      if (nest.table[d] == 1) continue;
      const std::int64_t next =
          table[rows * static_cast<std::int64_t>(count) + static_cast<std::int64_t>(j)];
      if (!fits(next)) return false;
      const std::int64_t step = guess.step[d][j] = next - start;
      std::int64_t reach = 0;
      if (__builtin_mul_overflow(step, nest.table[d] - 1, &reach) ||
          __builtin_add_overflow(step < 0 ? low : high, reach, step < 0 ? &low : &high)) {
        return false;
      }
    }
    if (!fits(low) || !fits(high) || (low < 0) != (high < 0)) return false;
    if (!table.wide && (low < INT32_MIN || high > INT32_MAX)) return false;
    guess.start[j] = start;
  }
  return true;
}

// Is number j of row i of a line first[j] + i * step[j]? The sums are known to fit into an Int.
template <class Int, std::size_t kCount>
SCATTERX_INLINE bool LineIsAffine(const Int* values, std::size_t columns, std::int64_t rows,
                                  const std::int64_t* first, const std::int64_t* step) {
  using Bits = std::make_unsigned_t<Int>;
  constexpr std::size_t kRows = kCount ? 4 : 1;  // at a time
  const std::size_t count = kCount ? kCount : columns, lanes = count * kRows;
  Bits expected[kCount ? kCount * kRows : kMaxRank], ahead[kCount ? kCount * kRows : kMaxRank];
  Bits differences[kCount ? kCount * kRows : kMaxRank] = {};
  for (std::size_t k = 0; k < lanes; ++k) {
    const auto one = static_cast<Bits>(step[k % count]);
    expected[k] = static_cast<Bits>(first[k % count]) + static_cast<Bits>(k / count) * one;
    ahead[k] = static_cast<Bits>(kRows) * one;
  }
  const Int* stop = values + rows * static_cast<std::int64_t>(count);
  for (; static_cast<std::size_t>(stop - values) >= lanes; values += lanes) {
    for (std::size_t k = 0; k < (kCount ? kCount * kRows : lanes); ++k) {
      differences[k] |= static_cast<Bits>(values[k]) ^ expected[k];
      expected[k] += ahead[k];
    }
  }
  for (std::size_t k = 0; values + k < stop; ++k)
    differences[k] |= static_cast<Bits>(values[k]) ^ expected[k];
  Bits any = 0;
  for (std::size_t k = 0; k < lanes; ++k) any |= differences[k];
  return any == 0;
}

template <class Int, std::size_t kCount>
SCATTERX_AVX2 bool LineIsAffineAvx2(const Int* values, std::size_t columns, std::int64_t rows,
                                    const std::int64_t* first, const std::int64_t* step) {
  return LineIsAffine<Int, kCount>(values, columns, rows, first, step);
}

template <class Int>
bool LineIsAffine(const void* table, std::size_t columns, std::int64_t row, std::int64_t rows,
                  const std::int64_t* first, const std::int64_t* step) {
  const auto* values = static_cast<const Int*>(table) + row * static_cast<std::int64_t>(columns);
  const auto look = [&](auto count) {
    constexpr std::size_t kCount = decltype(count)::value;
    return HasAvx2() ? LineIsAffineAvx2<Int, kCount>(values, columns, rows, first, step)
                     : LineIsAffine<Int, kCount>(values, columns, rows, first, step);
  };
  switch (columns) {
    case 1:
      return look(std::integral_constant<std::size_t, 1>());
    case 2:
      return look(std::integral_constant<std::size_t, 2>());
    case 3:
      return look(std::integral_constant<std::size_t, 3>());
    case 4:
      return look(std::integral_constant<std::size_t, 4>());
    default:
      return look(std::integral_constant<std::size_t, 0>());
  }
}

// Are rows [begin, end) of f as guessed?
inline bool RowsAreAffine(const Nest& nest, const Table& table, const Affine& guess,
                          std::int64_t begin, std::int64_t end) {
  const std::size_t count = nest.columns.count, rank = nest.table.size() - 1;
  constexpr std::int64_t kNone[kMaxRank] = {};
  const std::int64_t line = rank > 0 ? nest.table[rank - 1] : 1;
  const std::int64_t* step = rank > 0 ? guess.step[rank - 1] : kNone;
  for (std::int64_t row = begin; row < end;) {
    const std::int64_t rows = std::min(line - row % line, end - row);
    std::int64_t first[kMaxRank], rest = row;
    std::copy(guess.start, guess.start + count, first);
    for (std::size_t d = rank; d-- > 0; rest /= nest.table[d]) {
      for (std::size_t j = 0; j < count; ++j)
        first[j] += rest % nest.table[d] * guess.step[d][j];
    }
    const bool same =
        table.wide ? LineIsAffine<std::int64_t>(table.values, count, row, rows, first, step)
                   : LineIsAffine<std::int32_t>(table.values, count, row, rows, first, step);
    if (!same) return false;
    row += rows;
  }
  return true;
}

}  // namespace internal

// Does f count, in bounds? A table that does not mostly shows it in the first rows.
inline bool FindAffine(const Nest& nest, const Table& table, const Parallel& parallel,
                       Affine& affine) {
  constexpr std::int64_t kFew = 64;
  if (!internal::GuessAffine(nest, table, affine)) return false;
  const std::int64_t few = std::min(nest.row_count, kFew);
  if (!internal::RowsAreAffine(nest, table, affine, 0, few)) return false;
  const std::size_t tasks = parallel.TasksFor(
      nest.row_count * static_cast<std::int64_t>(nest.columns.count) * (table.wide ? 8 : 4));
  std::atomic<bool> agree{true};
  parallel.For(tasks, [&](std::size_t i) {
    const Part part = PartOf(nest.row_count - few, i, tasks);
    if (!internal::RowsAreAffine(nest, table, affine, few + part.begin, few + part.end))
      agree.store(false, std::memory_order_relaxed);
  });
  return agree.load(std::memory_order_relaxed);
}

}  // namespace scatterx
