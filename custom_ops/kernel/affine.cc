#include "scatterx/affine.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <type_traits>

#include "scatterx/cpu.h"

namespace scatterx {

namespace {

// The only candidate, from the first row and the next one along each dim. Returns false if a corner
// is out of bounds, or if one corner counts from the start and another from the end.
bool GuessAffine(const StridedIndexing& indexing, const Table& table, Affine& guess) {
  const std::size_t count = indexing.columns.count, rank = indexing.table.size() - 1;
  for (std::size_t j = 0; j < count; ++j) {
    const std::int64_t size = indexing.columns.at[j].size;
    const auto fits = [size](std::int64_t value) { return value >= -size && value < size; };
    const std::int64_t start = table[static_cast<std::int64_t>(j)];
    if (!fits(start)) return false;
    std::int64_t low = start, high = start, rows = 1;
    for (std::size_t d = rank; d-- > 0; rows *= indexing.table[d]) {
      guess.step[d][j] = 0;
      if (indexing.table[d] == 1) continue;
      const std::int64_t next =
          table[rows * static_cast<std::int64_t>(count) + static_cast<std::int64_t>(j)];
      if (!fits(next)) return false;
      const std::int64_t step = guess.step[d][j] = next - start;
      std::int64_t reach = 0;
      if (__builtin_mul_overflow(step, indexing.table[d] - 1, &reach) ||
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

// Do rows [begin, end) of f equal the candidate? A few rows at a time are compared, number by
// number, within a line: rows that differ in the last dim only. `kCount` is the number of columns,
// or 0 for any number. The sums are known to fit into an Int.
template <class Int, std::size_t kCount>
SCATTERX_INLINE bool LinesAreAffine(const Int* values, const StridedIndexing& indexing,
                                    const Affine& guess, std::int64_t begin, std::int64_t end) {
  using Bits = std::make_unsigned_t<Int>;
  constexpr std::size_t kRows = kCount ? 4 : 1, kMost = kCount ? kCount * kRows : kMaxRank;
  const std::size_t count = kCount ? kCount : indexing.columns.count, lanes = count * kRows;
  const std::size_t rank = indexing.table.size() - 1;
  const std::int64_t length = rank > 0 ? indexing.table[rank - 1] : 1;
  Bits offset[kMost], ahead[kMost], expected[kMost], differences[kMost] = {};
  for (std::size_t k = 0; k < lanes; ++k) {
    const auto step = static_cast<Bits>(rank > 0 ? guess.step[rank - 1][k % count] : 0);
    offset[k] = static_cast<Bits>(k / count) * step;
    ahead[k] = static_cast<Bits>(kRows) * step;
  }
  const Int* value = values + begin * static_cast<std::int64_t>(count);
  for (std::int64_t row = begin; row < end;) {
    const std::int64_t rows = std::min(length - row % length, end - row);
    Bits first[kMaxRank];
    for (std::size_t j = 0; j < count; ++j) first[j] = static_cast<Bits>(guess.start[j]);
    std::int64_t rest = row;
    for (std::size_t d = rank; d-- > 0 && rest > 0; rest /= indexing.table[d]) {
      const auto at = static_cast<Bits>(rest % indexing.table[d]);
      for (std::size_t j = 0; j < count; ++j) first[j] += at * static_cast<Bits>(guess.step[d][j]);
    }
    for (std::size_t k = 0; k < lanes; ++k) expected[k] = first[k % count] + offset[k];
    const Int* stop = value + rows * static_cast<std::int64_t>(count);
    for (; static_cast<std::size_t>(stop - value) >= lanes; value += lanes) {
      for (std::size_t k = 0; k < (kCount ? kMost : lanes); ++k) {
        differences[k] |= static_cast<Bits>(value[k]) ^ expected[k];
        expected[k] += ahead[k];
      }
    }
    for (std::size_t k = 0; value < stop; ++k, ++value)
      differences[k] |= static_cast<Bits>(*value) ^ expected[k];
    row += rows;
  }
  Bits any = 0;
  for (std::size_t k = 0; k < lanes; ++k) any |= differences[k];
  return any == 0;
}

template <class Int, std::size_t kCount>
SCATTERX_AVX2 bool LinesAreAffineAvx2(const Int* values, const StridedIndexing& indexing,
                                      const Affine& guess, std::int64_t begin, std::int64_t end) {
  return LinesAreAffine<Int, kCount>(values, indexing, guess, begin, end);
}

template <class Int>
bool LinesAreAffine(const void* table, const StridedIndexing& indexing, const Affine& guess,
                    std::int64_t begin, std::int64_t end) {
  const auto look = [&](auto count) {
    constexpr std::size_t kCount = decltype(count)::value;
    const auto* values = static_cast<const Int*>(table);
    return HasAvx2() ? LinesAreAffineAvx2<Int, kCount>(values, indexing, guess, begin, end)
                     : LinesAreAffine<Int, kCount>(values, indexing, guess, begin, end);
  };
  switch (indexing.columns.count) {
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

bool RowsAreAffine(const StridedIndexing& indexing, const Table& table, const Affine& guess,
                   std::int64_t begin, std::int64_t end) {
  constexpr std::int64_t kAtOnce = 4096;  // a table that is not affine is not read to its end
  for (; begin < end; begin += kAtOnce) {
    const std::int64_t stop = std::min(begin + kAtOnce, end);
    if (!(table.wide ? LinesAreAffine<std::int64_t>(table.values, indexing, guess, begin, stop)
                     : LinesAreAffine<std::int32_t>(table.values, indexing, guess, begin, stop)))
      return false;
  }
  return true;
}

}  // namespace

bool FindAffine(const StridedIndexing& indexing, const Table& table, const Parallel& parallel,
                Affine& affine) {
  constexpr std::int64_t kFew = 64;
  if (!GuessAffine(indexing, table, affine)) return false;
  const std::int64_t few = std::min(indexing.row_count, kFew);
  if (!RowsAreAffine(indexing, table, affine, 0, few)) return false;
  const std::size_t tasks = parallel.TasksFor(
      indexing.row_count * static_cast<std::int64_t>(indexing.columns.count) * table.Bytes());
  std::atomic<bool> agree{true};
  parallel.For(tasks, [&](std::size_t i) {
    const Part part = PartOf(indexing.row_count - few, i, tasks);
    if (!RowsAreAffine(indexing, table, affine, few + part.begin, few + part.end))
      agree.store(false, std::memory_order_relaxed);
  });
  return agree.load(std::memory_order_relaxed);
}

}  // namespace scatterx
