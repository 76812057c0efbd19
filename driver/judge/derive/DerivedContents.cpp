// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/derive/DerivedContents.h"

#include "driver/judge/derive/CapturedContents.h"
#include "driver/judge/derive/DeriveLimits.h"
#include "driver/support/ElementType.h"
#include "driver/workload/DeclaredFill.h"
#include "runtime/runner/StructType.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace kopt {
namespace {

using MaybeFill = std::optional<Fill>;

bool isNarrow(const Buffer &buffer) { return buffer.scalar == "f16" || buffer.scalar == "bf16"; }
bool isDrawn(const Buffer &buffer) { return buffer.fill.kind == FillKind::Uniform; }
bool isConstant(const Fill &fill) {
  return fill.kind == FillKind::Zero || fill.kind == FillKind::Constant;
}
double scaleOf(const Buffer &buffer) { return isNarrow(buffer) ? kNarrowScale : kScale; }

MaybeFill fillIf(bool isMade, FillKind kind, double low, double high) {
  return isMade ? MaybeFill(Fill{kind, low, high}) : std::nullopt;
}

/// Inputs that are drawn from a range, in another way. Other fills have none.
OtherContents::Change as(FillKind kind) {
  return [kind](const Buffer &b) { return fillIf(isDrawn(b), kind, b.fill.low, b.fill.high); };
}

MaybeFill constant(const Buffer &buffer, double value) {
  return fillIf(isDrawn(buffer), FillKind::Constant, value, value);
}

MaybeFill scaled(const Buffer &buffer, double factor) {
  const bool isOne = buffer.fill.kind == FillKind::Constant;
  return fillIf(isDrawn(buffer) || isOne, FillKind::Uniform, buffer.fill.low * factor,
                (isOne ? buffer.fill.low : buffer.fill.high) * factor);
}

/// The range, scaled so that its largest magnitude is that of huge numbers, or one divided by it.
MaybeFill ofHugeSize(const Buffer &buffer, bool isMinute) {
  const double huge = buffer.scalar == "f64" ? kHugeDouble : isNarrow(buffer) ? kHugeNarrow : kHuge;
  const double now = std::max(std::abs(buffer.fill.low), std::abs(buffer.fill.high));
  return isDrawn(buffer) && now > 0 ? scaled(buffer, (isMinute ? 1 / huge : huge) / now)
                                    : std::nullopt;
}

/// Numbers that are close together and far from 0: a difference of large sums loses all their
/// digits, and a maximum that starts at 0 may never change. The original's own sums may be
/// inaccurate, too; then a candidate's may be as well (isCoarse). Narrow types tell few such
/// numbers apart.
MaybeFill farFromZero(const Buffer &buffer, double sign) {
  const double far = buffer.scalar == "f64" ? 1e8 : isNarrow(buffer) ? 64 : 1e4;
  const double reach = (buffer.fill.high - buffer.fill.low) / 2, centre = sign * far * reach;
  return fillIf(isDrawn(buffer) && reach > 0, FillKind::Uniform, centre - reach, centre + reach);
}

/// Large numbers beside small ones in each row: a kernel that leaves out a few elements leaves out
/// one that decides the result.
MaybeFill scattered(const Buffer &b) {
  return fillIf(isDrawn(b), FillKind::Scattered, b.fill.low * scaleOf(b), b.fill.high * scaleOf(b));
}

/// Ascending numbers of one sign: if negative numbers were summed first and positive ones cancelled
/// them afterwards, every other order of summation would lose digits.
MaybeFill ascending(const Buffer &b) {
  return fillIf(isDrawn(b), FillKind::Sorted, b.fill.low < 0 && b.fill.high > 0 ? 0 : b.fill.low,
                b.fill.high);
}

/// Sorted numbers; consecutive indices may then repeat or skip some.
MaybeFill sorted(const Buffer &buffer) {
  const std::uint64_t count = buffer.bytes / elementBytes(buffer.scalar);
  return buffer.fill.kind == FillKind::Iota
             ? fillIf(count > 0, FillKind::Sorted, 0, double(count) - 1)
             : as(FillKind::Sorted)(buffer);
}

MaybeFill smallIntegers(const Buffer &buffer) {
  const double low = buffer.fill.low < 0 ? -15 : std::ceil(buffer.fill.low);
  return fillIf(isDrawn(buffer), FillKind::Integers, low,
                buffer.fill.low < 0 ? 15 : buffer.fill.low + 15);
}

/// Undeclared integers may have any value: negative, or large enough to overflow a narrower sum.
MaybeFill anyInteger(const Buffer &buffer) {
  constexpr double kAll = 0x1p64; // clamped to the range of the type
  return fillIf(buffer.fill.isDefault && buffer.scalar != "bool", FillKind::Uniform, -kAll, kAll);
}

/// Negative numbers, not close to 0: a search for the maximum that starts at 0 returns 0.
MaybeFill negative(const Buffer &buffer) {
  const double low = buffer.fill.low;
  return fillIf(low < 0 && buffer.fill.high > 0 && isDrawn(buffer), FillKind::Uniform, low,
                low / 8);
}

/// Integers that reach beyond all sizes are no indices but bits: of these none is set. Of others
/// the least.
MaybeFill noBits(const Buffer &buffer) {
  const bool areBits = buffer.fill.low >= 0 && buffer.fill.high >= double(kLargestSize);
  return constant(buffer, areBits ? 0 : buffer.fill.low);
}

/// Replaces zeros and constants. A candidate might leave out a term that happens to be 0, overwrite
/// a sum that starts at 0, or write a known constant into elements that the original leaves alone.
MaybeFill notZero(const Buffer &buffer) {
  if (isConstant(buffer.fill) && (buffer.fill.kind == FillKind::Zero || buffer.fill.low == 0))
    return Fill{FillKind::Uniform, 1, 2};
  return fillIf(isConstant(buffer.fill) && !buffer.readOnly && !buffer.output, FillKind::Constant,
                buffer.fill.low - 7, buffer.fill.low - 7);
}

/// Captured numbers that are not constant, drawn anew; sorted integers get uneven steps, as they
/// may be where rows begin.
MaybeFill drawn(const Buffer &buffer) {
  const FillKind kind = buffer.fill.kind;
  if (kind == FillKind::Captured || buffer.fill.low >= buffer.fill.high)
    return std::nullopt;
  const bool isUneven = kind == FillKind::Sorted && !isFloating(buffer.scalar);
  return Fill{isUneven ? FillKind::Uneven : kind, buffer.fill.low, buffer.fill.high};
}

/// The captured numbers, also those in structs, multiplied.
MaybeFill multiplied(const Buffer &buffer, double factor) {
  return fillIf(runtime::holdsFloatingPoint(buffer.scalar), FillKind::Captured, -1, factor);
}

/// Numbers of one sign get the other one.
MaybeFill ofOtherSign(const Buffer &buffer, double factor) {
  Buffer other = buffer;
  other.fill.low = -factor * buffer.fill.high;
  other.fill.high = -factor * buffer.fill.low;
  return other.fill.low >= 0 || other.fill.high <= 0 ? drawn(other) : std::nullopt;
}

MaybeFill otherCharacters(const Buffer &buffer) {
  return fillIf(runtime::scalarBytes(buffer.scalar) == 1 && buffer.fill.low >= ' ',
                FillKind::Uniform, buffer.fill.low - 1, buffer.fill.high + 1);
}

} // namespace

MaybeFill asItIs(const Buffer &) { return std::nullopt; }

const OtherContents &greatIntegers() {
  static const OtherContents great{"great integers", asItIs, [](const Buffer &b) {
                                     const double high = b.fill.isDefault ? 0x1p64 : b.fill.high;
                                     return b.fill.low < high ? constant(b, high) : std::nullopt;
                                   }};
  return great;
}

const std::vector<OtherContents> &otherContents() {
  using B = const Buffer &;
  static const std::vector<OtherContents> kinds = {
      {"large, colliding",
       [](B b) { return scaled(b, scaleOf(b)); },
       as(FillKind::Colliding),
       {},
       true},
      {"small, permuted", [](B b) { return scaled(b, 1 / scaleOf(b)); }, as(FillKind::Permutation)},
      {"infinite and not a number", as(FillKind::Special), asItIs, {.nonFinite = true}, true},
      {"some minus infinity", as(FillKind::Masked), asItIs},
      {"huge", [](B b) { return ofHugeSize(b, false); }, asItIs, {.isExtreme = true}},
      {"minute", [](B b) { return ofHugeSize(b, true); }, asItIs, {.isExtreme = true}},
      {"scattered", scattered, asItIs},
      {"counting", [](B b) { return isNarrow(b) ? std::nullopt : as(FillKind::Iota)(b); }, asItIs},
      {"sorted", ascending, sorted},
      {"all the same",
       [](B b) { return constant(b, b.fill.low + (b.fill.high - b.fill.low) * 0.8125); },
       [](B b) { return constant(b, b.fill.high); }},
      {"zeros",
       [](B b) {
         return fillIf(b.fill.low <= 0 && b.fill.high >= 0 && isDrawn(b), FillKind::Zero, 0, 0);
       },
       noBits},
      {"other constants", notZero, notZero, {.maybeConditional = true}},
      {"small integers", smallIntegers, asItIs},
      {"cancelling",
       [](B b) {
         return b.fill.low < 0 && b.fill.high > 0 ? as(FillKind::Cancelling)(b) : std::nullopt;
       },
       asItIs,
       {.cancelling = true}},
      {"subnormal",
       [](B b) {
         return b.fill.low <= 0 && b.fill.high > 0 ? as(FillKind::Tiny)(b) : std::nullopt;
       },
       asItIs,
       {.isExtreme = true}},
      {"any integers", asItIs, anyInteger, {.unbounded = true}},
      {"negative integers",
       asItIs,
       [](B b) {
         return fillIf(b.fill.isDefault && b.scalar.starts_with("i"), FillKind::Uniform, -100, -1);
       },
       {.unbounded = true}},
      {"negative", negative, [](B b) { return b.fill.isDefault ? std::nullopt : negative(b); }},
      {"far above zero",
       [](B b) { return b.fill.high > 0 ? farFromZero(b, 1) : std::nullopt; },
       asItIs,
       {.isCoarse = true}},
      {"far below zero",
       [](B b) { return b.fill.low < 0 ? farFromZero(b, -1) : std::nullopt; },
       asItIs,
       {.isCoarse = true}},
  };
  return kinds;
}

namespace {

/// Of captured inputs, whose fills say what they are like. `typical` is the magnitude of those that
/// are not constant.
std::vector<OtherContents> capturedContents(double typical) {
  // Different numbers in place of constant ones, so that a factor of 1 or a term of 0 matters.
  const auto replaced = [typical](const Buffer &b) -> MaybeFill {
    if (!isConstant(b.fill))
      return std::nullopt;
    const double middle = b.fill.low != 0 ? b.fill.low : typical != 0 ? typical : 1;
    return Fill{FillKind::Uniform, std::min(middle / 2, middle * 1.5),
                std::max(middle / 2, middle * 1.5)};
  };
  const auto larger = [](const Buffer &b) { return multiplied(b, scaleOf(b)); };
  const auto smaller = [](const Buffer &b) { return multiplied(b, 1 / scaleOf(b)); };
  std::vector<OtherContents> ofRanges = otherContents();
  for (OtherContents &kind : ofRanges)
    kind.floating = [of = kind.floating](Buffer b) {
      if (b.fill.kind == FillKind::Sorted || b.fill.kind == FillKind::Integers)
        b.fill.kind = FillKind::Uniform;
      return of(b);
    };
  std::vector<OtherContents> kinds = {
      {"constant ones replaced", replaced, asItIs, {}, false, "constant ones replaced in"},
      {"floating-point numbers drawn anew", drawn, asItIs},
      {"a thousand times larger", larger, larger},
      *std::ranges::find_if( // early, as a clamp that hides NaNs is a common mistake
          ofRanges, [](const OtherContents &one) { return one.traits.nonFinite; }),
      {"all drawn anew, constant ones replaced",
       [replaced](const Buffer &b) {
         const MaybeFill fill = drawn(b);
         return fill ? fill : replaced(b);
       },
       drawn,
       {},
       false,
       "drawn anew:"},
      {"a thousand times smaller", smaller, smaller},
      {"of the other sign", [](const Buffer &b) { return ofOtherSign(b, 1); }, asItIs},
      {"integers drawn anew", asItIs, drawn},
      {"of the other sign, a thousand times larger",
       [](const Buffer &b) { return ofOtherSign(b, kScale); }, asItIs}};
  std::ranges::move(ofRanges, std::back_inserter(kinds));
  kinds.push_back({"other characters, too", asItIs, otherCharacters});
  return kinds;
}

} // namespace

Inputs::Inputs(const DerivationSource &source, const Launch &launch)
    : launch_(launch), kinds_(otherContents()) {
  std::vector<double> magnitudes; // of floating-point numbers that are not constant
  for (std::size_t b = 0; b < launch.buffers.size(); ++b) {
    like_.push_back(like(source, b));
    if (const auto &fill = like_[b];
        fill && isFloating(launch.buffers[b].scalar) && !isConstant(*fill))
      magnitudes.push_back(std::max(std::abs(fill->low), std::abs(fill->high)));
  }
  std::ranges::sort(magnitudes);
  if (isCaptured(launch))
    kinds_ = capturedContents(magnitudes.empty() ? 0 : magnitudes[magnitudes.size() / 2]);
}

std::optional<Fill> Inputs::like(const DerivationSource &source, std::size_t b) {
  const Buffer &buffer = launch_.buffers[b];
  const bool isArgument = !buffer.symbol.empty() && buffer.fill.kind == FillKind::Constant &&
                          !isFloating(buffer.scalar);
  if (buffer.output || isArgument)
    return std::nullopt;
  if (!isCaptured(launch_))
    return buffer.fill;
  const TuneDeclaration *declared = source.declaration;
  const bool isDeclared = declared && declared->fills.contains(buffer.name);
  const auto range = isDeclared ? declaredFill(*declared, buffer, launch_.bindings)
                                : Result<std::optional<Fill>>(std::nullopt);
  const bool hasRange = range && *range && (*range)->kind == FillKind::Uniform;
  if (buffer.fill.kind != FillKind::Captured || (isDeclared && !hasRange))
    return std::nullopt;
  if (auto like = likeContents(launch_, b, hasRange ? &**range : nullptr))
    return std::move(*like);
  else if (!isDeclared && runtime::StructType::parse(buffer.scalar) &&
           runtime::holdsFloatingPoint(buffer.scalar))
    return buffer.fill; // whose members have different ranges
  else
    unknown_.push_back(std::move(like.error()));
  return std::nullopt;
}

std::optional<Launch> Inputs::with(Launch launch, const OtherContents &wanted,
                                   std::optional<std::size_t> only) const {
  bool isChanged = false;
  for (std::size_t b = 0; b < launch.buffers.size(); ++b) {
    Buffer &buffer = launch.buffers[b], as = buffer;
    if (!like_[b] || only.value_or(b) != b)
      continue;
    if (isCaptured(launch_))
      as.fill = *like_[b];
    auto fill = (isFloating(buffer.scalar) ? wanted.floating : wanted.integer)(as);
    if (!fill)
      continue;
    if (fill->kind == FillKind::Captured)
      fill->path = buffer.fill.path;
    else
      buffer.holdsPointers = false;
    buffer.fill = std::move(*fill);
    isChanged = true;
  }
  return isChanged ? std::optional(std::move(launch)) : std::nullopt;
}

} // namespace kopt
