// SPDX-License-Identifier: Apache-2.0
#pragma once
#error kernels that use cuda_fp4.h cannot run on the emulated device: they need the CUDA toolkit and a GPU
