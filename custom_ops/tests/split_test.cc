// How work is shared among threads: which way is taken for which plan, and what the ways give.
#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "check.h"
#include "naive.h"
#include "scatterx/make_plan.h"
#include "scatterx/panels.h"
#include "scatterx/scatter.h"
#include "scatterx/split.h"
#include "scatterx/walk.h"

namespace {

using namespace scatterx;

constexpr std::int64_t kFloat = 4;

// Threads that are never asked to run.
Parallel Workers(std::size_t count) {
  Parallel parallel;
  parallel.workers = count;
  return parallel;
}

// ScatterElements on axis 0 of `height` rows of `pitch` elements: `count` updates for each of the
// first `width` columns.
StridedIndexing Elements(std::int64_t height, std::int64_t pitch, std::int64_t count,
                         std::int64_t width) {
  return MakeStridedIndexing({{0, 1}, {1}, {0, 1}}, {height, pitch}, {count, width},
                             {count, width, 1});
}

Plan PlanOf(const StridedIndexing& indexing) { return MakeOutline(indexing, false).plan; }

bool HasPanels(const StridedIndexing& indexing, std::size_t workers = 2) {
  return PanelsOf(PlanOf(indexing), kFloat, Workers(workers)).has_value();
}

Split::Way WayOf(const StridedIndexing& indexing) {
  return ChooseSplit(PlanOf(indexing), kFloat, Workers(2)).way;
}

void NarrowMatricesHavePanels() {
  const auto panels = PanelsOf(PlanOf(Elements(1000, 70, 50000, 64)), kFloat, Workers(2));
  CHECK(panels && panels->dim == 1 && panels->pitch == 70 && panels->extent == 64);
  CHECK(panels && panels->rows == 1000 && panels->first == 0 && panels->count == 2);
  CHECK(!HasPanels(Elements(1000, 64, 50000, 64), 1)) << "one thread";
  CHECK(HasPanels(Elements(4000, 64, 2000, 64)));
  CHECK(!HasPanels(Elements(4000, 64, 1000, 64))) << "few updates for an element";
  CHECK(HasPanels(Elements(8000, 64, 5000, 64)));
  CHECK(!HasPanels(Elements(9000, 64, 5000, 64))) << "no room in two threads' caches";
  CHECK(HasPanels(Elements(9000, 64, 5000, 64), 4));
  CHECK(HasPanels(Elements(1000, 8, 50000, 8)));
  CHECK(!HasPanels(Elements(1000, 6, 50000, 6))) << "parts of 12 bytes";
  CHECK(HasPanels(Elements(64, 2000, 2000, 2000)));
  CHECK(!HasPanels(Elements(64, 2048, 2000, 2048))) << "parts of a page";
  CHECK(!HasPanels(MakeStridedIndexing({{0}, {1}, {0, 1}}, {1000, 64}, {50000, 64}, {50000, 1})))
      << "runs";
  CHECK(!HasPanels(MakeStridedIndexing({{0, 1, 2}, {0, 2}, {1, 0, 2}}, {16, 100, 64}, {16, 500, 64},
                                       {16, 500, 64, 1})))
      << "whole bands for each thread";
  CHECK(!HasPanels(MakeStridedIndexing({{0}, {}, {0}}, {1000}, {500000}, {500000, 1})))
      << "no columns";
  CHECK(
      !HasPanels(MakeStridedIndexing({{0, 1}, {}, {0, 1}}, {1000, 64}, {5000, 64}, {5000, 64, 2})))
      << "columns that are looked up";
}

// What is not rows of columns, though a dim of updates steps from an element to the next.
void OtherOutputsHaveNone() {
  CHECK(!HasPanels(MakeStridedIndexing({{}, {0}, {0}}, {64}, {64, 50000}, {0}))) << "no rows";
  CHECK(!HasPanels(MakeStridedIndexing({{}, {0, 0, 1}, {0, 1, 2}}, {4, 4, 32}, {4, 32, 5000}, {0})))
      << "a diagonal, which ends within a row";
  CHECK(!HasPanels(
      MakeStridedIndexing({{0, 1}, {1}, {0, 2, 1}}, {1000, 64, 1}, {5000, 64}, {5000, 64, 2})))
      << "a number of f that counts columns too";
  Plan plan = PlanOf(Elements(1000, 64, 50000, 64));
  plan.dims[1].owns = false;
  CHECK(!PanelsOf(plan, kFloat, Workers(2))) << "columns that meet";
  plan.dims[1].owns = true;
  CHECK(PanelsOf(plan, kFloat, Workers(2)));
  plan.run = 2;
  CHECK(!PanelsOf(plan, kFloat, Workers(2))) << "runs across columns";
}

void InnerDimsArePartedInPagesOrFarAway() {
  CHECK(WayOf(Elements(64, 2048, 2000, 2048)) == Split::kDim);
  CHECK(WayOf(Elements(4000, 64, 1000, 64)) == Split::kSerial) << "lines of shared pages, cached";
  CHECK(WayOf(Elements(20000, 64, 20000, 64)) == Split::kDim) << "lines, beyond the caches";
  CHECK(WayOf(Elements(65536, 80, 65536, 80)) == Split::kRanges) << "3 lines and 2";
  CHECK(WayOf(Elements(65536, 72, 65536, 72)) == Split::kRanges) << "rows begin within lines";
}

void RunsAreKeptInOrder() {
  std::mt19937_64 random(1);
  for (std::int64_t count = 0; count < 40; ++count) {
    std::vector<std::uint32_t> targets, kept, sources;
    for (std::int64_t i = 0; i < count; ++i)
      targets.push_back(static_cast<std::uint32_t>(random() % 8));
    for (std::int64_t i = 0; i < count; ++i) {
      if (targets[i] < 2 || targets[i] >= 6) continue;
      kept.push_back(targets[i]);
      sources.push_back(static_cast<std::uint32_t>(i));
    }
    std::vector<std::uint32_t> to(count + kKeepSlack), from(count + kKeepSlack);
    const std::int64_t keep = CompactInRange(targets.data(), count, 2, 6, to.data(), from.data());
    CHECK(keep == static_cast<std::int64_t>(kept.size())) << count;
    to.resize(keep), from.resize(keep);
    CHECK(to == kept && from == sources) << count;
  }
}

// Targets of 32 bits, taken in batches of all sizes, and with a pattern where the outer dims do not
// step through f, are those of 64 bits.
void NarrowTargetsAreTheWideOnes() {
  std::mt19937_64 random(3);
  const auto draw = [&](std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
  };
  for (int i = 0; i < 300; ++i) {
    const std::int64_t a = draw(1, 40), b = draw(1, 40), c = draw(1, 40), size = draw(1, 50);
    const bool all = i % 3 == 0;  // f has a number for each update, or for each of the last dim
    const StridedIndexing indexing =
        all ? MakeStridedIndexing({{0, 1, 2}, {0, 1}, {1, 2, 0}}, {a, b, size}, {a, b, c},
                                  {a, b, c, 1})
            : MakeStridedIndexing({{2}, {0, 1}, {1, 2, 0}}, {a, b + 1, size}, {a, b, c}, {c, 1});
    std::vector<std::int64_t> numbers(all ? a * b * c : c);
    for (std::int64_t& number : numbers) number = draw(-size, size - 1);
    const Table table{numbers.data(), true};
    const Plan plan = PlanOf(indexing);
    Walk wide(plan, table), narrow(plan, table);
    for (std::int64_t done = 0; done < plan.runs;) {
      const std::int64_t count = std::min(draw(1, 600), plan.runs - done);
      std::vector<std::int64_t> wanted(count);
      std::vector<std::uint32_t> targets(count);
      wide.Take(count, wanted.data());
      narrow.Take(count, targets.data());
      CHECK(std::equal(wanted.begin(), wanted.end(), targets.begin())) << i << " " << done;
      done += count;
    }
  }
}

// Sums of floats show the order in which they are taken. With columns beside those that are named,
// numbers from the end, and the output beside data or in its place.
void PanelsGiveTheSameBits() {
  constexpr std::int64_t kHeight = 5, kPitch = 37, kCount = 300, kWidth = 33;
  const StridedIndexing indexing = Elements(kHeight, kPitch, kCount, kWidth);
  const Plan plan = PlanOf(indexing);
  std::mt19937_64 random(2);
  std::vector<std::int64_t> numbers(kCount * kWidth);
  for (std::int64_t& number : numbers)
    number = static_cast<std::int64_t>(random() % (2 * kHeight)) - kHeight;
  std::vector<float> data(kHeight * kPitch), updates(kCount * kWidth);
  for (float& x : data) x = static_cast<float>(random() % 1000) / 7;
  for (float& x : updates) x = static_cast<float>(random() % 1000) / 3;
  std::vector<float> sums = data, last = data;
  for (std::int64_t i = 0; i < kCount * kWidth; ++i) {
    const std::int64_t row = numbers[i] + (numbers[i] < 0 ? kHeight : 0);
    sums[row * kPitch + i % kWidth] += updates[i];
    last[row * kPitch + i % kWidth] = updates[i];
  }
  const Table table{numbers.data(), true};
  for (const std::size_t workers : {2, 3, 5}) {
    const Parallel parallel = naive::Threads(workers);
    CHECK(PanelsOf(plan, kFloat, parallel)) << workers;
    for (const Reduction reduction : {Reduction::kNone, Reduction::kAdd}) {
      const std::vector<float>& wanted = reduction == Reduction::kAdd ? sums : last;
      const Moves moves = FindMoves(ElementType::kFloat, reduction);
      std::vector<float> apart(data.size()), in_place = data;
      Scatter(plan, table, moves, data.data(), updates.data(), apart.data(), parallel);
      Scatter(plan, table, moves, in_place.data(), updates.data(), in_place.data(), parallel);
      CHECK(apart == wanted && in_place == wanted) << workers;
    }
  }
}

}  // namespace

int main() {
  NarrowMatricesHavePanels();
  OtherOutputsHaveNone();
  InnerDimsArePartedInPagesOrFarAway();
  RunsAreKeptInOrder();
  NarrowTargetsAreTheWideOnes();
  PanelsGiveTheSameBits();
  return Failures() != 0;
}
