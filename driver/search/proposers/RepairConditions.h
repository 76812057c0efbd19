// SPDX-License-Identifier: Apache-2.0
// What tells the launches on which a candidate is right from those on which it is not.
#pragma once

#include "driver/model/Trial.h"

#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// A property of a launch, in terms of the kernel's parameters.
struct LaunchProperty {
  std::string text;                   ///< "n % 4 == 0", "n > 0", "in is aligned to 16 bytes" in C++
  std::vector<std::string> variables; ///< parameters in it
  std::string requirement{};          ///< the same as a `require` clause
  bool isOfPointer = false;           ///< host code cannot ask for it
  bool operator==(const LaunchProperty &) const = default;
};

/// The fewest properties, at most four, that all of `own` have and of which each of `wrong` lacks
/// one: an alignment of pointers, a divisor of an integer, a bound on it, two equal integers. The
/// numbers in them are 1, powers of two, or literals and vector widths of the candidate's `text`;
/// a value that the launches happen to have is no property. One is likelier if more of `right`,
/// other launches that the candidate is right on, have it. Nothing if some wrong launch is not told
/// by such a property, as where only contents differ.
std::optional<std::vector<LaunchProperty>>
propertiesWithout(const std::vector<Counterexample> &wrong, const std::vector<Counterexample> &own,
                  const std::vector<Counterexample> &right, const std::string &text);

} // namespace kopt
