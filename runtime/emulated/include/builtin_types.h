// SPDX-License-Identifier: Apache-2.0
// For code that includes <builtin_types.h> by name.
#pragma once

#include "kopt_emulated/device.h"
