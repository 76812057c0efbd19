// SPDX-License-Identifier: Apache-2.0
// The value of a floating-point number of 16 bits.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace kopt {

/// IEEE half precision has 5 bits of exponent and 10 of mantissa, bfloat16 has 8 and 7.
inline double valueOf16(std::uint16_t bits, int exponentBits, int mantissaBits) {
  const int bias = (1 << (exponentBits - 1)) - 1, top = (1 << exponentBits) - 1;
  const int exponent = bits >> mantissaBits & top, fraction = bits & ((1 << mantissaBits) - 1);
  double magnitude =
      fraction ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  if (exponent == 0)
    magnitude = std::ldexp(fraction, 1 - bias - mantissaBits);
  else if (exponent != top)
    magnitude = std::ldexp(fraction + (1 << mantissaBits), exponent - bias - mantissaBits);
  return bits & 0x8000 ? -magnitude : magnitude;
}

} // namespace kopt
