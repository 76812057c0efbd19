// SPDX-License-Identifier: Apache-2.0
// The kinds of other contents that a launch is tried with, and how inputs are drawn for each.
#pragma once

#include "driver/workload/derived/DerivedLaunch.h"

#include <optional>
#include <vector>

namespace kopt {

/// A kind of contents for all inputs of a launch. Floating-point numbers get other magnitudes and
/// integers other orders, both at the same time, as neither hides the effect of the other. If a
/// function returns nothing for a buffer, its contents stay as they are.
struct OtherContents {
  const char *name;
  std::optional<Fill> (*floating)(const Buffer &);
  std::optional<Fill> (*integer)(const Buffer &);
  ContentTraits traits{};
  bool inEachMode = false; ///< also tried in each mode of the kernel
};

const std::vector<OtherContents> &otherContents();
/// The one with infinities and NaNs.
const OtherContents &nonFiniteContents();

} // namespace kopt
