// SPDX-License-Identifier: Apache-2.0
// Only the primitives are emulated, not the pipeline of <cuda/pipeline>.
#pragma once
#define _CUDA_PIPELINE_H_

#include "cuda_pipeline_primitives.h"
