// SPDX-License-Identifier: Apache-2.0
// cudaProfilerStart() and cudaProfilerStop().
#pragma once
#define __CUDA_PROFILER_API_H__

#include "cuda_runtime_api.h"
