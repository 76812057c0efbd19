// With nvcc: what it compared is kept. cache_proof_long.cu tells when it compares again.
// REQUIRES: nvcc
// RUN: rm -rf %t && mkdir -p %t && cp %s %t/k.cu && echo '#define WIDTH 32' > %t/only_nvcc.h
// RUN: echo 'KOPT_CACHE_DIR=%t/kept %with-toolkit %cached-extract "$@"' > %t/extract.sh
// RUN: sh %t/extract.sh %t/k.cu -o %t/out -- -arch=sm_90 | FileCheck %s --check-prefix=PROVEN
// RUN: ls %t/kept/extract | grep -c proof | FileCheck %s --check-prefix=TWO
// RUN: sh %t/extract.sh %t/k.cu -o %t/out -- -arch=sm_90 | FileCheck %s --check-prefix=PROVEN
// RUN: ls %t/kept/extract | grep -c proof | FileCheck %s --check-prefix=TWO
// PROVEN: 2 specializations, 2 proven
// TWO: {{^}}2{{$}}
#ifndef __clang__
#include "only_nvcc.h"
#endif
__global__ void one(int *p, int x) { *p = x + 1; }
__global__ void two(int *p, int x) { *p = x * 3; }
void run(int *p) { one<<<1, 1>>>(p, 1); two<<<1, 1>>>(p, 2); }
