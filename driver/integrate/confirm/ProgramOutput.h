// SPDX-License-Identifier: Apache-2.0
// Whether two programs print the same, where one of them repeats itself at all. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace kopt {

struct OutputComparison {
  enum class Verdict { Same, Different, NotComparable };
  Verdict verdict = Verdict::Same;
  std::size_t lines = 0;   ///< of the old program
  std::size_t ignored = 0; ///< that vary between its own runs, or are times
  std::string text;        ///< in words; of a difference the first one, both lines
};

/// Compares standard output with that of at least one run of the old program. Lines that vary
/// between the old program's own runs are left out, and so are numbers and units on lines that
/// speak of times and rates: a faster program prints others. A number with a fraction may differ by
/// 1e-4 of itself, as sums in another order do; all else has to be equal. An old program that
/// prints another number of lines each time cannot be compared.
OutputComparison compareOutputs(const std::vector<std::string> &oldRuns, const std::string &newRun);

} // namespace kopt
