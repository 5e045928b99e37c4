// float16 and bfloat16 as bits, to float32 and back, rounding to nearest even.
#pragma once

#include <cstdint>
#include <cstring>

namespace scatterx {

struct Half {
  std::uint16_t bits;
};
struct BFloat16 {
  std::uint16_t bits;
};

namespace internal {

inline float FloatOf(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

inline std::uint32_t BitsOf(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

}  // namespace internal

// The exponent's bias changes from 15 to 127, so 112 is added to it, and once more for infinity and
// NaN. Subnormals are made from integers, so they are right even if the thread flushes subnormal
// floats to zero.
inline float ToFloat(Half half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half.bits & 0x8000u) << 16;
  const std::uint32_t magnitude = half.bits & 0x7fffu;
  const std::uint32_t special = magnitude >= 0x7c00u ? 112u << 23 : 0u;
  const std::uint32_t normal = (magnitude << 13) + (112u << 23) + special;
  const std::uint32_t subnormal =
      internal::BitsOf(static_cast<float>(static_cast<std::int32_t>(magnitude)) * 0x1p-24f);
  return internal::FloatOf(sign | (magnitude < 0x0400u ? subnormal : normal));
}

inline Half ToHalf(float value) {
  const std::uint32_t bits = internal::BitsOf(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  // Half of the last kept bit, less one, plus the last kept bit: ties go to even. Overflow carries
  // into infinity.
  const std::uint32_t normal = (magnitude - (112u << 23) + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
  // In [0.5, 1) a float's last bit is 2^-24, which is half's smallest step: the addition does the
  // rounding.
  const std::uint32_t subnormal =
      internal::BitsOf(internal::FloatOf(magnitude) + 0.5f) - internal::BitsOf(0.5f);
  std::uint32_t half = magnitude < 0x38800000u ? subnormal : normal;
  half = magnitude >= 0x47800000u ? 0x7c00u : half;
  half = magnitude > 0x7f800000u ? 0x7e00u | ((magnitude >> 13) & 0x3ffu) : half;
  return {static_cast<std::uint16_t>(sign | half)};
}

inline float ToFloat(BFloat16 value) {
  return internal::FloatOf(static_cast<std::uint32_t>(value.bits) << 16);
}

inline BFloat16 ToBFloat16(float value) {
  const std::uint32_t bits = internal::BitsOf(value);
  const bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
  const std::uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  return {static_cast<std::uint16_t>(nan ? (bits >> 16) | 0x40u : rounded)};
}

// x < u, straight from the bits: with the sign as a sign, magnitudes compare like integers, and
// both zeros are 0.
inline bool IsLess(Half x, Half u) {
  const int a = x.bits & 0x7fff, b = u.bits & 0x7fff;
  const bool ordered = (a <= 0x7c00) & (b <= 0x7c00);
  return ordered & ((x.bits & 0x8000 ? -a : a) < (u.bits & 0x8000 ? -b : b));
}

inline bool IsLess(BFloat16 x, BFloat16 u) { return ToFloat(x) < ToFloat(u); }

}  // namespace scatterx
