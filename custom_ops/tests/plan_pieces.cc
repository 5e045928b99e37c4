// Prints the plans of x-transformers, to be held against another account of them.
//
// Each case on stdin is six lists of numbers, each after its length: the shapes of updates and data,
// p1, p2, p, and the numbers of f. For each case a line is printed: the pieces that the plan copies
// one by one, the contiguous runs, and the elements of a run. A plan that has folded f into its
// steps is one piece, because its loop nest is one strided copy.
#include <cstdint>
#include <iostream>
#include <vector>

#include "scatterx/make_plan.h"

namespace {

using namespace scatterx;

bool Read(std::vector<std::int64_t>& numbers) {
  std::size_t count = 0;
  if (!(std::cin >> count)) return false;
  numbers.resize(count);
  for (std::int64_t& number : numbers) std::cin >> number;
  return true;
}

Ints Read() {
  std::vector<std::int64_t> numbers;
  Read(numbers);
  return Ints(numbers.data(), numbers.size());
}

}  // namespace

int main() {
  std::vector<std::int64_t> first;
  while (Read(first)) {
    const Ints updates(first.data(), first.size()), data = Read();
    Picks picks;
    picks.p1 = Read();
    picks.p2 = Read();
    picks.p = Read();
    Ints table;
    for (const std::int64_t dim : picks.p1) table.push_back(updates[dim]);
    table.push_back(static_cast<std::int64_t>(data.size() - picks.p2.size()));
    std::vector<std::int64_t> f;
    Read(f);
    const StridedIndexing indexing = MakeStridedIndexing(picks, data, updates, table);
    const Plan plan = MakePlan(indexing, Table{f.data()}, false, Parallel{});
    std::cout << (plan.columns.count == 0 && plan.runs > 0 ? 1 : plan.runs) << ' ' << plan.runs
              << ' ' << plan.run << '\n';
  }
}
