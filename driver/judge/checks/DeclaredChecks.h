// SPDX-License-Identifier: Apache-2.0
// The checks that run the workload's own launches.
#pragma once

#include "driver/judge/checks/DerivedReplays.h"

namespace kopt {

std::unique_ptr<Check> makeOutputsCheck(std::shared_ptr<DerivedReplays> replays);
std::unique_ptr<Check> makeFreshCheck(std::shared_ptr<DerivedReplays> replays);

} // namespace kopt
