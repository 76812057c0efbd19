// SPDX-License-Identifier: Apache-2.0
// reduce() over tiles stands in <cooperative_groups.h>.
#pragma once

#include "../cooperative_groups.h"
