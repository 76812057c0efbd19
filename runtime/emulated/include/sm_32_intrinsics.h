// SPDX-License-Identifier: Apache-2.0
// For code that includes <sm_32_intrinsics.h> by name.
#pragma once

#include "kopt_emulated/device.h"
