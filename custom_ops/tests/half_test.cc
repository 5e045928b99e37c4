// float16 and bfloat16: every value, every border between two values.
#include "scatterx/half.h"

#include <cmath>
#include <limits>

#include "check.h"

namespace {

using namespace scatterx;

// The value of a 16-bit float with `digits` bits after the point, from the definition.
double ValueOf(unsigned bits, int digits, int bias) {
  const int top = (1 << (15 - digits)) - 1;
  const int exponent = (bits >> digits) & top, fraction = bits & ((1 << digits) - 1);
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == top)
    return fraction ? std::nan("") : sign * std::numeric_limits<double>::infinity();
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - digits);
  return sign * std::ldexp((1 << digits) + fraction, exponent - bias - digits);
}

template <class T, class Round>
void CheckType(int digits, int bias, const Round& round) {
  const unsigned infinity = ((1u << (15 - digits)) - 1) << digits;
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const T value{static_cast<std::uint16_t>(bits)};
    const double wanted = ValueOf(bits, digits, bias);
    if (std::isnan(wanted)) {
      CHECK(std::isnan(ToFloat(value))) << bits;
      CHECK(std::isnan(ToFloat(round(ToFloat(value))))) << bits;
      continue;
    }
    CHECK(ToFloat(value) == wanted && std::signbit(ToFloat(value)) == std::signbit(wanted)) << bits;
    CHECK(round(ToFloat(value)).bits == bits) << bits;
    if ((bits & 0x7fff) >= infinity) continue;
    // Half way to the next value goes to the even one; a hair less goes down, a hair more up.
    const double next = (bits & 0x7fff) + 1 == infinity
                            ? 2 * wanted - ValueOf(bits - 1, digits, bias)
                            : ValueOf(bits + 1, digits, bias);
    const float middle = static_cast<float>((wanted + next) / 2);
    if (middle != (wanted + next) / 2) continue;  // below float's own smallest step
    CHECK(round(middle).bits == bits + bits % 2) << bits;
    CHECK(round(std::nextafter(middle, 0.0f)).bits == bits) << bits;
    CHECK(round(std::nextafter(middle, static_cast<float>(2 * next))).bits == bits + 1) << bits;
  }
}

}  // namespace

int main() {
  CheckType<Half>(10, 15, ToHalf);
  CheckType<BFloat16>(7, 127, ToBFloat16);
  for (unsigned x = 0; x < 0x10000; x += 13) {
    for (unsigned u = 0; u < 0x10000; u += 97) {
      const Half a{static_cast<std::uint16_t>(x)}, b{static_cast<std::uint16_t>(u)};
      CHECK(IsLess(a, b) == (ToFloat(a) < ToFloat(b))) << x << " " << u;
    }
  }
  const Half zeros[] = {{0}, {0x8000}};
  CHECK(!IsLess(zeros[0], zeros[1]) && !IsLess(zeros[1], zeros[0]));
  CHECK(ToHalf(1e30f).bits == 0x7c00);
  CHECK(ToHalf(-65520.0f).bits == 0xfc00);
  CHECK(ToHalf(1e-30f).bits == 0);
  CHECK(std::isnan(ToFloat(ToHalf(std::nanf("")))));
  return Failures() != 0;
}
