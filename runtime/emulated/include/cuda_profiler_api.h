// SPDX-License-Identifier: Apache-2.0
// cudaProfilerStart() and cudaProfilerStop().
#pragma once

#include "cuda_runtime_api.h"
