// min and max of float16 and bfloat16 by keys and bars: the same bits as one number at a time,
// signs of zeros and NaNs among them.
#include "scatterx/bars.h"

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "check.h"
#include "naive.h"
#include "scatterx/blocks.h"
#include "scatterx/make_plan.h"
#include "scatterx/scatter.h"

namespace {

using namespace scatterx;

template <class T, class Reduce>
void KeysCompareLikeNumbers() {
  using Bars = scatterx::Bars<T, Reduce>;
  std::vector<std::uint16_t> few;
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const auto number = static_cast<std::uint16_t>(bits);
    CHECK(Bars::BitsOf(Bars::KeyOf(number)) == number) << bits;
    // All numbers around the zeros and infinities, and some of the others.
    const unsigned magnitude = bits & 0x7fff;
    if (magnitude < 3 || magnitude > 0x7ffc || (magnitude > 0x7bfc && magnitude < 0x7c04) ||
        (magnitude > 0x7f7c && magnitude < 0x7f84) || bits % 401 == 0)
      few.push_back(number);
  }
  const Reduce reduce;
  for (const std::uint16_t x : few) {
    for (const std::uint16_t u : few) {
      const std::uint16_t wanted = reduce(T{x}, T{u}).bits;
      CHECK((Bars::Stays(Bars::KeyOf(x), Bars::BarOf(u)) ? x : u) == wanted) << x << " " << u;
    }
  }
}

// Random bits, with zeros of both signs and NaNs among them.
std::vector<std::uint16_t> Draw(std::mt19937_64& random, std::int64_t count) {
  constexpr std::uint16_t kOften[] = {0, 0x8000, 0x7e00, 0xfe01, 0x7c00, 0xff80, 0x3c00};
  std::vector<std::uint16_t> drawn(static_cast<std::size_t>(count));
  for (std::uint16_t& bits : drawn)
    bits = random() % 3 == 0 ? kOften[random() % 7] : static_cast<std::uint16_t>(random());
  return drawn;
}

// ScatterElements on axis 1, so that each row of data is a band of its own.
template <class T, class Reduce>
void BlocksGiveTheSameBits(ElementType type, Reduction reduction, std::int64_t height,
                           std::int64_t width, std::int64_t count) {
  std::mt19937_64 random(7);
  const StridedIndexing indexing = MakeStridedIndexing({{0, 1}, {0}, {1, 0}}, {height, width},
                                                       {height, count}, {height, count, 1});
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(height * count));
  for (std::int64_t& number : numbers)
    number = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(width));
  const auto data = Draw(random, height * width), updates = Draw(random, height * count);
  auto wanted = data;
  const Reduce reduce;
  for (std::int64_t i = 0; i < height * count; ++i) {
    std::uint16_t& x = wanted[static_cast<std::size_t>(i / count * width + numbers[i])];
    x = reduce(T{x}, T{updates[i]}).bits;
  }
  const Table table{numbers.data(), true};
  const Plan plan = MakeOutline(indexing, false).plan;
  CHECK(RowBlocksOf(plan, 2));
  for (const std::size_t workers : {1, 3}) {
    const Parallel parallel = naive::Threads(workers);
    std::vector<std::uint16_t> apart(data.size()), in_place = data;
    const Moves moves = FindMoves(type, reduction);
    CHECK(moves.form.apply != nullptr);
    Scatter(plan, table, moves, data.data(), updates.data(), apart.data(), parallel);
    Scatter(plan, table, moves, in_place.data(), updates.data(), in_place.data(), parallel);
    CHECK(apart == wanted && in_place == wanted) << height << " " << workers;
  }
}

template <class T>
void Try(ElementType type) {
  KeysCompareLikeNumbers<T, Min>();
  KeysCompareLikeNumbers<T, Max>();
  BlocksGiveTheSameBits<T, Min>(type, Reduction::kMin, 500, 301, 77);
  BlocksGiveTheSameBits<T, Max>(type, Reduction::kMax, 500, 301, 77);
  BlocksGiveTheSameBits<T, Max>(type, Reduction::kMax, 500, 301, 5);  // few for a form of its own
}

}  // namespace

int main() {
  Try<Half>(ElementType::kFloat16);
  Try<BFloat16>(ElementType::kBFloat16);
  // Past the caches, in a buffer of its own.
  BlocksGiveTheSameBits<Half, Min>(ElementType::kFloat16, Reduction::kMin, 16400, 513, 70);
  return Failures() != 0;
}
