// Copies, on stretches of all lengths around their borders and at all alignments: they write the
// stretch, and no other byte.
#include "scatterx/copy.h"

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "check.h"

namespace {

using namespace scatterx;

constexpr std::int64_t kMargin = 256;

using Copying = void (*)(char* to, const char* from, std::int64_t bytes);

// A copy of `bytes` bytes, with both sides so far from a border of lines.
bool IsRight(Copying copy, std::int64_t bytes, std::int64_t to, std::int64_t from) {
  static std::vector<char> source(1 << 18), target(1 << 18);
  const auto border = [](std::vector<char>& memory) {
    return memory.data() + (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64) % 64;
  };
  char *in = border(source) + kMargin + from, *out = border(target) + kMargin + to;
  for (std::int64_t i = 0; i < bytes; ++i) in[i] = static_cast<char>(1 + i % 251 % 120);
  std::memset(out - kMargin, -1, static_cast<std::size_t>(bytes + 2 * kMargin));
  copy(out, in, bytes);
  FinishStreaming();
  bool beside = true;
  for (std::int64_t i = 1; i <= kMargin; ++i) beside &= out[-i] == -1 && out[bytes - 1 + i] == -1;
  return beside && std::memcmp(out, in, static_cast<std::size_t>(bytes)) == 0;
}

void StretchesOfAllLengths() {
  constexpr std::int64_t kPage = 4096;
  for (const Copying copy : {&CopyBytes, &Stream}) {
    for (const std::int64_t about : {std::int64_t{0}, std::int64_t{64}, std::int64_t{128},
                                     std::int64_t{1024}, std::int64_t{1} << 14, 8 * kPage}) {
      for (const std::int64_t more : {-65, -64, -1, 0, 1, 31, 32, 63, 64, 127}) {
        const std::int64_t bytes = about + more;
        if (bytes < 0) continue;
        for (const auto& [to, from] : {std::pair<int, int>{0, 0}, {1, 0}, {0, 1}, {63, 17}})
          CHECK(IsRight(copy, bytes, to, from)) << bytes;
      }
    }
  }
}

}  // namespace

int main() {
  StretchesOfAllLengths();
  return Failures() != 0;
}
