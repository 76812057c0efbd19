// SPDX-License-Identifier: Apache-2.0
// For code that includes <device_atomic_functions.h> by name.
#pragma once

#include "kopt_emulated/device.h"
