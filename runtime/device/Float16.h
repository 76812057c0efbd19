// SPDX-License-Identifier: Apache-2.0
// The floating-point types of 16 bits as their bits: a half has 5 bits of exponent and 10 of
// mantissa, a bfloat16 8 and 7. Harnesses contain this text: C++17 and its library alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace kopt::runtime {

/// The bits of the nearest value, ties to even; `value` lies within the finite range.
template <int Exponent, int Mantissa> std::uint16_t narrow(double value) {
  constexpr int kBias = (1 << (Exponent - 1)) - 1;
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(value);
  if (magnitude == 0)
    return sign;
  // Count in units of the last place of its binade (or of the subnormals), and round away the bits
  // that do not fit, to nearest even.
  std::uint64_t whole;
  std::memcpy(&whole, &magnitude, sizeof whole);
  const int own = int(whole >> 52) - 1023;
  const int exponent = std::max(own, 1 - kBias);
  const int dropped = 52 - Mantissa + exponent - own;
  const std::uint64_t digits = (whole & ((std::uint64_t(1) << 52) - 1)) | std::uint64_t(1) << 52;
  std::uint32_t steps = 0; // stays 0 where the value is below half a unit
  if (dropped <= 53) {
    const std::uint64_t half = std::uint64_t(1) << (dropped - 1);
    steps = std::uint32_t((digits + half - 1 + (digits >> dropped & 1)) >> dropped);
  }
  // Adding the mantissa with its hidden bit carries into the exponent by itself when rounding
  // crossed a binade.
  const std::uint32_t bits = (std::uint32_t(exponent + kBias - 1) << Mantissa) + steps;
  return std::uint16_t(sign | bits);
}

template <int Exponent, int Mantissa> double widen(std::uint16_t bits) {
  constexpr int kBias = (1 << (Exponent - 1)) - 1, kMost = (1 << Exponent) - 1;
  const int exponent = bits >> Mantissa & kMost, fraction = bits & ((1 << Mantissa) - 1);
  double magnitude = exponent == 0
                         ? std::ldexp(fraction, 1 - kBias - Mantissa)
                         : std::ldexp(fraction + (1 << Mantissa), exponent - kBias - Mantissa);
  if (exponent == kMost)
    magnitude = fraction == 0 ? std::numeric_limits<double>::infinity()
                              : std::numeric_limits<double>::quiet_NaN();
  return bits & 0x8000 ? -magnitude : magnitude;
}

} // namespace kopt::runtime
