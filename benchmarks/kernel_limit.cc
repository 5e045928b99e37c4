// What kernel.py measures the kernel by: copying by each way, and one access for each run.
#include <cstdint>
#include <cstring>

#include "scatterx/copy.h"

extern "C" {

// Way 0 is memcpy, 1 copies by vectors, and 2 does so past the caches.
void scatterx_copy(char* to, const char* from, std::int64_t bytes, int way) {
  if (way == 0) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  } else if (way == 1) {
    scatterx::CopyBytes(to, from, bytes);
  } else {
    scatterx::Stream(to, from, bytes);
    scatterx::FinishStreaming();
  }
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
