// The kernel on examples: the picks of each operator, the plans for them, and the refusals.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "check.h"
#include "naive.h"
#include "scatterx/half.h"
#include "scatterx/make_plan.h"
#include "scatterx/scatter.h"

namespace {

using namespace scatterx;
using Longs = std::vector<std::int64_t>;

struct Example {
  Picks picks;
  Ints data, updates, table_shape;
  Longs table;
  bool unique = false;

  Table table_view() const { return {table.data(), true}; }
  Plan plan() const {
    const StridedIndexing indexing = MakeStridedIndexing(picks, data, updates, table_shape);
    CheckBounds(indexing, table_view(), Parallel{});
    return MakePlan(indexing, table_view(), unique, Parallel{});
  }
  template <class T>
  std::vector<T> Run(ElementType type, Reduction reduction, const std::vector<T>& in,
                     const std::vector<T>& news, std::size_t workers = 1) const {
    std::vector<T> out(in.size());
    Scatter(plan(), table_view(), FindMoves(type, reduction), in.data(), news.data(), out.data(),
            naive::Threads(workers));
    return out;
  }
};

std::string MessageOf(const Example& example) {
  try {
    example.plan();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

// data (4, 6): ScatterND writes rows 2 and 0.
const Example kRows = {{{0}, {1}, {0, 1}}, {4, 6}, {2, 6}, {2, 1}, {2, 0}};

void RowsMoveAsRuns() {
  const Plan plan = kRows.plan();
  CHECK(plan.run == 6 && plan.runs == 2 && plan.unique) << plan.run;
  std::vector<float> data(24), updates(12);
  std::iota(data.begin(), data.end(), 0.0f);
  std::iota(updates.begin(), updates.end(), 100.0f);
  const auto out = kRows.Run<float>(ElementType::kFloat, Reduction::kNone, data, updates);
  CHECK(out[0] == 106 && out[5] == 111 && out[6] == 6 && out[12] == 100 && out[23] == 23);
}

// Rows that follow each other are one run, and so are the elements of a box that is written point
// by point.
void AffineTablesBecomeRuns() {
  for (const Longs& table : {Longs{1, 2, 3}, Longs{-3, -2, -1}}) {
    const Example rows = {{{0}, {1}, {0, 1}}, {4, 6}, {3, 6}, {3, 1}, table};
    const Plan plan = rows.plan();
    CHECK(plan.run == 18 && plan.runs == 1 && plan.start == 6 && plan.unique) << plan.run;
  }
  const Example points = {
      {{0, 1}, {}, {0, 1}}, {3, 4}, {2, 2}, {2, 2, 2}, {0, 1, 0, 2, 1, 1, 1, 2}};
  CHECK(points.plan().run == 2 && points.plan().runs == 2 && points.plan().dims[0].target == 4);
  const Example windows = {{{0, 1}, {}, {0}}, {5}, {3, 3}, {3, 3, 1}, {0, 1, 2, 1, 2, 3, 2, 3, 4}};
  CHECK(!windows.plan().unique && windows.plan().columns.count == 1);  // affine, but they overlap
}

// Tables that are affine except for a sign, a late number, or the width of an int32.
void OtherTablesStayTables() {
  const auto is_table = [](const Plan& plan) { return plan.columns.count == 1; };
  const Example signs = {{{0}, {1}, {0, 1}}, {4, 6}, {4, 6}, {4, 1}, {-2, -1, 0, 1}};
  CHECK(is_table(signs.plan()));
  for (const std::int64_t late : {2, 63, 64, 98, 99}) {
    Example rows = {{{0}, {}, {0}}, {200}, {100}, {100, 1}, Longs(100, 0)};
    std::iota(rows.table.begin(), rows.table.end(), 50);
    CHECK(!is_table(rows.plan()));
    rows.table[static_cast<std::size_t>(late)] = 0;
    CHECK(is_table(rows.plan())) << late;
  }
  const std::int32_t wraps[] = {0x7ffffffe, 0x7fffffff, -0x7fffffff - 1};
  const StridedIndexing indexing =
      MakeStridedIndexing({{0}, {}, {0}}, {std::int64_t{1} << 33}, {3}, {3, 1});
  CHECK(is_table(MakePlan(indexing, {wraps, false}, false, {})));
}

void TheLastOfManyWins() {
  const Example one = {{{0}, {}, {0}}, {1}, {5000}, {5000, 1}, Longs(5000, 0)};
  std::vector<std::int32_t> updates(5000);
  std::iota(updates.begin(), updates.end(), 1);
  for (const std::size_t workers : {1, 3}) {
    CHECK(one.Run<std::int32_t>(ElementType::kInt32, Reduction::kNone, {0}, updates, workers)[0] ==
          5000);
    CHECK(one.Run<std::int32_t>(ElementType::kInt32, Reduction::kAdd, {7}, updates, workers)[0] ==
          12502507);
  }
}

// A float sum depends on its order, so equal bits on any number of threads show that the order is
// kept.
void OrderIsKept() {
  Example many = {{{0}, {}, {0}}, {100}, {20000}, {20000, 1}, {}};
  std::vector<float> updates;
  for (std::int64_t i = 0; i < 20000; ++i) {
    many.table.push_back(i * i % 97);
    updates.push_back(static_cast<float>(1.0 / (1 + i)));
  }
  const std::vector<float> data(100, 1e4f);
  std::vector<float> wanted = data;
  for (std::size_t i = 0; i < updates.size(); ++i) wanted[many.table[i]] += updates[i];
  for (const std::size_t workers : {1, 2, 5}) {
    CHECK(many.Run<float>(ElementType::kFloat, Reduction::kAdd, data, updates, workers) == wanted)
        << workers;
  }
}

void NanIsWhatTheComparisonSays() {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Example each = {{{}, {0}, {0}}, {4}, {4}, {0}, {}};
  for (const Reduction reduction : {Reduction::kMin, Reduction::kMax}) {
    const auto out =
        each.Run<float>(ElementType::kFloat, reduction, {nan, 1, 2, -0.0f}, {1, nan, 2, 0.0f});
    CHECK(out[0] == 1 && std::isnan(out[1]) && out[2] == 2 && !std::signbit(out[3]));
  }
}

// Every float16 against those around zeros, infinities and NaNs.
void HalvesCompareAsTheirNumbers() {
  const std::vector<std::uint16_t> edges = {0x0000, 0x0001, 0x03ff, 0x0400, 0x3c00, 0x7bff, 0x7c00,
                                            0x7c01, 0x7e00, 0x7fff, 0x8000, 0x8001, 0x83ff, 0x8400,
                                            0xbc00, 0xfbff, 0xfc00, 0xfc01, 0xfe00, 0xffff};
  constexpr std::int64_t kAll = 1 << 16;
  Example each = {{{0}, {}, {0}}, {kAll}, {kAll}, {kAll, 1}, Longs(kAll)};
  for (std::int64_t i = 0; i < kAll; ++i) each.table[i] = i * 7 % kAll;  // no two meet
  for (const Reduction reduction : {Reduction::kMin, Reduction::kMax}) {
    for (const std::uint16_t edge : edges) {
      for (const bool is_update : {false, true}) {
        std::vector<std::uint16_t> data(kAll, edge), updates(kAll, edge), wanted(kAll);
        for (std::int64_t i = 0; i < kAll; ++i) {
          const std::int64_t to = each.table[i];
          (is_update ? data[to] : updates[i]) = static_cast<std::uint16_t>(i);
          const float x = ToFloat(Half{data[to]}), u = ToFloat(Half{updates[i]});
          const bool stays = reduction == Reduction::kMin ? x < u : x > u;
          wanted[to] = stays ? data[to] : updates[i];
        }
        CHECK(each.Run<std::uint16_t>(ElementType::kFloat16, reduction, data, updates) == wanted)
            << edge << is_update;
      }
    }
  }
}

void BoolsAreLogical() {
  const Example each = {{{}, {0}, {0}}, {4}, {4}, {0}, {}};
  const std::vector<std::uint8_t> x = {0, 0, 1, 1}, u = {0, 1, 0, 1}, either = {0, 1, 1, 1},
                                  both = {0, 0, 0, 1};
  CHECK(each.Run<std::uint8_t>(ElementType::kBool, Reduction::kAdd, x, u) == either);
  CHECK(each.Run<std::uint8_t>(ElementType::kBool, Reduction::kMax, x, u) == either);
  CHECK(each.Run<std::uint8_t>(ElementType::kBool, Reduction::kMul, x, u) == both);
  CHECK(each.Run<std::uint8_t>(ElementType::kBool, Reduction::kMin, x, u) == both);
}

// A run of megabytes is shared among threads; if it is too large for the caches, it is written past
// them.
void LongRunsAreShared() {
  constexpr std::int64_t kWidth = 1500001;
  const Example long_rows = {{{0}, {1}, {0, 1}}, {3, kWidth}, {2, kWidth}, {2, 1}, {2, 0}};
  std::vector<float> data(3 * kWidth), updates(2 * kWidth);
  std::iota(updates.begin(), updates.end(), 1.0f);
  std::vector<float> wanted = data;
  std::copy_n(updates.begin(), kWidth, wanted.begin() + 2 * kWidth);
  std::copy_n(updates.begin() + kWidth, kWidth, wanted.begin());
  for (const std::size_t workers : {1, 3}) {
    for (const Reduction reduction : {Reduction::kNone, Reduction::kAdd}) {
      CHECK(long_rows.Run<float>(ElementType::kFloat, reduction, data, updates, workers) == wanted)
          << workers;
    }
  }
}

// Integers wrap, without undefined behaviour.
void IntegersWrap() {
  const Example one = {{{}, {0}, {0}}, {1}, {1}, {0}, {}};
  const std::int32_t most = std::numeric_limits<std::int32_t>::max();
  CHECK(one.Run<std::int32_t>(ElementType::kInt32, Reduction::kAdd, {most}, {1})[0] == -most - 1);
  CHECK(one.Run<std::int32_t>(ElementType::kInt32, Reduction::kMul, {most}, {most})[0] == 1);
  CHECK(one.Run<std::uint16_t>(ElementType::kUInt16, Reduction::kMul, {65535}, {65535})[0] == 1);
}

void MessagesName() {
  Example bad = kRows;
  bad.table = {2, 4};
  CHECK(MessageOf(bad) ==
        "update [1, 0] is out of bounds: component 0 of f is 4, but axis 0 of data has size 4")
      << MessageOf(bad);
  bad.table = {-5, 0};
  CHECK(MessageOf(bad) ==
        "update [0, 0] is out of bounds: component 0 of f is -5, but axis 0 of data has size 4")
      << MessageOf(bad);
  bad = kRows;
  bad.table_shape = {3, 1};
  CHECK(MessageOf(bad) ==
        "f has shape [3, 1], but updates of shape [2, 6] and p1 = [0] need [2, 1]")
      << MessageOf(bad);
  bad = kRows;
  bad.updates = {2, 7};
  CHECK(MessageOf(bad) ==
        "updates of shape [2, 7] have size 7 in dim 1, which p2 puts on axis 1 of data, of size 6")
      << MessageOf(bad);
  bad = kRows;
  bad.picks.p = {0, 0};
  CHECK(MessageOf(bad) == "p = [0, 0] is not a permutation of the 2 axes of data")
      << MessageOf(bad);
  bad = kRows;
  bad.picks.p1 = {2};
  CHECK(MessageOf(bad) == "p1 = [2] picks dim 2, but updates has rank 2") << MessageOf(bad);
  bad = kRows;
  bad.picks.p2 = {0, 1, 1};
  CHECK(MessageOf(bad) == "p2 = [0, 1, 1] is longer than the rank of data, 2") << MessageOf(bad);
}

void EmptyAndScalar() {
  const Example scalar = {{{}, {}, {}}, {}, {}, {0}, {}};
  CHECK(scalar.Run<double>(ElementType::kDouble, Reduction::kAdd, {1.5}, {2})[0] == 3.5);
  const Example collide = {{{}, {}, {}}, {}, {2, 3}, {0}, {}};
  CHECK(collide.Run<double>(ElementType::kDouble, Reduction::kNone, {0}, {1, 2, 3, 4, 5, 6})[0] ==
        6);
  const Example nothing = {{{0}, {}, {0}}, {3}, {0}, {0, 1}, {}};
  CHECK((nothing.Run<double>(ElementType::kDouble, Reduction::kNone, {1, 2, 3}, {}) ==
         std::vector<double>{1, 2, 3}));
  Example empty = {{{0}, {}, {0}}, {0}, {1}, {1, 1}, {0}};
  CHECK(MessageOf(empty) ==
        "update [0] is out of bounds: component 0 of f is 0, but axis 0 of data has size 0");
}

// A shape with more elements than 63 bits can count is refused, unless no count is needed: f is
// empty, its rows are empty, or the dims have size 1.
void CountsDoNotOverflow() {
  constexpr std::int64_t kMany = std::int64_t{1} << 21, kMost = std::int64_t{1} << 62;
  const StridedIndexing indexing =
      MakeStridedIndexing({{0, 0, 0}, {0}, {0}}, {kMany}, {kMany}, {kMany, kMany, kMany, 0});
  CHECK(indexing.row_count == 0) << indexing.row_count;
  CHECK(indexing.rows == (Ints{0})) << ToString(indexing.rows);
  const Example rows = {{{0, 0, 0}, {}, {0}}, {kMany}, {kMany}, {kMany, kMany, kMany, 1}, {}};
  CHECK(MessageOf(rows) == "the shape [2097152, 2097152, 2097152, 1] has too many elements")
      << MessageOf(rows);
  const StridedIndexing ones =
      MakeStridedIndexing({{}, {0, 0, 0, 1}, {0, 1, 2, 3}}, {1, 1, 1, kMost}, {1, kMost}, {0});
  CHECK(ones.targets == (Ints{0, 1})) << ToString(ones.targets);
}

}  // namespace

int main() {
  RowsMoveAsRuns();
  AffineTablesBecomeRuns();
  OtherTablesStayTables();
  TheLastOfManyWins();
  OrderIsKept();
  NanIsWhatTheComparisonSays();
  HalvesCompareAsTheirNumbers();
  BoolsAreLogical();
  LongRunsAreShared();
  IntegersWrap();
  MessagesName();
  EmptyAndScalar();
  CountsDoNotOverflow();
  return Failures() != 0;
}
