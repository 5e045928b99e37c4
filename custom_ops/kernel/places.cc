#include "scatterx/places.h"

#include <atomic>
#include <limits>
#include <numeric>
#include <type_traits>

#include "scatterx/copy.h"
#include "scatterx/cpu.h"

namespace scatterx {

namespace {

// Bounds are checked as in LookAtRows, and place = sum of number_j * stride_j / unit. All sizes fit
// in 31 bits, so the lower half of a number in bounds is enough for that. The numbers of a few rows
// are multiplied one after another, and then added by rows: loops of this form become vectors for
// every number of columns.
template <class Int, class Place, std::size_t kCount>
SCATTERX_INLINE bool KeepRows(const Int* values, const Columns& columns, std::int64_t unit,
                              std::int64_t begin, std::int64_t end, Place* places) {
  using Bits = std::make_unsigned_t<Int>;
  constexpr std::size_t kRows = 64, kLanes = 4 * kCount, kNumbers = kRows * kCount;
  // The processor reads ahead less than memory could give, and more if it reads several streams.
  constexpr std::int64_t kStreams = 3;
  constexpr std::ptrdiff_t kAhead = 2048 / sizeof(Int), kLine = 64 / sizeof(Int);
  Bits sizes[kLanes], signs[kLanes] = {};
  std::int32_t wraps[kLanes];
  std::uint32_t steps[kLanes];
  alignas(32) std::uint32_t parts[kNumbers];
  for (std::size_t k = 0; k < kLanes; ++k) {
    const Column& column = columns.at[k % kCount];
    sizes[k] = static_cast<Bits>(column.size);
    wraps[k] = static_cast<std::int32_t>(column.size);
    steps[k] = static_cast<std::uint32_t>(column.stride / unit);
  }
  const auto part = [&](std::size_t k, Int number) __attribute__((always_inline)) {
    const auto value = static_cast<Bits>(number);
    signs[k] |= (value + sizes[k]) | (sizes[k] - 1 - value);
    const auto low = static_cast<std::int32_t>(value);
    const auto wrapped = static_cast<std::uint32_t>(low + (wraps[k] & (low >> 31)));
    return kCount == 1 ? wrapped : wrapped * steps[k];
  };
  const auto place = [&](std::size_t i) __attribute__((always_inline)) {
    std::uint32_t sum = 0;
    for (std::size_t j = 0; j < kCount; ++j) sum += parts[i * kCount + j];
    return static_cast<Place>(sum);
  };
  const Int* const stop = values + end * static_cast<std::ptrdiff_t>(kCount);
  const auto keep = [&](std::int64_t first) __attribute__((always_inline)) {
    const Int* row = values + first * static_cast<std::ptrdiff_t>(kCount);
    if (stop - row >= kAhead + static_cast<std::ptrdiff_t>(kNumbers)) {
      for (std::ptrdiff_t i = 0; i < static_cast<std::ptrdiff_t>(kNumbers); i += kLine)
        __builtin_prefetch(row + kAhead + i);
    }
    for (std::size_t i = 0; i < kNumbers; i += kLanes) {
      for (std::size_t k = 0; k < kLanes; ++k) parts[i + k] = part(k, row[i + k]);
    }
    for (std::size_t i = 0; i < kRows; ++i) places[first + static_cast<std::int64_t>(i)] = place(i);
  };
  const std::int64_t pieces = (end - begin) / kRows / kStreams;
  for (std::int64_t i = 0; i < pieces; ++i) {
    for (std::int64_t k = 0; k < kStreams; ++k) keep(begin + (k * pieces + i) * kRows);
  }
  std::int64_t done = begin + kStreams * pieces * kRows;
  for (; done + static_cast<std::int64_t>(kRows) <= end; done += kRows) keep(done);
  const Int* row = values + done * static_cast<std::ptrdiff_t>(kCount);
  const auto rest = static_cast<std::size_t>(stop - row);
  for (std::size_t i = 0; i < rest; ++i) parts[i] = part(i % kLanes, row[i]);
  for (std::size_t i = 0; i < rest / kCount; ++i)
    places[done + static_cast<std::int64_t>(i)] = place(i);
  Bits any = 0;
  for (std::size_t k = 0; k < kLanes; ++k) any |= signs[k];
  return any >> (sizeof(Bits) * 8 - 1) == 0;
}

template <class Int, class Place, std::size_t kCount>
SCATTERX_AVX2 bool KeepRowsAvx2(const Int* values, const Columns& columns, std::int64_t unit,
                                std::int64_t begin, std::int64_t end, Place* places) {
  return KeepRows<Int, Place, kCount>(values, columns, unit, begin, end, places);
}

template <class Int, class Place>
bool KeepRows(const StridedIndexing& indexing, const Table& table, std::int64_t unit, Part part,
              Place* places) {
  const auto keep = [&](auto count) {
    constexpr std::size_t kCount = decltype(count)::value;
    const auto* values = static_cast<const Int*>(table.values);
    return HasAvx2() ? KeepRowsAvx2<Int, Place, kCount>(values, indexing.columns, unit, part.begin,
                                                        part.end, places)
                     : KeepRows<Int, Place, kCount>(values, indexing.columns, unit, part.begin,
                                                    part.end, places);
  };
  switch (indexing.columns.count) {
    case 1:
      return keep(std::integral_constant<std::size_t, 1>());
    case 2:
      return keep(std::integral_constant<std::size_t, 2>());
    default:
      return keep(std::integral_constant<std::size_t, 3>());
  }
}

}  // namespace

std::optional<Places> OutlinePlaces(const StridedIndexing& indexing) {
  constexpr std::size_t kMostColumns = 3;
  const Columns& columns = indexing.columns;
  if (!indexing.every_row_is_used || indexing.data_count == 0 || columns.count > kMostColumns)
    return std::nullopt;
  Places places;
  for (std::size_t j = 0; j < columns.count; ++j) {
    if (columns.at[j].size > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
    places.unit = std::gcd(places.unit, columns.at[j].stride);
  }
  if (places.unit == 0) return std::nullopt;
  for (std::size_t j = 0; j < columns.count; ++j)
    places.most += (columns.at[j].size - 1) * (columns.at[j].stride / places.unit);
  if (places.most > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  places.table = {nullptr, places.most > std::numeric_limits<std::uint16_t>::max(), true};
  return places;
}

void KeepPlaces(const StridedIndexing& indexing, const Table& table, const Parallel& parallel,
                Places& places) {
  const std::int64_t bytes = indexing.row_count * places.table.Bytes();
  places.memory.reset(new char[static_cast<std::size_t>(bytes)]);
  places.table.values = places.memory.get();
  std::atomic<bool> good{true};
  const std::size_t tasks = parallel.TasksFor(
      bytes +
      indexing.row_count * static_cast<std::int64_t>(indexing.columns.count) * table.Bytes());
  parallel.For(tasks, [&](std::size_t i) {
    const Part part = PartOf(indexing.row_count, i, tasks);
    const auto keep = [&](auto number) {
      auto* to = reinterpret_cast<decltype(number)*>(places.memory.get());
      return table.wide ? KeepRows<std::int64_t>(indexing, table, places.unit, part, to)
                        : KeepRows<std::int32_t>(indexing, table, places.unit, part, to);
    };
    if (!(places.table.wide ? keep(std::uint32_t{}) : keep(std::uint16_t{})))
      good.store(false, std::memory_order_relaxed);
  });
  if (!good.load(std::memory_order_relaxed)) internal::CheckUpdatesOneByOne(indexing, table);
}

std::optional<Places> CheckAndKeep(const StridedIndexing& indexing, const Table& table,
                                   const Plan& plan, std::int64_t element_bytes,
                                   const Parallel& parallel) {
  constexpr std::int64_t kLongRun = 64, kNearest = 1 << 19;
  const std::int64_t bytes =
      indexing.row_count * static_cast<std::int64_t>(indexing.columns.count) * table.Bytes();
  auto places = plan.run * element_bytes <= kLongRun && bytes >= kNearest ? OutlinePlaces(indexing)
                                                                          : std::nullopt;
  if (places) {
    const std::int64_t kept = indexing.row_count * places->table.Bytes();
    if (kept >= bytes || kept >= kBytesPastCaches) places.reset();
  }
  if (places) {
    KeepPlaces(indexing, table, parallel, *places);
  } else {
    CheckBounds(indexing, table, parallel);
  }
  return places;
}

}  // namespace scatterx
