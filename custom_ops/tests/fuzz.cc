// Random shapes, picks, tables and threads, compared with the naive kernel; invalid ones must be
// refused before a byte is written. `fuzz --cases N --seconds S --seed K` stops at whichever bound
// comes first.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>

#include "check.h"
#include "naive.h"
#include "scatterx/make_plan.h"
#include "scatterx/places.h"
#include "scatterx/scatter.h"

namespace {

using namespace scatterx;
using Random = std::mt19937_64;

std::int64_t Draw(Random& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

struct Case {
  Picks picks;
  Ints data, updates, table_shape;
  std::vector<std::int64_t> table;
};

std::int64_t Size(const Ints& shape) {
  std::int64_t count = 1;
  for (const std::int64_t n : shape) count *= n;
  return count;
}

// Picks and shapes that fit together; the numbers of f are now and then out of bounds, or affine.
Case DrawCase(Random& random) {
  Case c;
  const std::int64_t most = Draw(random, 0, 3) == 0 ? 40 : 4;
  const std::int64_t least = Draw(random, 0, 9) == 0 ? 0 : 1;
  const auto rank = Draw(random, 0, 4);
  for (std::int64_t i = Draw(random, 0, 4); i > 0; --i)
    c.updates.push_back(Draw(random, least, most));
  if (Size(c.updates) > 4000) c.updates = {Draw(random, 1, 60), Draw(random, 1, 60)};
  const auto dims = static_cast<std::int64_t>(c.updates.size());
  Ints sizes;  // of f ++ p2
  for (std::int64_t i = 0; i < rank; ++i) {
    const bool by_table =
        dims == 0 || static_cast<std::int64_t>(c.picks.p2.size()) > 0 ? false : Draw(random, 0, 1);
    if (by_table || dims == 0) {
      sizes.push_back(Draw(random, least, most));
      continue;
    }
    const std::int64_t dim = Draw(random, 0, 2) ? std::min(dims - 1, i) : Draw(random, 0, dims - 1);
    c.picks.p2.push_back(dim);
    sizes.push_back(c.updates[dim] + (Draw(random, 0, 1) ? Draw(random, 0, 2) : 0));
  }
  const auto columns = rank - static_cast<std::int64_t>(c.picks.p2.size());
  std::vector<std::int64_t> order;
  for (std::int64_t i = 0; i < rank; ++i) order.push_back(i);
  if (Draw(random, 0, 1)) std::shuffle(order.begin(), order.end(), random);
  for (const std::int64_t i : order) {
    c.picks.p.push_back(i);
    c.data.push_back(sizes[i]);
  }
  const bool all = Draw(random, 0, 1);
  for (std::int64_t i = all ? dims : Draw(random, 0, dims ? 2 : 0); i > 0; --i) {
    c.picks.p1.push_back(all ? dims - i : Draw(random, 0, dims - 1));
  }
  for (const std::int64_t dim : c.picks.p1) c.table_shape.push_back(c.updates[dim]);
  c.table_shape.push_back(columns);
  const bool affine = Draw(random, 0, 1), broken = Draw(random, 0, 6) == 0;
  const std::int64_t start = Draw(random, -2, 2), step = Draw(random, 0, 2);
  for (std::int64_t i = 0; i < Size(c.table_shape); ++i) {
    const std::int64_t size = sizes[i % columns];
    std::int64_t value =
        affine ? start + i / columns * step : Draw(random, -size, size - (size > 0));
    if (affine && size > 0 && !broken) value = ((value % size) + size) % size;
    if (broken && Draw(random, 0, 9) == 0) {
      value =
          Draw(random, 0, 1) ? size + Draw(random, 0, 2) : std::int64_t{1} << Draw(random, 0, 30);
    }
    c.table.push_back(value);
  }
  return c;
}

// Long rows on the middle axis, in ascending, random or colliding order.
Case DrawRows(Random& random) {
  const std::int64_t outer = Draw(random, 1, 3), height = Draw(random, 2, 20),
                     count = Draw(random, 1, height), length = Draw(random, 60, 1200),
                     slack = Draw(random, 0, 1) * Draw(random, 0, 9);
  Case c{{{1}, {0, 2}, {1, 0, 2}},
         {outer, height, length + slack},
         {outer, count, length},
         {count, 1},
         {}};
  for (std::int64_t i = 0; i < height; ++i) c.table.push_back(i);
  std::shuffle(c.table.begin(), c.table.end(), random);
  c.table.resize(static_cast<std::size_t>(count));
  switch (Draw(random, 0, 3)) {
    case 0:
      c.table.back() = c.table.front();
      break;
    case 1:
      break;
    default:
      std::sort(c.table.begin(), c.table.end());
  }
  return c;
}

// An element each along the axis of rows: many for few rows.
Case DrawElements(Random& random) {
  const std::int64_t batch = Draw(random, 1, 2), height = Draw(random, 1, 4),
                     count = Draw(random, 1, 60), width = Draw(random, 1, 40),
                     slack = Draw(random, 0, 1) * Draw(random, 0, 9);
  Case c{{{0, 1, 2}, {0, 2}, {1, 0, 2}},
         {batch, height, width + slack},
         {batch, count, width},
         {batch, count, width, 1},
         {}};
  if (batch == 1)
    c = {{{0, 1}, {1}, {0, 1}}, {height, width + slack}, {count, width}, {count, width, 1}, {}};
  for (std::int64_t i = Size(c.table_shape); i > 0; --i)
    c.table.push_back(Draw(random, -height, height - 1));
  return c;
}

template <class T, class Reduce>
void Apply(const std::vector<std::int64_t>& targets, const std::vector<T>& updates,
           std::vector<T>& out, const Reduce& reduce) {
  for (std::size_t u = 0; u < targets.size(); ++u)
    out[targets[u]] = reduce(out[targets[u]], updates[u]);
}

std::string Describe(const Case& c) {
  return "p1 " + ToString(c.picks.p1) + " p2 " + ToString(c.picks.p2) + " p " +
         ToString(c.picks.p) + " data " + ToString(c.data) + " updates " + ToString(c.updates);
}

bool AllDiffer(std::vector<std::int64_t> targets) {
  std::sort(targets.begin(), targets.end());
  return std::adjacent_find(targets.begin(), targets.end()) == targets.end();
}

template <class T>
void Try(const Case& c, ElementType type, Reduction reduction, Random& random) {
  std::vector<T> data(Size(c.data)), updates(Size(c.updates));
  for (T& x : data) x = static_cast<T>(Draw(random, 0, 1000)) / 3;
  for (T& x : updates) x = static_cast<T>(Draw(random, 0, 1000)) / 3;
  const auto targets = naive::Targets(c.picks, c.data, c.updates, c.table_shape, c.table);
  std::vector<std::int32_t> narrow(c.table.begin(), c.table.end());
  const bool wide = Draw(random, 0, 1), in_place = Draw(random, 0, 1);
  const Table table{wide ? static_cast<const void*>(c.table.data()) : narrow.data(), wide};
  const Parallel parallel = naive::Threads(static_cast<std::size_t>(Draw(random, 1, 4)));
  std::vector<T> output = in_place ? data : std::vector<T>(data.size(), T(77));
  bool refused = false;
  try {
    const StridedIndexing indexing = MakeStridedIndexing(c.picks, c.data, c.updates, c.table_shape);
    auto places = Draw(random, 0, 1) ? OutlinePlaces(indexing) : std::nullopt;
    places ? KeepPlaces(indexing, table, parallel, *places)
           : CheckBounds(indexing, table, parallel);
    const bool unique = targets && AllDiffer(*targets) && Draw(random, 0, 1);
    const Plan plan = places ? places->On(MakeOutline(indexing, unique).plan)
                             : MakePlan(indexing, table, unique, parallel);
    Scatter(plan, places ? places->table : table, FindMoves(type, reduction),
            in_place ? output.data() : data.data(), updates.data(), output.data(), parallel);
  } catch (const InvalidArgument&) {
    refused = true;
  }
  CHECK(refused == !targets) << Describe(c);
  if (!targets || refused) return;
  switch (reduction) {
    case Reduction::kNone:
      Apply(*targets, updates, data, [](T, T u) { return u; });
      break;
    case Reduction::kAdd:
      Apply(*targets, updates, data, [](T x, T u) { return static_cast<T>(x + u); });
      break;
    case Reduction::kMul:
      Apply(*targets, updates, data, [](T x, T u) { return static_cast<T>(x * u); });
      break;
    case Reduction::kMin:
      Apply(*targets, updates, data, [](T x, T u) { return std::min(u, x); });
      break;
    case Reduction::kMax:
      Apply(*targets, updates, data, [](T x, T u) { return std::max(u, x); });
      break;
  }
  CHECK(data.empty() || std::memcmp(data.data(), output.data(), data.size() * sizeof(T)) == 0)
      << Describe(c) << " workers " << parallel.workers << " reduction "
      << static_cast<int>(reduction);
}

void TryPacked(const Case& c, Random& random) {
  const auto targets = naive::Targets(c.picks, c.data, c.updates, c.table_shape, c.table);
  if (!targets) return;
  const auto pack = [](const std::vector<int>& nibbles) {
    std::vector<std::uint8_t> bytes(nibbles.size() / 2 + nibbles.size() % 2);
    for (std::size_t i = 0; i < nibbles.size(); ++i)
      bytes[i / 2] |= static_cast<std::uint8_t>(nibbles[i] << (i % 2 * 4));
    return bytes;
  };
  std::vector<int> data(Size(c.data)), updates(Size(c.updates));
  for (int& x : data) x = static_cast<int>(Draw(random, 0, 15));
  for (int& x : updates) x = static_cast<int>(Draw(random, 0, 15));
  const Parallel parallel = naive::Threads(static_cast<std::size_t>(Draw(random, 1, 3)));
  const Table table{c.table.data(), true};
  const StridedIndexing indexing = MakeStridedIndexing(c.picks, c.data, c.updates, c.table_shape);
  const Plan plan = MakePlan(indexing, table, false, parallel);
  const std::vector<std::uint8_t> in = pack(data), news = pack(updates);
  std::vector<std::uint8_t> out(in.size());
  ScatterPacked(plan, table, in.data(), news.data(), out.data(), parallel);
  Apply(*targets, updates, data, [](int, int u) { return u; });
  CHECK(out == pack(data)) << Describe(c);
}

// Arbitrary picks and shapes are refused, or the result is that of the naive kernel. They never
// crash.
void TryNonsense(Random& random) {
  const auto ints = [&](std::int64_t low, std::int64_t high) {
    Ints values;
    for (std::int64_t i = Draw(random, 0, 3); i > 0; --i) values.push_back(Draw(random, low, high));
    return values;
  };
  Case c{{ints(-1, 3), ints(-1, 3), ints(-1, 3)}, ints(0, 3), ints(0, 3), ints(0, 3), {}};
  if (c.table_shape.size() == 0) return;
  c.table.assign(static_cast<std::size_t>(Size(c.table_shape)), Draw(random, -3, 3));
  try {
    MakeStridedIndexing(c.picks, c.data, c.updates, c.table_shape);
  } catch (const InvalidArgument&) {
    return;
  }
  Try<float>(c, ElementType::kFloat, Reduction::kAdd, random);
}

// Data is small enough for many cases a second.
Case DrawSmallCase(Random& random) {
  for (;;) {
    const std::int64_t kind = Draw(random, 0, 9);
    const Case c = kind == 0   ? DrawRows(random)
                   : kind == 1 ? DrawElements(random)
                               : DrawCase(random);
    if (Size(c.data) <= 50000 && Size(c.table_shape) <= 50000) return c;
  }
}

}  // namespace

int main(int count, char** words) {
  std::int64_t cases = 20000, seconds = 30, seed = 1;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string word = words[i];
    (word == "--cases" ? cases : word == "--seconds" ? seconds : seed) = std::atoll(words[i + 1]);
  }
  Random random(static_cast<std::uint64_t>(seed));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  std::int64_t done = 0;
  for (; done < cases && std::chrono::steady_clock::now() < deadline && Failures() == 0; ++done) {
    const Case c = DrawSmallCase(random);
    const auto reduction = static_cast<Reduction>(Draw(random, 0, 4));
    switch (Draw(random, 0, 6)) {
      case 0:
        Try<double>(c, ElementType::kDouble, reduction, random);
        break;
      case 1:
        Try<std::uint8_t>(c, ElementType::kUInt8, reduction, random);
        break;
      case 2:
        Try<std::int16_t>(c, ElementType::kInt16, reduction, random);
        break;
      case 3:
        TryPacked(c, random);
        break;
      case 4:
        TryNonsense(random);
        break;
      default:
        Try<float>(c, ElementType::kFloat, reduction, random);
    }
  }
  std::cout << done << " cases, " << Failures() << " failures\n";
  return Failures() != 0;
}
