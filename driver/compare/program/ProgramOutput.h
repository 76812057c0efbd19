// SPDX-License-Identifier: Apache-2.0
// Checks whether two programs print the same, if the old one prints the same in each run. Pure
// functions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace kopt {

struct OutputComparison {
  enum class Verdict { Same, Different, NotComparable };
  Verdict verdict = Verdict::Same;
  std::size_t lines = 0;   ///< of the old program
  std::size_t ignored = 0; ///< lines that vary between its own runs, or with times
  /// Describes the result; for a difference, both versions of the first line that differs.
  std::string text;
};

/// Compares the standard output of the new program with that of at least one run of the old
/// program. Lines that vary between runs of the old program are ignored. So are numbers and units
/// on lines about times and rates, because a faster program prints others. A number with a fraction
/// may differ by 1e-4 of its value, because sums may be added in another order; everything else
/// must be equal. The result is NotComparable if the number of lines varies between runs of the old
/// program.
OutputComparison compareOutputs(const std::vector<std::string> &oldRuns, const std::string &newRun);

} // namespace kopt
