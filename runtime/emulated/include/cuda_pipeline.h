// SPDX-License-Identifier: Apache-2.0
// The pipeline of <cuda/pipeline> is not emulated, only what it is made of.
#pragma once
#define _CUDA_PIPELINE_H_

#include "cuda_pipeline_primitives.h"
