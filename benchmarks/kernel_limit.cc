// What kernel.py measures the kernel by: copying by each way, and one access for each run.
#include <cstdint>
#include <cstring>

#include "scatterx/copy.h"

extern "C" {

// Ways 0 to 3 are those of choices.h through the caches, 4 to 7 past them.
void scatterx_copy(char* to, const char* from, std::int64_t bytes, int way) {
  scatterx::Choices choices;
  choices.copy = static_cast<scatterx::CopyWay>(way % 4);
  scatterx::Choose(choices);
  if (way < 4) return scatterx::CopyBytes(to, from, bytes);
  scatterx::Stream(to, from, bytes);
  scatterx::FinishStreaming();
}

// A number of `size` bytes is written to each of `count` places, or added to it.
void scatterx_access(char* to, const std::int64_t* places, std::int64_t count, int size, int adds) {
  const auto go = [&](auto number) {
    auto* typed = reinterpret_cast<decltype(number)*>(to);
    if (adds) {
      for (std::int64_t i = 0; i < count; ++i) typed[places[i]] += number;
    } else {
      for (std::int64_t i = 0; i < count; ++i) typed[places[i]] = number;
    }
  };
  size == 1   ? go(std::uint8_t{1})
  : size == 2 ? go(std::uint16_t{1})
  : size == 4 ? go(1.0f)
              : go(std::int64_t{1});
}

}  // extern "C"
