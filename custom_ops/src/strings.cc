#include "strings.h"

#include <cstring>
#include <string_view>
#include <vector>

#include "scatterx/walk.h"
#include "status.h"

namespace scatterx {

namespace {

// A copy of all strings of a tensor.
class Strings {
 public:
  Strings(const ort::Api& api, const OrtValue* value, std::int64_t count)
      : offsets_(static_cast<std::size_t>(count)) {
    if (count == 0) return;
    std::size_t length = 0;
    Check(api.GetStringTensorDataLength(value, &length));
    bytes_.resize(length + 1);
    Check(api.GetStringTensorContent(value, static_cast<void*>(bytes_.data()), length,
                                     offsets_.data(), offsets_.size()));
    offsets_.push_back(length);
  }

  std::string_view operator[](std::int64_t i) const {
    const auto k = static_cast<std::size_t>(i);
    return {bytes_.data() + offsets_[k], offsets_[k + 1] - offsets_[k]};
  }

 private:
  std::vector<char> bytes_;
  std::vector<std::size_t> offsets_;
};

}  // namespace

void ScatterStrings(const ort::Api& api, const Plan& plan, const Table& table, const OrtValue* data,
                    const OrtValue* updates, std::int64_t update_count, OrtValue* output,
                    bool in_place) {
  constexpr std::int64_t kStays = -1;
  std::vector<std::int64_t> winners(static_cast<std::size_t>(plan.data_count), kStays);
  Walk walk(plan, table);
  for (std::int64_t q = 0, source = 0; q < plan.runs; ++q) {
    std::int64_t target;
    walk.Take(1, &target);
    for (std::int64_t j = 0; j < plan.run; ++j)
      winners[static_cast<std::size_t>(target + j)] = source++;
  }
  const Strings olds(api, data, in_place ? 0 : plan.data_count);
  const Strings news(api, updates, update_count);
  for (std::int64_t i = 0; i < plan.data_count; ++i) {
    const std::int64_t winner = winners[static_cast<std::size_t>(i)];
    if (winner == kStays && in_place) continue;
    const std::string_view text = winner == kStays ? olds[i] : news[winner];
    char* buffer = nullptr;
    Check(api.GetResizedStringTensorElementBuffer(output, static_cast<std::size_t>(i), text.size(),
                                                  &buffer));
    if (!text.empty()) std::memcpy(buffer, text.data(), text.size());
  }
}

}  // namespace scatterx
