// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/context/ErrorStatistics.h"

#include "driver/support/ElementType.h"
#include "driver/support/MappedFile.h"

#include <algorithm>
#include <bit>
#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <set>

namespace kopt {
namespace {

/// With fewer elements the mean square is a matter of luck: the original's error may happen to be
/// small.
constexpr std::uint64_t kFew = 128;

/// The least number of elements of similar magnitude whose errors are compared separately, the
/// factor allowed on the original's error, and the part of their magnitude that is always allowed:
/// sums of terms that cancel occasionally have errors of the terms' size.
constexpr std::uint64_t kFewAlike = 64;
constexpr double kRoomAlike = 16, kLeastSlack = 0x1p-10;
/// The same part for elements below the largest one times the square of a rounding: they are what
/// is left of terms that cancel.
constexpr double kFarBelow = 1. / 16;
constexpr int kBinades = 4; ///< binary exponents in one class of similar magnitudes

/// Steps between subnormal numbers that are always allowed: there every operation rounds to a whole
/// step, however small its result.
constexpr double kSubnormalSteps = 16;

/// Standard deviations that the mean of independent errors may differ from 0 by, the probability
/// with which independent errors may be taken for grouped ones, and the least number of groups that
/// is informative.
constexpr double kDeviations = 4, kRarely = 1e-3;
constexpr std::uint64_t kFewGroups = 5;
/// Of a unit in the last place. Data that repeat, as a signal of few values, have errors that do.
constexpr double kLeastBias = 0x1p-4;

/// The most elements whose errors are examined. Of a larger buffer, windows spread over all
/// elements are examined instead.
constexpr std::uint64_t kMostElements = std::uint64_t(1) << 22, kWindow = 1 << 16;

/// The class of a finite number that is not 0: its binary exponent divided by kBinades, rounded
/// down.
int classOf(double number) {
  const int exponent = std::ilogb(number);
  return (exponent >= 0 ? exponent : exponent - kBinades + 1) / kBinades;
}
constexpr int kFirstClass = -1074 / kBinades - 1, kLastClass = 1023 / kBinades; ///< of doubles

/// Half the distance from 1 to the next number of the type.
double unitRoundoff(const std::string &scalar) {
  return scalar == "f16"    ? 0x1p-11
         : scalar == "bf16" ? 0x1p-8
         : scalar == "f64"  ? 0x1p-53
                            : 0x1p-24;
}

/// Allowed error among subnormal numbers; 0 for types that no arithmetic is done in.
double subnormalSteps(const std::string &scalar) {
  return scalar == "f32"   ? kSubnormalSteps * 0x1p-149
         : scalar == "f64" ? kSubnormalSteps * 0x1p-1074
                           : 0;
}

} // namespace

Result<ErrorStatistics> errorStatistics(const Buffer &buffer, const std::filesystem::path &values,
                                        const std::filesystem::path &reference,
                                        const std::vector<std::uint64_t> &extents) {
  KOPT_TRY(const MappedFile seen, MappedFile::open(values));
  KOPT_TRY(const MappedFile exact, MappedFile::open(reference));
  const std::uint64_t count = exact.bytes().size() / sizeof(double);
  if (seen.bytes().size() != count * elementBytes(buffer.scalar))
    return makeError(ErrorCode::Internal,
                     fmt::format("'{}' and its reference differ in length", buffer.name));
  ErrorStatistics result;
  const bool isSampled = count > kMostElements;
  const std::uint64_t looked = isSampled ? kMostElements : count;
  std::vector<double> errors(looked, 0); // 0 where a value is not finite
  std::vector<ErrorStatistics::Class> classes(kLastClass - kFirstClass + 1);
  std::vector<double> got(kWindow), want(kWindow);
  double squares = 0, sum = 0, scale = 0, total = 0;
  for (std::uint64_t begin = 0; begin < looked; begin += kWindow) {
    const std::uint64_t length = std::min(kWindow, looked - begin);
    const std::uint64_t at =
        isSampled ? begin / kWindow * (count / kWindow) / (kMostElements / kWindow) * kWindow
                  : begin;
    std::memcpy(want.data(), exact.bytes().data() + at * sizeof(double), length * sizeof(double));
    withElementType(buffer.scalar, [&]<class Type>(Type) {
      for (std::uint64_t i = 0; i < length; ++i)
        got[i] = Type::value(seen.bytes().data() + (at + i) * Type::kSize);
    });
    for (std::uint64_t i = 0; i < length; ++i) {
      if (!std::isfinite(want[i]) || !std::isfinite(got[i]))
        continue;
      const double error = errors[begin + i] = got[i] - want[i];
      result.worst = std::max(result.worst, std::abs(error));
      squares += error * error;
      sum += error;
      scale += want[i] * want[i];
      result.largest = std::max(result.largest, std::abs(want[i]));
      total += want[i];
      ++result.count;
      if (want[i] == 0)
        continue;
      ErrorStatistics::Class &alike = classes[std::size_t(classOf(want[i]) - kFirstClass)];
      alike.worst = std::max(alike.worst, std::abs(error));
      ++alike.count;
    }
  }
  for (std::size_t i = 0; i < classes.size(); ++i)
    if (classes[i].count > 0)
      result.classes[kFirstClass + int(i)] = classes[i];
  if (result.count > 0) {
    result.rms = std::sqrt(squares / double(result.count));
    result.bias = sum / double(result.count);
    result.mean = total / double(result.count);
    result.scale = std::sqrt(scale / double(result.count));
    result.groupedChance =
        groupedChance(errors, isSampled ? std::vector<std::uint64_t>() : extents);
  }
  return result;
}

double groupedChance(const std::vector<double> &errors, const std::vector<std::uint64_t> &extents) {
  namespace math = boost::math;
  const std::size_t count = errors.size();
  if (count < 2)
    return 0;
  // The means of the groups of each grouping, the finest grouping first.
  std::vector<std::vector<double>> groupings;
  const std::set<std::uint64_t> rows(extents.begin(), extents.end());
  const auto addNeighbours = [&](const std::vector<double> &parts, std::uint64_t length) {
    std::vector<double> &means = groupings.emplace_back(parts.size() / length, 0);
    for (std::size_t i = 0; i < means.size(); ++i) {
      for (std::size_t k = 0; k < length; ++k)
        means[i] += parts[i * length + k];
      means[i] /= double(length);
    }
  };
  for (std::uint64_t length = 2; count / length >= kFewGroups; length *= 2)
    addNeighbours(length == 2 ? errors : std::vector<double>(groupings.back()), 2);
  for (const std::uint64_t extent : rows) {
    if (extent >= 2 && !std::has_single_bit(extent) && count / extent >= kFewGroups)
      addNeighbours(errors, extent);
    if (extent < kFewGroups || count / extent < 2)
      continue;
    std::vector<double> &means = groupings.emplace_back(extent, 0); // of every n-th element
    const std::size_t groupSize = count / extent;
    for (std::size_t row = 0; row < groupSize; ++row)
      for (std::size_t i = 0; i < extent; ++i)
        means[i] += errors[row * extent + i];
    for (double &mean : means)
      mean /= double(groupSize);
  }
  std::ranges::stable_sort(groupings, std::greater(), &std::vector<double>::size);

  const auto varianceOfMean = [](const std::vector<double> &means) {
    double mean = 0, squares = 0;
    for (const double each : means)
      mean += each / double(means.size());
    for (const double each : means)
      squares += (each - mean) * (each - mean);
    return squares / double(means.size() - 1) / double(means.size());
  };
  double variance = varianceOfMean(errors), freedom = double(count - 1);
  bool isGrouped = false;
  for (const std::vector<double> &means : groupings) {
    const double coarser = varianceOfMean(means), itsFreedom = double(means.size() - 1);
    if (coarser <=
        variance * math::quantile(math::complement(math::fisher_f(itsFreedom, freedom), kRarely)))
      continue;
    variance = coarser;
    freedom = itsFreedom;
    isGrouped = true;
  }
  if (!isGrouped)
    return 0;
  const double tail = math::cdf(math::complement(math::normal(), kDeviations));
  return math::quantile(math::complement(math::students_t(freedom), tail)) * std::sqrt(variance);
}

double mostRounding(const std::string &scalar) {
  static const std::map<std::string, double> kHalf = {
      {"f64", 0x1p-26}, {"f32", 0x1p-12}, {"f16", 0x1p-6}, {"bf16", 0x1p-5}};
  const auto known = kHalf.find(scalar);
  return known == kHalf.end() ? 0 : known->second;
}

bool isFew(const ErrorStatistics &errors) { return errors.count < kFew; }

ErrorStatistics withErrorsOf(ErrorStatistics own, const ErrorStatistics &typical) {
  own.worst = std::max(own.worst, typical.worst);
  own.rms = std::max(own.rms, typical.rms);
  for (auto &[magnitude, alike] :
       own.classes) // what is left when large terms cancel has their error
    alike.worst = std::max(alike.worst, typical.worst);
  return own;
}

std::optional<std::string> excessError(const Buffer &buffer, const ErrorStatistics &candidate,
                                       const ErrorStatistics &original, double factor) {
  const double place =
      std::max(2 * unitRoundoff(buffer.scalar) * original.scale, subnormalSteps(buffer.scalar));
  const double ofLargest = 4 * unitRoundoff(buffer.scalar) * original.largest;
  const double worst = factor * original.worst +
                       std::max((isFew(original) ? 16 : 4) * place, ofLargest),
               rms = factor * original.rms + place;
  const double chance =
      kDeviations * rms / std::sqrt(double(std::max<std::uint64_t>(original.count, 1)));
  // A candidate may compute x * (1 / n) for x / n: a factor that is rounded once gives the same
  // error in all elements.
  const double rounded = unitRoundoff(buffer.scalar) * std::abs(original.mean);
  const double bias = factor * std::abs(original.bias) +
                      std::max({chance, candidate.groupedChance, kLeastBias * place}) + rounded;
  const auto words = [&](const char *what, double own, double allowed, double theirs) {
    return fmt::format("{} of '{}' is {:.3g} (allowed {:.3g}, the original's {:.3g})", what,
                       buffer.name, own, allowed, theirs);
  };
  if (candidate.count < original.count)
    return fmt::format("{} elements of '{}' are not finite, but the original's are",
                       original.count - candidate.count, buffer.name);
  if (!(candidate.worst <= worst))
    return words("the largest error", candidate.worst, worst, original.worst);
  for (const auto &[magnitude, theirs] : original.classes) {
    const auto own = candidate.classes.find(magnitude);
    if (theirs.count < kFewAlike || own == candidate.classes.end())
      continue;
    const double least = std::ldexp(1.0, magnitude * kBinades);
    const bool isFarBelow = least < std::pow(unitRoundoff(buffer.scalar), 2) * original.largest;
    const double coarse =
        (isFarBelow ? kFarBelow : std::max(kLeastSlack, 16 * unitRoundoff(buffer.scalar))) * least;
    const double allowed =
        kRoomAlike * theirs.worst + std::max(coarse, subnormalSteps(buffer.scalar));
    if (!(own->second.worst <= allowed))
      return words(
          fmt::format("among elements of magnitude {:.2g} the largest error", least).c_str(),
          own->second.worst, allowed, theirs.worst);
  }
  if (isFew(original))
    return std::nullopt;
  if (!(candidate.rms <= rms))
    return words("the mean square error", candidate.rms, rms, original.rms);
  if (!(std::abs(candidate.bias) <= bias))
    return words("the bias", candidate.bias, bias, original.bias);
  return std::nullopt;
}

} // namespace kopt
