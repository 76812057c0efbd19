// SPDX-License-Identifier: Apache-2.0
#include <kopt/kopt.h>

KOPT_TUNE("extent x = n") __global__ void scale(float *x, int n) { x[threadIdx.x % n] *= 2; }
