// min and max of float16 on bits, with the work split: that on an update, which a vector does for
// many at once, and that on the place it is sent to, which comes one by one.
//
//     max: x > u  is  KeyOf(x) > BarOf(u)         min: x < u  is  KeyOf(x) < BarOf(u)
//
// With the bits below the sign turned over if it is set, the bits compare like the numbers, but for
// NaNs, which are beyond infinity on either side, and zeros, which differ by one. A key is moved
// on, modulo 2^16, until infinity is the last number of its side: then the NaNs of that side come
// around to the other one, where they lose. A bar is the key, but that of +0 (max) or of -0 (min)
// for both zeros, and one that nothing passes for a NaN.
#pragma once

#include <cstdint>
#include <type_traits>

#include "scatterx/cpu.h"
#include "scatterx/half.h"
#include "scatterx/reduce.h"

namespace scatterx {

template <class Reduce>
struct Bars {
  static constexpr bool kIsMax = std::is_same_v<Reduce, Max>;
  static constexpr int kNans = 0x7fff - 0x7c00;  // on either side

  static SCATTERX_INLINE int KeyOf(std::uint16_t bits) {
    const int number = static_cast<std::int16_t>(bits);
    const int turned = number ^ ((number >> 15) & 0x7fff);
    return static_cast<std::int16_t>(kIsMax ? turned + kNans : turned - kNans);
  }

  static SCATTERX_INLINE int BarOf(std::uint16_t bits) {
    const int magnitude = bits & 0x7fff;
    const int key = KeyOf(magnitude == 0 ? (kIsMax ? 0 : 0x8000) : bits);
    return magnitude > 0x7c00 ? (kIsMax ? 0x7fff : -0x8000) : key;
  }

  // Bar and bits of an update in one number.
  static SCATTERX_INLINE std::uint32_t Pack(Half update) {
    return static_cast<std::uint32_t>(BarOf(update.bits)) << 16 | update.bits;
  }

  // reduce(x, u) for a packed u.
  static SCATTERX_INLINE Half Apply(Half x, std::uint32_t packed) {
    const int key = KeyOf(x.bits), bar = static_cast<std::int32_t>(packed) >> 16;
    const auto update = static_cast<std::uint16_t>(packed);
    return internal::Choose(kIsMax ? key > bar : key < bar, x, Half{update});
  }
};

}  // namespace scatterx
