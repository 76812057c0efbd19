// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

namespace kopt {

/// By Nsight Compute's metric names; what is unknown is absent.
using Counters = std::map<std::string, double>;

} // namespace kopt
