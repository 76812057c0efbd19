// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/context/CompareBuffers.h"

#include "driver/support/ElementType.h"
#include "driver/support/Hash.h"
#include "driver/support/MappedFile.h"
#include "runtime/device/Parallel.h"
#include "runtime/runner/StructType.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <vector>

namespace kopt {
namespace {

/// The relative error that the default policy allows.
template <class Type> constexpr double kRelative = 0;
template <> constexpr double kRelative<element::Float> = 1e-5;
template <> constexpr double kRelative<element::Double> = 1e-12;
template <> constexpr double kRelative<element::Half> = 2e-3;
template <> constexpr double kRelative<element::Bfloat> = 1.6e-2;

/// Elements that one thread processes at a time. The partial sums are added in the order of the
/// elements, so the total does not depend on the number of threads.
constexpr std::uint64_t kGrain = 64u << 10;

/// The result of `look(begin, end, part)` for each piece of `total` elements, in order.
template <class Part, class Look>
std::vector<Part> inParts(std::uint64_t total, unsigned threads, Look look) {
  std::vector<Part> parts(total / kGrain + 1);
  runtime::parallelFor(
      total, kGrain,
      [&](std::uint64_t begin, std::uint64_t end) { look(begin, end, parts[begin / kGrain]); },
      threads);
  return parts;
}

/// Root mean square of the finite elements.
template <class Type> double scaleOf(std::string_view bytes, unsigned threads) {
  struct Part {
    double sum = 0;
    std::uint64_t count = 0;
  };
  const std::uint64_t total = bytes.size() / Type::kSize;
  const auto look = [&](std::uint64_t begin, std::uint64_t end, Part &part) {
    for (std::uint64_t i = begin; i < end; ++i) {
      const double value = Type::value(bytes.data() + i * Type::kSize);
      if (std::isfinite(value)) {
        part.sum += value * value;
        ++part.count;
      }
    }
  };
  Part all;
  for (const Part &part : inParts<Part>(total, threads, look)) {
    all.sum += part.sum;
    all.count += part.count;
  }
  return all.count == 0 ? 0 : std::sqrt(all.sum / double(all.count));
}

/// The error of one element: 0 if an infinity or a NaN matches the same value, infinity if it
/// matches nothing. With `nonFinite`, any infinity or NaN matches any other.
double elementError(double expected, double actual, bool nonFinite = false) {
  if (nonFinite && !std::isfinite(expected) && !std::isfinite(actual))
    return 0;
  if (std::isnan(expected) || std::isnan(actual))
    return std::isnan(expected) && std::isnan(actual) ? 0 : std::numeric_limits<double>::infinity();
  if (std::isinf(expected) || std::isinf(actual))
    return expected == actual ? 0 : std::numeric_limits<double>::infinity();
  return std::abs(actual - expected);
}

template <class Type>
double errorAs(const char *expected, const char *actual, bool nonFinite = false) {
  if constexpr (Type::kFloating)
    return elementError(Type::value(expected), Type::value(actual), nonFinite);
  else
    return double(Type::distance(expected, actual));
}

template <class Type> std::string shownAs(const char *bytes) {
  if constexpr (Type::kFloating)
    return fmt::format("{:.9g}", Type::value(bytes));
  else
    return Type::show(bytes);
}

/// The wrong elements of a part of a buffer.
struct Wrong {
  Mismatch mismatch;
  double worstExcess = -1;
  std::uint64_t worst = 0; ///< index of the worst element

  void add(std::uint64_t index, double error, double allowed) {
    if (mismatch.wrong++ == 0)
      mismatch.index = index;
    if (error - allowed > worstExcess) {
      worstExcess = error - allowed;
      worst = index;
      mismatch.worstError = error;
      mismatch.allowed = allowed;
    }
  }
  /// Adds those of a later part.
  void add(const Wrong &later) {
    const std::uint64_t wrong = mismatch.wrong + later.mismatch.wrong;
    const std::uint64_t first = mismatch.wrong > 0 ? mismatch.index : later.mismatch.index;
    if (later.worstExcess > worstExcess)
      *this = later;
    mismatch.wrong = wrong;
    mismatch.index = first;
  }
};

/// How far elements of a floating-point type may be from those expected.
template <class Type> struct Allowance {
  const Tolerance &tolerance;
  const Slack &slack;
  double scale; ///< of the expected elements

  double at(double expected) const {
    const double ofScale = std::max(std::abs(expected), scale);
    const double byType = kRelative<Type> * ofScale;
    if (tolerance.policy != TolerancePolicy::User)
      return slack.absolute + byType;
    const double byUser =
        tolerance.relative * (slack.orDefault ? ofScale : std::abs(expected)) + tolerance.absolute;
    return slack.absolute + (slack.orDefault ? std::max(byUser, byType) : byUser);
  }
};

template <class Type>
std::optional<Mismatch> compareAs(const Tolerance &tolerance, std::string_view want,
                                  std::string_view got, unsigned threads, Slack slack) {
  if (runtime::firstDifference(want.data(), got.data(), want.size(), threads) == want.size())
    return std::nullopt;
  const bool bitwise = tolerance.policy == TolerancePolicy::Strict || !Type::kFloating;
  const bool needsScale = tolerance.policy != TolerancePolicy::User || slack.orDefault;
  const Allowance<Type> allowance{tolerance, slack,
                                  !bitwise && needsScale ? scaleOf<Type>(want, threads) : 0};
  const std::uint64_t total = want.size() / Type::kSize;
  const auto look = [&](std::uint64_t begin, std::uint64_t end, Wrong &part) {
    const char *wanted = want.data() + begin * Type::kSize,
               *seen = got.data() + begin * Type::kSize;
    if (std::memcmp(wanted, seen, (end - begin) * Type::kSize) == 0)
      return;
    for (std::uint64_t i = begin; i < end; ++i, wanted += Type::kSize, seen += Type::kSize) {
      if (std::memcmp(wanted, seen, Type::kSize) == 0)
        continue;
      const double expected = Type::value(wanted), actual = Type::value(seen);
      const double error = errorAs<Type>(wanted, seen, slack.nonFinite);
      const double allowed = bitwise ? 0 : allowance.at(expected);
      // Bits differ here, so under a bitwise policy only NaNs are equal to each other (and -0 is
      // not +0). An error that is not finite, such as a NaN's, is within no tolerance.
      const bool isRight = bitwise ? std::isnan(expected) && std::isnan(actual)
                                   : error == 0 || (std::isfinite(error) && error <= allowed);
      if (!isRight)
        part.add(i, error, allowed);
    }
  };
  Wrong all;
  for (const Wrong &part : inParts<Wrong>(total, threads, look))
    all.add(part);
  // If the buffer ends inside an element, the remaining bytes count as one element and must be
  // equal.
  const std::size_t rest = want.size() % Type::kSize;
  if (rest > 0 && want.substr(want.size() - rest) != got.substr(want.size() - rest))
    all.add(total, std::numeric_limits<double>::infinity(), 0);
  Mismatch &mismatch = all.mismatch;
  if (mismatch.wrong == 0)
    return std::nullopt;
  mismatch.total = total + (rest != 0);
  const auto shown = [&](std::string_view bytes) {
    return mismatch.index < total ? shownAs<Type>(bytes.data() + mismatch.index * Type::kSize)
                                  : "a part of an element";
  };
  mismatch.expected = shown(want);
  mismatch.actual = shown(got);
  mismatch.worst = fmt::format("{:.3g}", mismatch.worstError);
  if constexpr (!Type::kFloating)
    if (all.worst < total)
      mismatch.worst = fmt::format("{}", Type::distance(want.data() + all.worst * Type::kSize,
                                                        got.data() + all.worst * Type::kSize));
  return mismatch;
}

using runtime::StructType;

/// One member of all elements, packed one after the other.
std::string columnOf(const StructType &type, const StructType::Member &member,
                     std::string_view bytes) {
  std::string column(bytes.size() / type.bytes * member.bytes, '\0');
  for (std::size_t i = 0; i < bytes.size() / type.bytes; ++i)
    std::memcpy(column.data() + i * member.bytes, bytes.data() + i * type.bytes + member.offset,
                member.bytes);
  return column;
}

/// An element that jumps may be this many times as far from the expected value as the original's
/// element is for moved inputs.
constexpr double kAsFar = 16;

/// `got`, where each element that jumps for moved inputs, and is within kAsFar times that jump, is
/// replaced with its expected value.
std::string withoutJumps(const Buffer &buffer, std::string_view want, std::string_view got,
                         std::string_view moved, double usual) {
  std::string judged(got);
  withElementType(buffer.scalar, [&]<class Type>(Type) {
    const std::uint64_t total = std::min(want.size(), moved.size()) / Type::kSize;
    runtime::parallelFor(total, kGrain, [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t at = begin * Type::kSize; at < end * Type::kSize; at += Type::kSize) {
        if (std::memcmp(want.data() + at, got.data() + at, Type::kSize) == 0)
          continue;
        const double wanted = Type::value(want.data() + at),
                     jump = elementError(wanted, Type::value(moved.data() + at));
        if (jump > (Type::kFloating ? usual : 0) &&
            elementError(wanted, Type::value(got.data() + at)) <= kAsFar * jump)
          std::memcpy(judged.data() + at, want.data() + at, Type::kSize);
      }
    });
  });
  return judged;
}

/// Compares each member by its own type and at its own scale; padding is not a result. An
/// incomplete last element must have equal bytes.
std::optional<Mismatch> compareStructs(const StructType &type, const Tolerance &tolerance,
                                       std::string_view want, std::string_view got,
                                       unsigned threads, Slack slack) {
  if (runtime::firstDifference(want.data(), got.data(), want.size(), threads) == want.size())
    return std::nullopt;
  std::optional<Mismatch> all;
  const auto add = [&](const std::optional<Mismatch> &found, std::optional<std::uint32_t> member) {
    if (!found)
      return;
    const std::uint64_t wrong = found->wrong + (all ? all->wrong : 0);
    if (!all || found->worstError - found->allowed > all->worstError - all->allowed) {
      all = found;
      all->member = member;
    }
    all->wrong = wrong;
  };
  for (const StructType::Member &member : type.members)
    add(withElementType(member.scalar,
                        [&]<class Type>(Type) {
                          return compareAs<Type>(tolerance, columnOf(type, member, want),
                                                 columnOf(type, member, got), threads, slack);
                        }),
        member.offset);
  const std::size_t rest = want.size() % type.bytes;
  add(compareAs<element::Exact<std::uint8_t>>(tolerance, want.substr(want.size() - rest),
                                              got.substr(got.size() - rest), threads, slack),
      std::nullopt);
  if (all)
    all->total = want.size() / type.bytes * type.members.size() + rest;
  return all;
}

template <class Type>
std::optional<double> largestDifferenceAs(std::string_view left, std::string_view right,
                                          bool *allFinite) {
  struct Part {
    double largest = 0;
    bool isFinite = true, isMeasured = true;
  };
  const std::uint64_t total = left.size() / Type::kSize;
  const auto look = [&](std::uint64_t begin, std::uint64_t end, Part &part) {
    for (std::uint64_t i = begin; i < end; ++i) {
      const double x = Type::value(left.data() + i * Type::kSize),
                   y = Type::value(right.data() + i * Type::kSize);
      part.isFinite &= std::isfinite(x) && std::isfinite(y);
      const double error = elementError(x, y);
      part.isMeasured &= std::isfinite(error) && (Type::kFloating || error == 0);
      part.largest = std::max(part.largest, error);
    }
  };
  Part all;
  for (const Part &part : inParts<Part>(total, runtime::threadsFor(left.size()), look)) {
    all.largest = std::max(all.largest, part.largest);
    all.isFinite &= part.isFinite;
    all.isMeasured &= part.isMeasured;
  }
  if (allFinite)
    *allFinite = *allFinite && all.isFinite;
  return all.isMeasured ? std::optional(all.largest) : std::nullopt;
}

/// The most that nine tenths of the elements move by, estimated from a sample if there are many
/// elements.
template <class Type> double usualMovement(std::string_view want, std::string_view got) {
  constexpr std::uint64_t kSample = 1u << 18;
  const std::uint64_t total = want.size() / Type::kSize;
  if (total == 0)
    return 0;
  std::vector<double> differences(std::min(total, kSample));
  for (std::uint64_t i = 0; i < differences.size(); ++i) {
    // One element of each stretch, at a pseudo-random place, so that no stride in the data matters.
    const std::uint64_t first = i * total / differences.size(),
                        last = (i + 1) * total / differences.size();
    const std::uint64_t at = (first + mixed(i, total) % (last - first)) * Type::kSize;
    differences[i] = elementError(Type::value(want.data() + at), Type::value(got.data() + at));
  }
  const auto usual = differences.begin() + std::ptrdiff_t(differences.size() * 9 / 10);
  std::nth_element(differences.begin(), usual, differences.end());
  return *usual;
}

} // namespace

std::string Mismatch::describe(const Buffer &buffer) const {
  return fmt::format(
      "{}[{}]{} is {}, expected {}; {} of {} elements differ, worst error {} (allowed {:.3g})",
      buffer.name, index, member ? fmt::format(" at byte {}", *member) : "", actual, expected,
      wrong, total, worst, allowed);
}

Result<bool> sameBytes(const std::filesystem::path &a, const std::filesystem::path &b) {
  KOPT_TRY(const MappedFile left, MappedFile::open(a));
  KOPT_TRY(const MappedFile right, MappedFile::open(b));
  const std::uint64_t size = left.bytes().size();
  return size == right.bytes().size() &&
         runtime::firstDifference(left.bytes().data(), right.bytes().data(), size) == size;
}

std::optional<Mismatch> compareContents(const Buffer &buffer, const Tolerance &tolerance,
                                        std::string_view expected, std::string_view actual,
                                        unsigned threads, Slack slack) {
  if (threads == 0)
    threads = runtime::threadsFor(expected.size());
  if (const auto type = StructType::parse(buffer.scalar))
    return compareStructs(*type, tolerance, expected, actual, threads, slack);
  return withElementType(buffer.scalar, [&]<class Type>(Type) {
    return compareAs<Type>(tolerance, expected, actual, threads, slack);
  });
}

Result<std::optional<double>> largestDifference(const Buffer &buffer,
                                                const std::filesystem::path &a,
                                                const std::filesystem::path &b, bool *allFinite) {
  KOPT_TRY(const MappedFile left, MappedFile::open(a));
  KOPT_TRY(const MappedFile right, MappedFile::open(b));
  if (left.bytes().size() != right.bytes().size())
    return makeError(ErrorCode::Internal,
                     fmt::format("two contents of buffer '{}' differ in size", buffer.name));
  const auto type = StructType::parse(buffer.scalar);
  if (!type)
    return withElementType(buffer.scalar, [&]<class Type>(Type) {
      return largestDifferenceAs<Type>(left.bytes(), right.bytes(), allFinite);
    });
  double largest = 0;
  for (const StructType::Member &member : type->members) {
    const auto own = withElementType(member.scalar, [&]<class Type>(Type) {
      return largestDifferenceAs<Type>(columnOf(*type, member, left.bytes()),
                                       columnOf(*type, member, right.bytes()), allFinite);
    });
    if (!own)
      return std::nullopt;
    largest = std::max(largest, *own);
  }
  return largest;
}

Result<std::optional<Mismatch>> compareBuffers(const Buffer &buffer, const Tolerance &tolerance,
                                               const std::filesystem::path &expected,
                                               const std::filesystem::path &actual, Slack slack) {
  if (buffer.varies)
    return std::nullopt;
  slack.absolute = std::max(slack.absolute, buffer.spread);
  KOPT_TRY(const MappedFile want, MappedFile::open(expected));
  KOPT_TRY(const MappedFile got, MappedFile::open(actual));
  if (want.bytes().size() != buffer.bytes || got.bytes().size() != buffer.bytes)
    return makeError(ErrorCode::Internal,
                     fmt::format("contents of buffer '{}' have {} and {} bytes instead of {}",
                                 buffer.name, want.bytes().size(), got.bytes().size(),
                                 buffer.bytes));
  auto mismatch = compareContents(buffer, tolerance, want.bytes(), got.bytes(), 0, slack);
  if (!mismatch || !slack.moved)
    return mismatch;
  const std::string judged =
      withoutJumps(buffer, want.bytes(), got.bytes(), *slack.moved, slack.absolute);
  return compareContents(buffer, tolerance, want.bytes(), judged, 0, slack);
}

Result<Movement> movementOf(const Buffer &buffer, const std::filesystem::path &expected,
                            const std::filesystem::path &moved) {
  KOPT_TRY(const MappedFile want, MappedFile::open(expected));
  KOPT_TRY(const MappedFile got, MappedFile::open(moved));
  return withElementType(buffer.scalar, [&]<class Type>(Type) {
    Movement movement;
    if constexpr (Type::kFloating) {
      movement.usual = usualMovement<Type>(want.bytes(), got.bytes());
      movement.tolerated =
          kRelative<Type> * scaleOf<Type>(want.bytes(), runtime::threadsFor(want.bytes().size()));
    }
    return movement;
  });
}

Result<double> rootMeanSquare(const Buffer &buffer, const std::filesystem::path &contents) {
  KOPT_TRY(const MappedFile seen, MappedFile::open(contents));
  return withElementType(buffer.scalar, [&]<class Type>(Type) {
    if constexpr (Type::kFloating)
      return scaleOf<Type>(seen.bytes(), runtime::threadsFor(seen.bytes().size()));
    else
      return 0.0;
  });
}

Result<std::string> furthestOf(const Buffer &buffer, const std::filesystem::path &expected,
                               const std::vector<std::filesystem::path> &moved) {
  KOPT_TRY(const MappedFile want, MappedFile::open(expected));
  std::string furthest(want.bytes());
  for (const std::filesystem::path &one : moved) {
    KOPT_TRY(const MappedFile other, MappedFile::open(one));
    if (other.bytes().size() != furthest.size())
      return makeError(ErrorCode::Internal,
                       fmt::format("two contents of buffer '{}' differ in size", buffer.name));
    withElementType(buffer.scalar, [&]<class Type>(Type) {
      runtime::parallelFor(
          furthest.size() / Type::kSize, kGrain, [&](std::uint64_t begin, std::uint64_t end) {
            for (std::uint64_t at = begin * Type::kSize; at < end * Type::kSize;
                 at += Type::kSize) {
              const double wanted = Type::value(want.bytes().data() + at);
              if (elementError(wanted, Type::value(other.bytes().data() + at)) >
                  elementError(wanted, Type::value(furthest.data() + at)))
                std::memcpy(furthest.data() + at, other.bytes().data() + at, Type::kSize);
            }
          });
    });
  }
  return furthest;
}

Result<std::optional<std::string>> firstMismatch(const std::vector<Buffer> &buffers,
                                                 const Tolerance &tolerance,
                                                 const std::vector<std::filesystem::path> &expected,
                                                 const std::vector<std::filesystem::path> &actual,
                                                 const std::vector<Slack> &slack) {
  for (std::size_t b = 0; b < std::min({buffers.size(), expected.size(), actual.size()}); ++b) {
    if (buffers[b].readOnly || expected[b].empty() || actual[b].empty())
      continue;
    KOPT_TRY(const auto mismatch, compareBuffers(buffers[b], tolerance, expected[b], actual[b],
                                                 b < slack.size() ? slack[b] : Slack{}));
    if (mismatch)
      return std::optional(mismatch->describe(buffers[b]));
  }
  return std::nullopt;
}

} // namespace kopt
