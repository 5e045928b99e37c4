// Elements of 4 bits, two a byte, the first in the low bits.
#pragma once

#include <cstdint>
#include <optional>

#include "scatterx/plan.h"
#include "scatterx/walk.h"

namespace scatterx {

inline std::int64_t PackedBytes(std::int64_t elements) { return elements / 2 + elements % 2; }

// The plan in bytes, if every run begins and ends on a byte.
inline std::optional<Plan> InWholeBytes(Plan plan) {
  bool odd = plan.run % 2 != 0 || plan.start % 2 != 0;
  for (std::size_t d = 0; d < plan.rank; ++d) {
    odd |= plan.dims[d].target % 2 != 0;
    plan.dims[d].target /= 2;
  }
  for (std::size_t j = 0; j < plan.columns.count; ++j) {
    odd |= plan.columns.at[j].stride % 2 != 0;
    plan.columns.at[j].stride /= 2;
  }
  if (odd && plan.runs > 0) return std::nullopt;
  plan.run /= 2;
  plan.start /= 2;
  plan.data_count = PackedBytes(plan.data_count);
  return plan;
}

// One element at a time, on one thread: neighbours share a byte.
inline void ScatterNibbles(const Plan& plan, const Table& table, const std::uint8_t* updates,
                           std::uint8_t* output) {
  Walk walk(plan, table);
  for (std::int64_t q = 0, source = 0; q < plan.runs; ++q) {
    std::int64_t target;
    walk.Take(1, &target);
    for (std::int64_t j = 0; j < plan.run; ++j, ++source, ++target) {
      const int value = (updates[source / 2] >> (source % 2 * 4)) & 0xf;
      const int place = static_cast<int>(target % 2 * 4);
      std::uint8_t& byte = output[target / 2];
      byte = static_cast<std::uint8_t>((byte & ~(0xf << place)) | (value << place));
    }
  }
}

}  // namespace scatterx
