// SPDX-License-Identifier: Apache-2.0
// The launches of the workload themselves.
#pragma once

#include "driver/verify/Gate.h"

namespace kopt {

std::unique_ptr<Gate> makeOutputsGate();
std::unique_ptr<Gate> makeFreshGate();

} // namespace kopt
