// SPDX-License-Identifier: Apache-2.0
// Errors of floating-point results, and when a candidate's are too large beside the original's.
#pragma once

#include "driver/model/Workload.h"
#include "driver/support/Result.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// How far the floating-point elements of a buffer are from a double-precision reference.
struct ErrorStatistics {
  double worst = 0, rms = 0,
         bias = 0;            ///< largest |error|, root mean square, mean of the signed errors
  double scale = 0, mean = 0; ///< root mean square and mean of the reference
  /// As far as the mean may be from 0 by chance where errors come in groups: all of a row divided
  /// by one sum, all of a column. 0: they seem to be independent.
  double groupedChance = 0;
  std::uint64_t count = 0; ///< elements that are finite in both
  /// Of elements of like magnitude: by the binary exponent of the reference, in fours.
  struct Class {
    double worst = 0; ///< largest |error|
    std::uint64_t count = 0;
  };
  std::map<int, Class> classes;
};

/// `values` holds elements of the buffer's type, `reference` as many doubles. `extents` are lengths
/// that a row may have, in elements. Of more than four million elements as many are looked at, in
/// windows all over the buffer. Fails with Internal where their lengths do not fit.
Result<ErrorStatistics> errorStatistics(const Buffer &buffer, const std::filesystem::path &values,
                                        const std::filesystem::path &reference,
                                        const std::vector<std::uint64_t> &extents = {});

/// How far the mean of `errors` may be from 0 by chance where they depend on each other within a
/// group of neighbours or of every n-th one: t s / sqrt(G) of the G groups' means, with the t of
/// Student's distribution whose tail is that of four standard deviations. Tried are groups of 2, 4,
/// 8, ... neighbours, and for each extent rows and columns, five groups at least; a coarser
/// grouping is taken where its means vary more than those of the finer one let expect (F test at
/// 0.1%). 0 where single elements do as well.
double groupedChance(const std::vector<double> &errors, const std::vector<std::uint64_t> &extents);

/// `own`, with at least the largest error and the mean square of `typical`.
ErrorStatistics withErrorsOf(ErrorStatistics own, const ErrorStatistics &typical);

/// Nothing where `candidate` is within `factor` times `original`, with room for the last places of
/// the type: four of them for the worst element, one for the mean square, both at the reference's
/// scale; and for the bias what chance makes of as many errors (four standard deviations; or
/// groupedChance()), with room for one factor of all elements that is rounded once. Of fewer than
/// 128 elements only the worst one counts, with room for 16 last places: one sum's error is luck.
/// Where there are 64 elements of like magnitude their errors may be 16 times the original's, with
/// room for a thousandth of them: results that are small beside the largest count, too. Else what
/// is too large.
std::optional<std::string> excessError(const Buffer &buffer, const ErrorStatistics &candidate,
                                       const ErrorStatistics &original, double factor);

} // namespace kopt
