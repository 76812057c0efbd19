// SPDX-License-Identifier: Apache-2.0
#include "runtime/runner/Fill.h"

#include "runtime/runner/StructType.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>

namespace kopt::runtime {

namespace {

constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15u;

std::uint64_t streamKey(std::uint64_t seed, std::uint64_t stream, std::uint64_t purpose) {
  return mixedBits(mixedBits(seed + kGolden * (purpose + 1)) + kGolden * (stream + 1));
}

/// Up to here all integers are numbers of the type.
template <class T>
constexpr std::uint64_t kExactIntegers = std::uint64_t(2) << FloatTraits<T>::kMantissa;

/// Calls `use` with the type of a floating-point scalar, as a std::type_identity.
template <class Use> void withFloat(std::string_view scalar, Use use) {
  withScalar(scalar, [&]<class T>(std::type_identity<T> type) {
    if constexpr (!std::integral<T>)
      use(type);
  });
}

/// The bit patterns of a floating-point type, by the width of its mantissa.
template <class T> struct FloatBits {
  using Bits = typename FloatTraits<T>::Bits;
  static constexpr Bits kSign = Bits(1) << (8 * sizeof(T) - 1);
  static constexpr Bits kFraction = (Bits(1) << FloatTraits<T>::kMantissa) - 1;
  static constexpr Bits kInfinity = Bits(~kSign) & Bits(~kFraction);

  /// Positive and negative infinity, not a number, minus zero.
  static T special(std::uint64_t which) {
    constexpr Bits kSpecials[] = {kInfinity, Bits(kInfinity | kSign),
                                  Bits(kInfinity | Bits(1) << (FloatTraits<T>::kMantissa - 1)),
                                  kSign};
    return std::bit_cast<T>(kSpecials[which % 4]);
  }
  /// A subnormal, or zero in one of 2^kMantissa draws.
  static T subnormal(std::uint64_t draw, bool isSigned) {
    return std::bit_cast<T>(Bits((draw & kFraction) | (isSigned && draw >> 63 ? kSign : 0)));
  }
  /// The next value above or below in magnitude, or `value` itself, chosen by `draw`. Zeros,
  /// infinities and NaN stay as they are.
  static T moved(T value, std::uint64_t draw) {
    const Bits bits = std::bit_cast<Bits>(value), magnitude = bits & Bits(~kSign);
    const Bits next = Bits(magnitude + draw % 3 - 1);
    if (magnitude == 0 || magnitude >= kInfinity || next >= kInfinity)
      return value;
    return std::bit_cast<T>(Bits(next | (bits & kSign)));
  }
};

template <class T, class Value>
void store(std::byte *out, std::size_t size, std::uint64_t first, Value value) {
  const std::size_t count = size / sizeof(T);
  for (std::size_t i = 0; i < count; ++i) {
    const T element = value(first + i);
    std::memcpy(out + i * sizeof(T), &element, sizeof(T));
  }
  // A buffer that ends inside an element gets the element's first bytes.
  if (const std::size_t rest = size % sizeof(T)) {
    const T element = value(first + count);
    std::memcpy(out + count * sizeof(T), &element, rest);
  }
}

/// Maps each counter to one of `count` numbers; any `count` consecutive counters give each number
/// once.
class Permutation {
public:
  Permutation(std::uint64_t key, std::uint64_t count)
      : count_(count), step_(drawnBits(key, 0) % count), shift_(drawnBits(key, 1) % count) {
    while (std::gcd(step_, count_) != 1)
      step_ = step_ + 1 == count_ ? 1 : step_ + 1;
  }
  std::uint64_t operator()(std::uint64_t counter) const {
    return std::uint64_t((static_cast<unsigned __int128>(step_) * counter + shift_) % count_);
  }

private:
  std::uint64_t count_, step_, shift_;
};

template <class T>
void fillFloat(const BufferSpec &spec, std::uint64_t key, std::uint64_t first, std::size_t size,
               std::byte *out) {
  using Traits = FloatTraits<T>;
  const std::uint64_t count = std::max<std::uint64_t>(spec.bytes / sizeof(T), 1);
  const double low = std::clamp(spec.low, -Traits::kMax, Traits::kMax);
  const double high = std::clamp(spec.high, -Traits::kMax, Traits::kMax);
  // Halve first, because high - low may overflow to infinity.
  const auto between = [&](double unit) {
    return std::clamp(low + 2 * (unit * (high / 2 - low / 2)), low, high);
  };
  const auto unit = [&](std::uint64_t i) { return double(drawnBits(key, i) >> 11) * 0x1p-53; };
  switch (spec.fill) {
  case FillKind::Constant:
    return store<T>(out, size, first, [&](std::uint64_t) { return Traits::from(low); });
  case FillKind::Iota: // wraps before integers stop being exact
    return store<T>(out, size, first,
                    [&](std::uint64_t i) { return Traits::from(double(i % kExactIntegers<T>)); });
  case FillKind::Integers:
    return store<T>(out, size, first, [&](std::uint64_t i) {
      return Traits::from(std::clamp(std::round(between(unit(i))), low, high));
    });
  case FillKind::Sorted:
    return store<T>(out, size, first, [&](std::uint64_t i) {
      return Traits::from(between(double(i) / double(count)));
    });
  case FillKind::Permutation:
    return store<T>(out, size, first, [&, order = Permutation(key, count)](std::uint64_t i) {
      return Traits::from(between(double(order(i)) / double(count)));
    });
  case FillKind::Cancelling: // the sum of each pair is at most a thousandth of its first number
    return store<T>(out, size, first, [&](std::uint64_t i) {
      const double value = between(unit(i & ~std::uint64_t(1)));
      return Traits::from(i & 1 ? std::clamp(-value * (1 - unit(i) / 1000), low, high) : value);
    });
  case FillKind::Special: // one in 32; of few one in 4, and each kind in turn
    return store<T>(out, size, first, [&](std::uint64_t i) {
      constexpr std::uint64_t kFew = 256;
      const std::uint64_t bits = mixedBits(drawnBits(key, count < kFew ? i / 4 : i));
      const bool isOne = count < kFew ? bits % 4 == i % 4 : bits % 32 == 0;
      return isOne ? FloatBits<T>::special(count < kFew ? key + i / 4 : bits >> 8)
                   : Traits::from(between(unit(i)));
    });
  case FillKind::Masked: // one in 4, as where a sum of exponentials leaves elements out
    return store<T>(out, size, first, [&](std::uint64_t i) {
      return mixedBits(drawnBits(key, i)) % 4 == 0 ? FloatBits<T>::special(1)
                                                   : Traits::from(between(unit(i)));
    });
  case FillKind::Tiny:
    return store<T>(out, size, first, [&](std::uint64_t i) {
      return FloatBits<T>::subnormal(drawnBits(key, i), low < 0);
    });
  case FillKind::Colliding:
    return store<T>(out, size, first, [&](std::uint64_t i) {
      return Traits::from(between(double(drawnBits(key, i) % 3) / 2));
    });
  // Equally many numbers of each of 30 magnitudes, of both signs if the range has both.
  case FillKind::Scattered:
    return store<T>(out, size, first, [&](std::uint64_t i) {
      const double share = std::exp2(-30 * unit(i)), nearest = std::clamp(0.0, low, high);
      const bool isLow = low < 0 && (high <= 0 || mixedBits(drawnBits(key, i)) % 2 == 0);
      return Traits::from(
          std::clamp(nearest + share * (isLow ? low - nearest : high - nearest), low, high));
    });
  default:
    return store<T>(out, size, first,
                    [&](std::uint64_t i) { return Traits::from(between(unit(i))); });
  }
}

/// The bound as an integer of the type. A double cannot hold every 64-bit value, so both limits are
/// compared first.
template <class T> T clipToInteger(double value) {
  if (value <= double(std::numeric_limits<T>::min()))
    return std::numeric_limits<T>::min();
  if (value >= double(std::numeric_limits<T>::max()))
    return std::numeric_limits<T>::max();
  return static_cast<T>(value);
}

template <class T>
void fillInteger(const BufferSpec &spec, std::uint64_t key, std::uint64_t first, std::size_t size,
                 std::byte *out) {
  const T low = clipToInteger<T>(std::ceil(spec.low));
  const T high = std::max(low, clipToInteger<T>(std::floor(spec.high)));
  const std::uint64_t span = std::uint64_t(high) - std::uint64_t(low); // modular, exact
  const std::uint64_t count = std::max<std::uint64_t>(spec.bytes / sizeof(T), 1);
  const auto at = [&](std::uint64_t step) { return static_cast<T>(std::uint64_t(low) + step); };
  switch (spec.fill) {
  case FillKind::Constant:
    return store<T>(out, size, first, [&](std::uint64_t) { return low; });
  case FillKind::Iota: // wraps before the sign
    return store<T>(out, size, first, [&](std::uint64_t i) {
      return static_cast<T>(i & std::uint64_t(std::numeric_limits<T>::max()));
    });
  case FillKind::Sorted:
    return store<T>(out, size, first, [&](std::uint64_t i) {
      return at(std::uint64_t(static_cast<unsigned __int128>(span) * i / count));
    });
  case FillKind::Uneven:
    return store<T>(out, size, first, [&](std::uint64_t i) {
      constexpr std::uint64_t kGroup = 256;
      const std::uint64_t in = i % kGroup, first = i - in;
      const std::uint64_t steps = in <= kGroup / 4 ? 0 : kGroup / 2 + (in - kGroup / 4) * 2 / 3;
      return at(std::uint64_t(static_cast<unsigned __int128>(span) *
                              std::min(first + steps, count) / count));
    });
  case FillKind::Permutation:
    return store<T>(out, size, first,
                    [&, order = Permutation(key, span == UINT64_MAX ? span : span + 1)](
                        std::uint64_t i) { return at(order(i)); });
  case FillKind::Colliding:
    return store<T>(out, size, first, [&](std::uint64_t i) {
      const std::uint64_t places[] = {0, span / 2, span};
      return at(places[drawnBits(key, i) % 3]);
    });
  default:
    return store<T>(out, size, first, [&](std::uint64_t i) {
      const std::uint64_t bits = drawnBits(key, i);
      // The high word of the product spreads 64 bits evenly over the span.
      return at(span == UINT64_MAX
                    ? bits
                    : std::uint64_t((static_cast<unsigned __int128>(bits) * (span + 1)) >> 64));
    });
  }
}

template <class T>
void jitterFloat(std::uint64_t key, std::uint64_t first, std::size_t size, std::byte *out) {
  for (std::size_t i = 0; i < size / sizeof(T); ++i) {
    T value;
    std::memcpy(&value, out + i * sizeof(T), sizeof(T));
    value = FloatBits<T>::moved(value, drawnBits(key, first + i));
    std::memcpy(out + i * sizeof(T), &value, sizeof(T));
  }
}

} // namespace

std::size_t scalarSize(const std::string &scalar) { return bytesOfScalar(scalar); }

namespace {

/// Draws elements of a narrower type, and writes each as a double.
void drawWidened(const BufferSpec &spec, std::uint64_t seed, std::uint64_t stream,
                 std::uint64_t offset, std::size_t size, std::byte *out) {
  constexpr std::size_t kAtATime = 1024;
  BufferSpec narrow = spec;
  narrow.scalar = std::exchange(narrow.drawnAs, "");
  const std::size_t width = scalarSize(narrow.scalar);
  narrow.bytes = spec.bytes / sizeof(double) * width;
  std::byte elements[kAtATime * 4];
  for (std::size_t done = 0; done < size / sizeof(double);) {
    const std::size_t count = std::min(kAtATime, size / sizeof(double) - done);
    drawContents(narrow, seed, stream, (offset / sizeof(double) + done) * width, count * width,
                 elements);
    widenNumbers(narrow.scalar, elements, count, out + done * sizeof(double));
    done += count;
  }
}

/// Draws each member as a buffer of its own and combines them element by element. Padding is zero.
void drawStructs(const BufferSpec &spec, const StructType &type, std::uint64_t seed,
                 std::uint64_t stream, std::uint64_t offset, std::size_t size, std::byte *out) {
  constexpr std::uint64_t kAtATime = 1024;
  const std::uint64_t end = offset + size;
  std::vector<BufferSpec> columns(type.members.size(), spec);
  for (std::size_t m = 0; m < columns.size(); ++m) {
    columns[m].scalar = type.members[m].scalar;
    columns[m].bytes = (spec.bytes + type.bytes - 1) / type.bytes * type.members[m].bytes;
  }
  std::vector<std::byte> elements, column;
  for (std::uint64_t first = offset / type.bytes; first * type.bytes < end; first += kAtATime) {
    const std::uint64_t count =
        std::min(kAtATime, (end - first * type.bytes + type.bytes - 1) / type.bytes);
    elements.assign(count * type.bytes, std::byte(0));
    for (std::size_t m = 0; m < type.members.size(); ++m) {
      const StructType::Member &member = type.members[m];
      column.resize(count * member.bytes);
      drawContents(columns[m], seed, stream + (std::uint64_t(m + 1) << 32), first * member.bytes,
                   column.size(), column.data());
      for (std::uint64_t i = 0; i < count; ++i)
        std::memcpy(elements.data() + i * type.bytes + member.offset,
                    column.data() + i * member.bytes, member.bytes);
    }
    const std::uint64_t begin = std::max(offset, first * type.bytes),
                        upTo = std::min(end, (first + count) * type.bytes);
    std::memcpy(out + (begin - offset), elements.data() + (begin - first * type.bytes),
                upTo - begin);
  }
}

} // namespace

void drawContents(const BufferSpec &spec, std::uint64_t seed, std::uint64_t stream,
                  std::uint64_t offset, std::size_t size, std::byte *out) {
  if (spec.fill == FillKind::Values && !spec.contents.empty())
    return; // read from its file
  if (!spec.drawnAs.empty())
    return drawWidened(spec, seed, stream, offset, size, out);
  if (spec.fill == FillKind::Values && !spec.jitter) {
    const std::uint64_t end = spec.values.size(), from = std::min(offset, end),
                        given = std::min<std::uint64_t>(size, end - from);
    std::memcpy(out, spec.values.data() + from, given);
    std::memset(out + given, 0, size - given);
    return;
  }
  if (const auto type = StructType::parse(spec.scalar); type && spec.fill != FillKind::Captured)
    return drawStructs(spec, *type, seed, stream, offset, size, out);
  const std::uint64_t key = streamKey(seed, stream, 0);
  const std::uint64_t first = offset / scalarSize(spec.scalar);
  const std::string &s = spec.scalar;
  if (spec.jitter) {
    BufferSpec plain = spec;
    plain.jitter = 0;
    drawContents(plain, seed, stream, offset, size, out);
    const std::uint64_t own = streamKey(seed, stream, 1 + spec.jitter);
    withFloat(s, [&]<class T>(std::type_identity<T>) { jitterFloat<T>(own, first, size, out); });
    return;
  }
  if (spec.fill == FillKind::Captured || spec.fill == FillKind::Values)
    return; // read from its file, never drawn
  if (spec.fill == FillKind::Zero) {
    std::memset(out, 0, size);
    return;
  }
  if (s == "bool" && spec.fill == FillKind::Iota)
    return store<std::uint8_t>(out, size, first,
                               [](std::uint64_t i) { return std::uint8_t(i & 1); });
  BufferSpec range = spec;
  if (s == "bool") { // any other byte than 0 and 1 is not a bool
    range.low = std::clamp(spec.low, 0.0, 1.0);
    range.high = std::clamp(spec.high, 0.0, 1.0);
  }
  withScalar(s, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::integral<T>)
      fillInteger<T>(range, key, first, size, out);
    else
      fillFloat<T>(range, key, first, size, out);
  });
}

std::uint64_t leadOf(const BufferSpec &spec) {
  return spec.drawnAs.empty() ? std::min(spec.lead, spec.bytes) : 0;
}

bool altersCaptured(const BufferSpec &spec) {
  return !spec.contents.empty() && (spec.factor != 1 || spec.jitter != 0) &&
         holdsFloatingPoint(spec.scalar);
}

namespace {

/// A number of a captured buffer, multiplied and moved. Infinities and NaN stay as they are.
template <class T>
T altered(const BufferSpec &spec, std::uint64_t key, std::uint64_t index, T value) {
  if (spec.factor != 1) {
    const double number = FloatTraits<T>::valueOf(value);
    if (std::isfinite(number))
      value = FloatTraits<T>::from(
          std::clamp(number * spec.factor, -FloatTraits<T>::kMax, FloatTraits<T>::kMax));
  }
  return spec.jitter != 0 ? FloatBits<T>::moved(value, drawnBits(key, index)) : value;
}

/// Alters the floating-point numbers that lie `at` bytes into each element of `element` bytes.
template <class T>
void alterNumbers(const BufferSpec &spec, std::uint64_t key, std::uint64_t element,
                  std::uint64_t at, std::uint64_t offset, std::size_t size, std::byte *bytes) {
  const std::uint64_t begin = leadOf(spec) + at, end = offset + size;
  std::uint64_t index = offset > begin ? (offset - begin + element - 1) / element : 0;
  for (std::uint64_t place = begin + index * element; place + sizeof(T) <= end;
       place += element, ++index) {
    // A number that lies in two pieces is kept, so that the result does not depend on how the
    // buffer is read.
    if (place / kContentsPiece != (place + sizeof(T) - 1) / kContentsPiece)
      continue;
    T value;
    std::memcpy(&value, bytes + (place - offset), sizeof(T));
    value = altered(spec, key, index, value);
    std::memcpy(bytes + (place - offset), &value, sizeof(T));
  }
}

} // namespace

void alterCaptured(const BufferSpec &spec, std::uint64_t seed, std::uint64_t stream,
                   std::uint64_t offset, std::size_t size, std::byte *bytes) {
  if (!altersCaptured(spec))
    return;
  const std::uint64_t key = streamKey(seed, stream, 1 + spec.jitter);
  const auto alter = [&](std::string_view scalar, std::uint64_t own, std::uint64_t element,
                         std::uint64_t at) {
    withFloat(scalar, [&]<class T>(std::type_identity<T>) {
      alterNumbers<T>(spec, own, element, at, offset, size, bytes);
    });
  };
  if (const auto type = StructType::parse(spec.scalar))
    for (const StructType::Member &member : type->members)
      alter(member.scalar, mixedBits(key + member.offset), type->bytes, member.offset);
  else
    alter(spec.scalar, key, scalarBytes(spec.scalar), 0);
}

void widenNumbers(const std::string &narrow, const std::byte *from, std::uint64_t count,
                  std::byte *to) {
  withFloat(narrow, [&]<class T>(std::type_identity<T>) {
    for (std::uint64_t i = 0; i < count; ++i) {
      T value;
      std::memcpy(&value, from + i * sizeof value, sizeof value);
      const double wide = FloatTraits<T>::valueOf(value);
      std::memcpy(to + i * sizeof wide, &wide, sizeof wide);
    }
  });
}

Pattern poisonOf(std::uint64_t seed, std::uint64_t stream, bool inverted) {
  return {streamKey(seed, stream, 1), inverted};
}

void drawPoison(std::uint64_t seed, std::uint64_t stream, bool inverted, std::uint64_t offset,
                std::size_t size, std::byte *out) {
  const Pattern pattern = poisonOf(seed, stream, inverted);
  store<std::uint64_t>(out, size, offset / 8, [&](std::uint64_t i) { return pattern.word(i); });
}

} // namespace kopt::runtime
