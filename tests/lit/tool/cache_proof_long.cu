// With nvcc: what only nvcc reads counts as well, and an edit of one kernel proves that one again.
// REQUIRES: nvcc, long
// RUN: rm -rf %t && mkdir -p %t && cp %s %t/k.cu && echo '#define WIDTH 32' > %t/only_nvcc.h
// RUN: %python -c "import os, sys; os.utime(sys.argv[1], (1e9, 1e9))" %t/only_nvcc.h
// RUN: echo 'KOPT_CACHE_DIR=%t/kept %with-toolkit %cached-extract "$@"' > %t/extract.sh
// RUN: sleep 3
// RUN: sh %t/extract.sh %t/k.cu -o %t/out -- -arch=sm_90 | FileCheck %s --check-prefix=PROVEN
// RUN: ls %t/kept/extract | grep -c proof | FileCheck %s --check-prefix=TWO
// RUN: sh %t/extract.sh %t/k.cu -o %t/out -- -arch=sm_90 | FileCheck %s --check-prefix=PROVEN
// PROVEN: 2 specializations, 2 proven
// TWO: {{^}}2{{$}}

// The answer with that file is not the answer without it: the overlay's reason comes from nvcc.
// RUN: echo '#error broken' > %t/only_nvcc.h
// RUN: sh %t/extract.sh %t/k.cu -o %t/out -- -arch=sm_90 | FileCheck %s --check-prefix=BROKEN
// RUN: sh %t/extract.sh %t/k.cu -o %t/out -- -arch=sm_90 | FileCheck %s --check-prefix=BROKEN
// BROKEN: note: {{.*}}nvcc does not compile this file: {{.*}}broken
// RUN: echo '#define WIDTH 32' > %t/only_nvcc.h
// RUN: sh %t/extract.sh %t/k.cu -o %t/out -- -arch=sm_90 | FileCheck %s --check-prefix=PROVEN
// RUN: ls %t/kept/extract | grep -c proof | FileCheck %s --check-prefix=TWO

// RUN: sed -i 's/x + 1/x + 2/' %t/k.cu
// RUN: sh %t/extract.sh %t/k.cu -o %t/out -- -arch=sm_90 | FileCheck %s --check-prefix=PROVEN
// RUN: ls %t/kept/extract | grep -c proof | FileCheck %s --check-prefix=THREE
// THREE: {{^}}3{{$}}

#ifndef __clang__
#include "only_nvcc.h"
#endif
__global__ void one(int *p, int x) { *p = x + 1; }
__global__ void two(int *p, int x) { *p = x * 3; }
void run(int *p) { one<<<1, 1>>>(p, 1); two<<<1, 1>>>(p, 2); }
