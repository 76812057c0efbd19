// A file that does not compile is left out where the others are wanted, as long as there is one.
// RUN: rm -rf %t && mkdir %t && echo 'syntax error' > %t/broken.cu
// RUN: %kopt-extract %t/broken.cu %s --list --no-proof --keep-going | FileCheck %s
// RUN: not %kopt-extract %t/broken.cu --list --no-proof --keep-going 2>&1 | FileCheck %s --check-prefix=ALL
// RUN: not %kopt-extract %t/broken.cu %s --list --no-proof 2>&1 | FileCheck %s --check-prefix=ALL
__global__ void fill(int *data) { data[threadIdx.x] = 1; }

void run(int *i) { fill<<<1, 32>>>(i); }

// CHECK: fill
// CHECK: broken.cu does not compile, so its kernels are left out: {{.*}}broken.cu:1:

// ALL: error: {{.*}}broken.cu does not compile
