// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

namespace kopt {

/// Values by Nsight Compute's metric names; unknown values are absent.
using Counters = std::map<std::string, double>;

} // namespace kopt
