// SPDX-License-Identifier: Apache-2.0
// The launches of the workload themselves.
#pragma once

#include "driver/judge/checks/Check.h"

namespace kopt {

std::unique_ptr<Check> makeOutputsCheck();
std::unique_ptr<Check> makeFreshCheck();

} // namespace kopt
