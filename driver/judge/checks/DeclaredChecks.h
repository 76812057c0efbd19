// SPDX-License-Identifier: Apache-2.0
// The checks that run the workload's own launches.
#pragma once

#include "driver/judge/checks/Check.h"

namespace kopt {

std::unique_ptr<Check> makeOutputsCheck();
std::unique_ptr<Check> makeFreshCheck();

} // namespace kopt
