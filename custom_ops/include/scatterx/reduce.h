// How an update is combined with its target: output[J] = reduce(output[J], updates[I]).
#pragma once

#include <cstdint>
#include <type_traits>

#include "scatterx/half.h"

namespace scatterx {

// A bool as ONNX stores it, one byte.
struct Bool {
  std::uint8_t bits;
};

namespace internal {

// Integers wrap around: the sum is taken without a sign, in at least an int's width.
template <class T>
using Wrapping = std::common_type_t<unsigned, std::make_unsigned_t<T>>;

}  // namespace internal

struct Add {
  template <class T>
  T operator()(T x, T u) const {
    if constexpr (std::is_integral_v<T>) {
      using U = internal::Wrapping<T>;
      return static_cast<T>(static_cast<U>(x) + static_cast<U>(u));
    } else {
      return x + u;
    }
  }
  Half operator()(Half x, Half u) const { return ToHalf(ToFloat(x) + ToFloat(u)); }
  BFloat16 operator()(BFloat16 x, BFloat16 u) const { return ToBFloat16(ToFloat(x) + ToFloat(u)); }
  Bool operator()(Bool x, Bool u) const { return {(x.bits | u.bits) != 0}; }
};

struct Mul {
  template <class T>
  T operator()(T x, T u) const {
    if constexpr (std::is_integral_v<T>) {
      using U = internal::Wrapping<T>;
      return static_cast<T>(static_cast<U>(x) * static_cast<U>(u));
    } else {
      return x * u;
    }
  }
  Half operator()(Half x, Half u) const { return ToHalf(ToFloat(x) * ToFloat(u)); }
  BFloat16 operator()(BFloat16 x, BFloat16 u) const { return ToBFloat16(ToFloat(x) * ToFloat(u)); }
  Bool operator()(Bool x, Bool u) const { return {x.bits != 0 && u.bits != 0}; }
};

namespace internal {

// Without a branch, because the processor cannot predict which of the two is taken.
template <class T>
T Choose(bool first, T x, T u) {
  const unsigned mask = 0u - static_cast<unsigned>(first);
  return {static_cast<std::uint16_t>(u.bits ^ ((x.bits ^ u.bits) & mask))};
}

}  // namespace internal

// An unordered comparison is false, so a NaN in either place gives the update.
struct Min {
  template <class T>
  T operator()(T x, T u) const {
    return x < u ? x : u;
  }
  Half operator()(Half x, Half u) const { return internal::Choose(IsLess(x, u), x, u); }
  BFloat16 operator()(BFloat16 x, BFloat16 u) const { return internal::Choose(IsLess(x, u), x, u); }
  Bool operator()(Bool x, Bool u) const { return Mul{}(x, u); }
};

struct Max {
  template <class T>
  T operator()(T x, T u) const {
    return x > u ? x : u;
  }
  Half operator()(Half x, Half u) const { return internal::Choose(IsLess(u, x), x, u); }
  BFloat16 operator()(BFloat16 x, BFloat16 u) const { return internal::Choose(IsLess(u, x), x, u); }
  Bool operator()(Bool x, Bool u) const { return Add{}(x, u); }
};

}  // namespace scatterx
