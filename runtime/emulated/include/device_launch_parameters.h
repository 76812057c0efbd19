// SPDX-License-Identifier: Apache-2.0
// For code that includes <device_launch_parameters.h> by name.
#pragma once

#include "kopt_emulated/device.h"
