// The places that are kept while bounds are checked: they send every run to where the table sends
// it, and an invalid table is refused with the same words.
#include "scatterx/places.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "check.h"
#include "naive.h"
#include "scatterx/make_plan.h"
#include "scatterx/walk.h"

namespace {

using namespace scatterx;

// ScatterND of so many elements, into data that nobody allocates.
StridedIndexing Points(const Ints& data, std::int64_t count) {
  Ints p;
  for (std::size_t i = 0; i < data.size(); ++i) p.push_back(static_cast<std::int64_t>(i));
  return MakeStridedIndexing({{0}, {}, p}, data, {count},
                             {count, static_cast<std::int64_t>(data.size())});
}

// ScatterElements on axis 0.
StridedIndexing Elements(const Ints& data, std::int64_t count, std::int64_t width) {
  return MakeStridedIndexing({{0, 1}, {1}, {0, 1}}, data, {count, width}, {count, width, 1});
}

std::vector<std::int64_t> NumbersFor(const StridedIndexing& indexing, std::mt19937_64& random) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0;
       i < indexing.row_count * static_cast<std::int64_t>(indexing.columns.count); ++i) {
    const std::int64_t size =
        indexing.columns.at[static_cast<std::size_t>(i) % indexing.columns.count].size;
    const auto drawn = static_cast<std::int64_t>(random() >> 1);
    numbers.push_back(i % 7 == 0 ? size - 1 : i % 7 == 1 ? -size : drawn % (2 * size) - size);
  }
  return numbers;
}

template <class Target>
void SameTargets(const StridedIndexing& indexing, const Table& table, const Places& places) {
  const Plan plan = MakeOutline(indexing, false).plan, on_places = places.On(plan);
  Walk wanted(plan, table), walk(on_places, places.table);
  for (std::int64_t done = 0; done < plan.runs; done += 100) {
    const std::int64_t count = std::min<std::int64_t>(100, plan.runs - done);
    std::vector<Target> a(count), b(count);
    wanted.Take(count, a.data());
    walk.Take(count, b.data());
    CHECK(a == b) << done << " of " << ToString(indexing.data);
  }
  CHECK(wanted.At(plan.runs / 2) == walk.At(plan.runs / 2)) << ToString(indexing.data);
}

std::string MessageOf(const StridedIndexing& indexing, const Table& table, const Parallel& parallel,
                      bool keeps) {
  try {
    auto places = OutlinePlaces(indexing);
    keeps ? KeepPlaces(indexing, table, parallel, *places) : CheckBounds(indexing, table, parallel);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

template <class Int>
void Try(const StridedIndexing& indexing, bool wide_places, std::mt19937_64& random) {
  const auto drawn = NumbersFor(indexing, random);
  std::vector<Int> numbers(drawn.begin(), drawn.end());
  const Table table{numbers.data(), sizeof(Int) == 8};
  const Parallel parallel = naive::Threads(1 + random() % 3);
  auto places = OutlinePlaces(indexing);
  CHECK(places && places->table.wide == wide_places) << ToString(indexing.data);
  if (!places) return;
  KeepPlaces(indexing, table, parallel, *places);
  SameTargets<std::int64_t>(indexing, table, *places);
  SameTargets<std::uint32_t>(indexing, table, *places);
  for (int i = 0; i < 8; ++i) {
    const std::size_t at = random() % numbers.size();
    const std::int64_t size = indexing.columns.at[at % indexing.columns.count].size;
    const Int before = numbers[at];
    const std::int64_t wrong[] = {size, -size - 1, std::numeric_limits<Int>::max(),
                                  std::numeric_limits<Int>::min(),
                                  sizeof(Int) == 8 ? std::int64_t{1} << 32 : size};
    numbers[at] = static_cast<Int>(wrong[random() % 5]);
    const std::string message = MessageOf(indexing, table, parallel, false);
    CHECK(message.find("out of bounds") != std::string::npos) << message;
    CHECK(MessageOf(indexing, table, parallel, true) == message) << message;
    numbers[at] = before;
  }
}

void PlacesAreThoseOfTheTable() {
  std::mt19937_64 random(5);
  const struct {
    StridedIndexing indexing;
    bool wide;
  } cases[] = {
      {Points({1000}, 1), false},
      {Points({1 << 16}, 700), false},
      {Points({(1 << 16) + 1}, 700), true},
      {Points({1 << 10, 1 << 6}, 333), false},
      {Points({1 << 10, (1 << 6) + 1}, 333), true},
      {Points({1 << 16, 1 << 16}, 500), true},
      {Points({40, 40, 40}, 259), false},
      {Points({1, 1 << 20, 1 << 12}, 259), true},
      {Elements({1 << 16, 80}, 50, 80), false},
      {Elements({1 << 20, 3}, 300, 3), true},
      {Elements({1 << 30, 64}, 30, 64), true},  // targets need more than 32 bits
  };
  for (const auto& each : cases) {
    Try<std::int64_t>(each.indexing, each.wide, random);
    Try<std::int32_t>(each.indexing, each.wide, random);
  }
}

void OthersAreNotKept() {
  CHECK(!OutlinePlaces(Points({1 << 16, (1 << 16) + 1}, 10))) << "beyond 32 bits";
  CHECK(!OutlinePlaces(Points({std::int64_t{1} << 31}, 10))) << "a size beyond 31 bits";
  CHECK(!OutlinePlaces(Points({8, 8, 8, 8}, 10))) << "many columns";
  CHECK(!OutlinePlaces(Points({8}, 0))) << "no updates";
  CHECK(!OutlinePlaces(Points({0, 8}, 10))) << "no data";
  CHECK(!OutlinePlaces(MakeStridedIndexing({{}, {0}, {0}}, {8}, {8}, {0}))) << "no columns";
  std::vector<std::int64_t> numbers(1 << 17);
  const auto kept = [&](const StridedIndexing& indexing, bool wide = true) {
    const Table all{numbers.data(), wide};
    return CheckAndKeep(indexing, all, MakeOutline(indexing, false).plan, 4, Parallel())
        .has_value();
  };
  CHECK(kept(Points({1000}, 1 << 17)));
  CHECK(kept(Points({1 << 20}, 1 << 17)));
  CHECK(!kept(Points({1000}, 1 << 15))) << "in the nearest caches";
  CHECK(!kept(Points({1 << 20}, 1 << 17), false)) << "the table itself is as narrow";
  CHECK(!kept(MakeStridedIndexing({{0}, {1}, {0, 1}}, {9, 50}, {1 << 17, 50}, {1 << 17, 1})))
      << "long runs";
}

}  // namespace

int main() {
  PlacesAreThoseOfTheTable();
  OthersAreNotKept();
  return Failures() != 0;
}
