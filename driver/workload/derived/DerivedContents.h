// SPDX-License-Identifier: Apache-2.0
// With which other contents a launch is tried: for each kind, what the inputs are drawn as instead.
#pragma once

#include "driver/workload/WorkloadBuilder.h"

#include <optional>
#include <vector>

namespace kopt {

/// Another draw of all inputs of a launch: other magnitudes for floats and other orders for
/// integers, both at once, as neither hides the other. Of a buffer that the functions return
/// nothing for, the contents stay.
struct OtherContents {
  const char *name;
  std::optional<Fill> (*floating)(const Buffer &);
  std::optional<Fill> (*integer)(const Buffer &);
  bool nonFinite = false;        ///< as DerivedLaunch::nonFinite
  bool maybeConditional = false; ///< as DerivedLaunch::maybeConditional
  bool cancelling = false;       ///< as DerivedLaunch::cancelling
  bool unbounded = false;        ///< as DerivedLaunch::unbounded
  bool isCoarse = false;         ///< as DerivedLaunch::isCoarse
  bool isExtreme = false;        ///< as DerivedLaunch::isExtreme
  bool inEachMode = false;       ///< what one mode of a kernel is right for another may not be
};

const std::vector<OtherContents> &otherContents();

} // namespace kopt
