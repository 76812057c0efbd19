// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

namespace kopt::frontend {

/// One launch of the workload.
struct LaunchShape {
  std::array<unsigned, 3> grid = {1, 1, 1}, block = {1, 1, 1};
  unsigned sharedBytes = 0; ///< dynamic
};

} // namespace kopt::frontend
