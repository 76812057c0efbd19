// SPDX-License-Identifier: Apache-2.0
// kopt's own declarations of the CUDA runtime, for parsing and for the emulated device where no toolkit is installed.
// Only declarations stand behind the host's functions: nothing here can launch a kernel on a GPU.
#pragma once
#define __CUDA_RUNTIME_H__

#include "kopt_emulated/device.h"
#include "cuda_runtime_api.h"
#include "kopt_emulated/host_templates.h"
