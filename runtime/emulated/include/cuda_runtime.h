// SPDX-License-Identifier: Apache-2.0
// kopt's own declarations of the CUDA runtime, for parsing without a toolkit and for the emulated device. Host
// functions are only declared: nothing here can launch a kernel on a GPU.
#pragma once
#define __CUDA_RUNTIME_H__

#include "kopt_emulated/device.h"
#include "cuda_runtime_api.h"
#include "kopt_emulated/host_templates.h"
