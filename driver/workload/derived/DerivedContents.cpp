// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/derived/DerivedContents.h"

#include "driver/support/ElementType.h"

#include <algorithm>
#include <cmath>

namespace kopt {
namespace {

using MaybeFill = std::optional<Fill>;

/// Numbers whose squares overflow their type, although they are far from its limits themselves.
constexpr double kHuge = 1e30, kHugeDouble = 1e200, kHugeNarrow = 512;

bool isNarrow(const Buffer &buffer) { return buffer.scalar == "f16" || buffer.scalar == "bf16"; }
bool isDrawn(const Buffer &buffer) {
  return buffer.fill.kind == FillKind::Uniform;
} ///< other fills have no range
MaybeFill asItIs(const Buffer &) { return std::nullopt; }

MaybeFill as(const Buffer &buffer, FillKind kind) {
  return isDrawn(buffer) ? MaybeFill(Fill{kind, buffer.fill.low, buffer.fill.high}) : std::nullopt;
}

MaybeFill constant(const Buffer &buffer, double value) {
  return isDrawn(buffer) ? MaybeFill(Fill{FillKind::Constant, value, value}) : std::nullopt;
}

MaybeFill scaled(const Buffer &buffer, double factor) {
  if (!isDrawn(buffer) && buffer.fill.kind != FillKind::Constant)
    return std::nullopt;
  const double high = buffer.fill.kind == FillKind::Constant ? buffer.fill.low : buffer.fill.high;
  return Fill{FillKind::Uniform, buffer.fill.low * factor, high * factor};
}

double hugeFor(const Buffer &buffer) {
  return buffer.scalar == "f64" ? kHugeDouble : isNarrow(buffer) ? kHugeNarrow : kHuge;
}

/// The range, scaled so that its largest magnitude is `most`.
MaybeFill reaching(const Buffer &buffer, double most) {
  const double now = std::max(std::abs(buffer.fill.low), std::abs(buffer.fill.high));
  return isDrawn(buffer) && now > 0 ? scaled(buffer, most / now) : std::nullopt;
}

/// Numbers that are close together and far from 0: a difference of large sums loses all their
/// digits, and a maximum that starts at 0 may never change. The original's own sums may be
/// inaccurate, too; then a candidate's may be as well (isCoarse). Narrow types tell few such
/// numbers apart.
MaybeFill farFromZero(const Buffer &buffer, bool below) {
  if (!isDrawn(buffer) || buffer.fill.high <= buffer.fill.low)
    return std::nullopt;
  const double far = buffer.scalar == "f64" ? 1e8 : isNarrow(buffer) ? 64 : 1e4;
  const double reach = (buffer.fill.high - buffer.fill.low) / 2,
               centre = far * reach * (below ? -1 : 1);
  return Fill{FillKind::Uniform, centre - reach, centre + reach};
}

/// Large numbers beside small ones in each row: a kernel that leaves out a few elements leaves out
/// one that decides the result.
MaybeFill scattered(const Buffer &buffer) {
  MaybeFill fill = isDrawn(buffer) ? scaled(buffer, isNarrow(buffer) ? 16 : 1000) : std::nullopt;
  if (fill)
    fill->kind = FillKind::Scattered;
  return fill;
}

/// Ascending numbers of one sign: if negative numbers were summed first and positive ones cancelled
/// them afterwards, every other order of summation would lose digits.
MaybeFill ascending(const Buffer &buffer) {
  const double low = buffer.fill.low, high = buffer.fill.high;
  return isDrawn(buffer) ? MaybeFill(Fill{FillKind::Sorted, low < 0 && high > 0 ? 0 : low, high})
                         : std::nullopt;
}

/// Sorted numbers; consecutive indices may then repeat or skip some.
MaybeFill sorted(const Buffer &buffer) {
  if (buffer.fill.kind != FillKind::Iota)
    return as(buffer, FillKind::Sorted);
  const std::uint64_t count = buffer.bytes / elementBytes(buffer.scalar);
  return count > 0 ? MaybeFill(Fill{FillKind::Sorted, 0, double(count - 1)}) : std::nullopt;
}

MaybeFill smallIntegers(const Buffer &buffer) {
  if (!isDrawn(buffer))
    return std::nullopt;
  const double low = buffer.fill.low;
  return low < 0 ? Fill{FillKind::Integers, -15, 15}
                 : Fill{FillKind::Integers, std::ceil(low), low + 15};
}

/// Undeclared integers may have any value: negative, or large enough to overflow a narrower sum.
MaybeFill anyInteger(const Buffer &buffer) {
  constexpr double kAll = 0x1p64; // clamped to the range of the type
  return buffer.fill.isDefault && buffer.scalar != "bool"
             ? MaybeFill(Fill{FillKind::Uniform, -kAll, kAll})
             : std::nullopt;
}

MaybeFill negativeThoughUndeclared(const Buffer &buffer) {
  return buffer.fill.isDefault && buffer.scalar.starts_with("i")
             ? MaybeFill(Fill{FillKind::Uniform, -100, -1})
             : std::nullopt;
}

/// Negative numbers, not close to 0: a search for the maximum that starts at 0 returns 0.
MaybeFill negative(const Buffer &buffer) {
  const double low = buffer.fill.low;
  return low < 0 && buffer.fill.high > 0 && isDrawn(buffer)
             ? MaybeFill(Fill{FillKind::Uniform, low, low / 8})
             : std::nullopt;
}

/// Integers that reach beyond all sizes are no indices but bits: of these none is set. Of others
/// the least.
MaybeFill noBits(const Buffer &buffer) {
  constexpr double kBeyondSizes = 1 << 30;
  return constant(buffer,
                  buffer.fill.low >= 0 && buffer.fill.high >= kBeyondSizes ? 0 : buffer.fill.low);
}

/// Replaces zeros and constants. A candidate might leave out a term that happens to be 0, overwrite
/// a sum that starts at 0, or write a known constant into elements that the original leaves alone.
MaybeFill notZero(const Buffer &buffer) {
  const bool isConstant = buffer.fill.kind == FillKind::Constant;
  if (buffer.fill.kind == FillKind::Zero || (isConstant && buffer.fill.low == 0))
    return Fill{FillKind::Uniform, 1, 2};
  return isConstant && !buffer.readOnly && !buffer.output
             ? MaybeFill(Fill{FillKind::Constant, buffer.fill.low - 7, buffer.fill.low - 7})
             : std::nullopt;
}

} // namespace

const std::vector<OtherContents> &otherContents() {
  static const std::vector<OtherContents> kinds = {
      {"large, colliding",
       [](const Buffer &b) { return scaled(b, isNarrow(b) ? 16 : 1000); },
       [](const Buffer &b) { return as(b, FillKind::Colliding); },
       {},
       true},
      {"small, permuted", [](const Buffer &b) { return scaled(b, isNarrow(b) ? 1. / 16 : 1e-3); },
       [](const Buffer &b) { return as(b, FillKind::Permutation); }},
      {"infinite and not a number",
       [](const Buffer &b) { return as(b, FillKind::Special); },
       asItIs,
       {.nonFinite = true},
       true},
      {"some minus infinity", [](const Buffer &b) { return as(b, FillKind::Masked); }, asItIs},
      {"huge",
       [](const Buffer &b) { return reaching(b, hugeFor(b)); },
       asItIs,
       {.isExtreme = true}},
      {"minute",
       [](const Buffer &b) { return reaching(b, 1 / hugeFor(b)); },
       asItIs,
       {.isExtreme = true}},
      {"scattered", scattered, asItIs},
      {"counting",
       [](const Buffer &b) { return isNarrow(b) ? std::nullopt : as(b, FillKind::Iota); }, asItIs},
      {"sorted", ascending, sorted},
      {"all the same",
       [](const Buffer &b) {
         return constant(b, b.fill.low + (b.fill.high - b.fill.low) * 0.8125);
       },
       [](const Buffer &b) { return constant(b, b.fill.high); }},
      {"zeros",
       [](const Buffer &b) {
         return b.fill.low <= 0 && b.fill.high >= 0 && isDrawn(b)
                    ? MaybeFill(Fill{FillKind::Zero, 0, 0})
                    : std::nullopt;
       },
       noBits},
      {"other constants", notZero, notZero, {.maybeConditional = true}},
      {"small integers", smallIntegers, asItIs},
      {"cancelling",
       [](const Buffer &b) {
         return b.fill.low < 0 && b.fill.high > 0 ? as(b, FillKind::Cancelling) : std::nullopt;
       },
       asItIs,
       {.cancelling = true}},
      {"subnormal",
       [](const Buffer &b) {
         return b.fill.low <= 0 && b.fill.high > 0 ? as(b, FillKind::Tiny) : std::nullopt;
       },
       asItIs,
       {.isExtreme = true}},
      {"any integers", asItIs, anyInteger, {.unbounded = true}},
      {"negative integers", asItIs, negativeThoughUndeclared, {.unbounded = true}},
      {"negative", negative,
       [](const Buffer &b) { return b.fill.isDefault ? std::nullopt : negative(b); }},
      {"far above zero",
       [](const Buffer &b) { return b.fill.high <= 0 ? std::nullopt : farFromZero(b, false); },
       asItIs,
       {.isCoarse = true}},
      {"far below zero",
       [](const Buffer &b) { return b.fill.low >= 0 ? std::nullopt : farFromZero(b, true); },
       asItIs,
       {.isCoarse = true}},
  };
  return kinds;
}

const OtherContents &nonFiniteContents() {
  return *std::ranges::find_if(otherContents(),
                               [](const OtherContents &one) { return one.traits.nonFinite; });
}

} // namespace kopt
