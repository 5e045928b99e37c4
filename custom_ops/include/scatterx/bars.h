// min and max of float16 and bfloat16 on bits, with the work split: that on an update, which a
// vector does for many at once, and that on the place it is sent to, which comes one by one.
//
//     max: x > u  is  KeyOf(x) > BarOf(u)         min: x < u  is  KeyOf(x) < BarOf(u)
//
// With the bits below the sign turned over if it is set, the bits compare like the numbers, but for
// NaNs, which are beyond infinity on either side, and zeros, which differ by one. A key is moved
// on, modulo 2^16, until infinity is the last number of its side: then the NaNs of that side come
// around to the other one, where they lose. A bar is the key, but that of +0 (max) or of -0 (min)
// for both zeros, and one that nothing passes for a NaN.
//
// No two numbers have the same key. So an output that is copied before and after the updates may
// have keys in between: then the work on a place is a comparison.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "scatterx/batch.h"
#include "scatterx/cpu.h"
#include "scatterx/half.h"
#include "scatterx/reduce.h"

namespace scatterx {

// All arithmetic is of 16 bits, so that a vector has as many lanes as it can.
template <class T, class Reduce>
struct Bars {
  static constexpr bool kIsMax = std::is_same_v<Reduce, Max>;
  static constexpr std::uint16_t kInfinity = std::is_same_v<T, Half> ? 0x7c00 : 0x7f80;
  static constexpr std::uint16_t kNans = 0x7fff - kInfinity;  // on either side
  static constexpr std::uint16_t kMove = kIsMax ? kNans : 0x10000 - kNans;

  static SCATTERX_INLINE std::uint16_t Turn(std::uint16_t bits) {
    const auto sign = static_cast<std::int16_t>(static_cast<std::int16_t>(bits) >> 15);
    return static_cast<std::uint16_t>(bits ^ (sign & 0x7fff));
  }
  static SCATTERX_INLINE std::int16_t KeyOf(std::uint16_t bits) {
    return static_cast<std::int16_t>(static_cast<std::uint16_t>(Turn(bits) + kMove));
  }
  static SCATTERX_INLINE std::uint16_t BitsOf(std::int16_t key) {
    return Turn(static_cast<std::uint16_t>(static_cast<std::uint16_t>(key) - kMove));
  }
  static SCATTERX_INLINE std::int16_t BarOf(std::uint16_t bits) {
    constexpr std::uint16_t kZero = kIsMax ? kMove : static_cast<std::uint16_t>(0xffff + kMove);
    const auto magnitude = static_cast<std::uint16_t>(bits & 0x7fff);
    auto bar = static_cast<std::uint16_t>(KeyOf(bits));
    bar = magnitude == 0 ? kZero : bar;
    bar = magnitude > kInfinity ? static_cast<std::uint16_t>(kIsMax ? 0x7fff : 0x8000) : bar;
    return static_cast<std::int16_t>(bar);
  }
  // Does the number with this key stay, against an update with this bar?
  static SCATTERX_INLINE bool Stays(std::int16_t key, std::int16_t bar) {
    return kIsMax ? key > bar : key < bar;
  }
};

namespace internal {

template <class T, class Reduce>
inline constexpr bool kHasBars = (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) &&
                                 (std::is_same_v<Reduce, Min> || std::is_same_v<Reduce, Max>);

template <class T, class Reduce>
SCATTERX_INLINE void Turn(char* to, const char* from, std::int64_t bytes, bool in) {
  const auto* old = reinterpret_cast<const std::uint16_t*>(from);
  auto* turned = reinterpret_cast<std::uint16_t*>(to);
  for (std::int64_t i = 0; i < bytes / 2; ++i) {
    turned[i] = in ? static_cast<std::uint16_t>(Bars<T, Reduce>::KeyOf(old[i]))
                   : Bars<T, Reduce>::BitsOf(static_cast<std::int16_t>(old[i]));
  }
}
template <class T, class Reduce>
SCATTERX_AVX2 void TurnAvx2(char* to, const char* from, std::int64_t bytes, bool in) {
  in ? Turn<T, Reduce>(to, from, bytes, true) : Turn<T, Reduce>(to, from, bytes, false);
}

template <class T, class Reduce>
void TurnIn(char* to, const char* from, std::int64_t bytes) {
  HasAvx2() ? TurnAvx2<T, Reduce>(to, from, bytes, true) : Turn<T, Reduce>(to, from, bytes, true);
}
template <class T, class Reduce>
void TurnOut(char* to, const char* from, std::int64_t bytes) {
  HasAvx2() ? TurnAvx2<T, Reduce>(to, from, bytes, false) : Turn<T, Reduce>(to, from, bytes, false);
}

// The updates of a batch: their bars, and what they leave at their places, bits or keys.
template <class T, class Reduce, bool kKeys>
SCATTERX_INLINE void MakeBars(const T* in, const Batch& batch, std::int64_t first,
                              std::int64_t count, std::int16_t* bars, std::uint16_t* news) {
  const auto make = [&](std::int64_t i, std::uint16_t bits) __attribute__((always_inline)) {
    bars[i] = Bars<T, Reduce>::BarOf(bits);
    news[i] = kKeys ? static_cast<std::uint16_t>(Bars<T, Reduce>::KeyOf(bits)) : bits;
  };
  if (batch.sources == nullptr && batch.stride == 1) {
    for (std::int64_t i = 0; i < count; ++i) make(i, in[first + i].bits);
  } else {
    for (std::int64_t i = 0; i < count; ++i) make(i, in[batch.Source(first + i)].bits);
  }
}
template <class T, class Reduce, bool kKeys>
SCATTERX_AVX2 void MakeBarsAvx2(const T* in, const Batch& batch, std::int64_t first,
                                std::int64_t count, std::int16_t* bars, std::uint16_t* news) {
  MakeBars<T, Reduce, kKeys>(in, batch, first, count, bars, news);
}

// For runs of one element.
template <class T, class Reduce, bool kKeys>
void ReduceByBars(char* output, const char* updates, Batch batch) {
  constexpr std::int64_t kAtOnce = 512;
  auto* out = reinterpret_cast<std::uint16_t*>(output);
  const auto* in = reinterpret_cast<const T*>(updates);
  std::int16_t bars[kAtOnce];
  std::uint16_t news[kAtOnce];
  const auto apply = [&](std::int64_t i, std::int64_t target) __attribute__((always_inline)) {
    const std::uint16_t old = out[target];
    const std::int16_t key = kKeys ? static_cast<std::int16_t>(old) : Bars<T, Reduce>::KeyOf(old);
    // Without a branch, because the processor cannot predict which of the two stays.
    const int mask = -static_cast<int>(Bars<T, Reduce>::Stays(key, bars[i]));
    out[target] = static_cast<std::uint16_t>(news[i] ^ ((old ^ news[i]) & mask));
  };
  for (std::int64_t first = 0; first < batch.count; first += kAtOnce) {
    const std::int64_t count = std::min(kAtOnce, batch.count - first);
    HasAvx2() ? MakeBarsAvx2<T, Reduce, kKeys>(in, batch, first, count, bars, news)
              : MakeBars<T, Reduce, kKeys>(in, batch, first, count, bars, news);
    const Batch part{batch.targets + first, nullptr, count, 1, 1, batch.reach};
    part.ForEachFour(
        output, sizeof(T),
        [&](std::int64_t i, const Four<std::uint32_t>& target) __attribute__((always_inline)) {
          for (std::int64_t k = 0; k < 4; ++k) apply(i + k, target.at[k]);
        },
        apply);
  }
}

}  // namespace internal

}  // namespace scatterx
