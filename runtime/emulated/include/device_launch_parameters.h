// SPDX-License-Identifier: Apache-2.0
// For code that includes <device_launch_parameters.h> by name.
#pragma once
#define __DEVICE_LAUNCH_PARAMETERS_H__

#include "kopt_emulated/device.h"
