// SPDX-License-Identifier: Apache-2.0
// Errors of floating-point results, and when a candidate's are too large compared with the
// original's.
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
  double largest = 0;         ///< largest magnitude in the reference
  /// How far the mean may differ from 0 by chance if errors come in groups, as in a row or a column
  /// that is divided by one sum. 0: the errors seem independent.
  double groupedChance = 0;
  std::uint64_t count = 0; ///< elements that are finite in both the result and the reference
  /// Errors of elements of similar magnitude. The key is the reference's binary exponent divided by
  /// four.
  struct Class {
    double worst = 0; ///< largest |error|
    std::uint64_t count = 0;
  };
  std::map<int, Class> classes;
};

/// `values` holds elements of the buffer's type, `reference` as many doubles. `extents` are the
/// lengths that a row may have, in elements. Of a buffer with more than four million elements, only
/// about four million are examined, in windows spread over the buffer. Fails with Internal if the
/// lengths of the files do not match.
Result<ErrorStatistics> errorStatistics(const Buffer &buffer, const std::filesystem::path &values,
                                        const std::filesystem::path &reference,
                                        const std::vector<std::uint64_t> &extents = {});

/// How far the mean of `errors` may differ from 0 by chance if errors depend on each other within
/// groups of neighbours or of every n-th element: t s / sqrt(G), where s is the standard deviation
/// of the G groups' means and t is the quantile of Student's distribution with the same tail as
/// four standard deviations of the normal distribution. Tries groups of 2, 4, 8, ... neighbours,
/// and rows and columns for each extent, with at least five groups. A coarser grouping is used if
/// its means vary more than the finer one predicts (F test at 0.1%). 0 if no grouping is better
/// than single elements.
double groupedChance(const std::vector<double> &errors, const std::vector<std::uint64_t> &extents);

/// The largest error of rounding, as a part of a buffer's root mean square: what losing half of all
/// digits means, as where large terms cancel. What is further away is a jump. 0: unknown for the
/// type.
double mostRounding(const std::string &scalar);

/// True if the errors are those of so few elements that they may be small by luck.
bool isFew(const ErrorStatistics &errors);

/// `own`, with its largest errors and its root mean square raised to at least those of `typical`.
ErrorStatistics withErrorsOf(ErrorStatistics own, const ErrorStatistics &typical);

/// Says which error of `candidate` is too large; nothing if all are within `factor` times those of
/// `original`. On top of that, four units in the last place are allowed for the worst element and
/// one for the root mean square, both at the reference's scale, and for the worst element at least
/// two units in the last place of the largest one, which may be alone in its magnitude. The bias
/// may also differ by chance (four standard deviations, groupedChance(), or a sixteenth of a unit
/// in the last place at the reference's scale, as repeated data repeat their errors) and by one
/// rounding of a factor common to all elements. With fewer than 128 elements only the worst one
/// counts, with 16 units in the last place, because the error of one sum is a matter of luck. The
/// errors of 64 or more elements of similar magnitude may be 16 times the original's, plus a
/// thousandth of the magnitude, so that results that are small beside the largest one count, too;
/// plus a sixteenth if they are smaller than the square of a rounding times the largest.
std::optional<std::string> excessError(const Buffer &buffer, const ErrorStatistics &candidate,
                                       const ErrorStatistics &original, double factor);

} // namespace kopt
