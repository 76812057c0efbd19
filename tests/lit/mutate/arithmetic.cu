// RUN: %variants mutate %s k --operators='["arithmetic"]' | FileCheck %s --check-prefix=SWAP
// RUN: %variants mutate %s k --operators='["dropped-term"]' | FileCheck %s --check-prefix=TERM
// RUN: %variants mutate %s k --operators='["min-max"]' | FileCheck %s --check-prefix=MINMAX
__global__ void k(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x; // integers are left alone
  float sum = x[i] * 2.0f + x[n - i];
  float unused = x[i] + 1.0f;
  sum -= x[i];
  sum = fmaf(sum, x[i], 0.25f);
  y[i] = fminf(sum, max(x[i], -1.0f)) / (x[i] * 1.0f);
}

// SWAP-DAG: + float sum = x[i] / 2.0f + x[n - i];
// SWAP-DAG: + float sum = x[i] * 2.0f - x[n - i];
// SWAP-DAG: + sum += x[i];
// SWAP-DAG: + y[i] = fminf(sum, max(x[i], -1.0f)) * (x[i] * 1.0f);
// SWAP:     chosen 4 of 4

// TERM-DAG: + float sum = x[i] * 2.0f;
// TERM-DAG: + sum = fmaf(sum, x[i], 0);
// TERM:     chosen 2 of 2

// MINMAX-DAG: + y[i] = fmaxf(sum, max(x[i], -1.0f)) / (x[i] * 1.0f);
// MINMAX-DAG: + y[i] = fminf(sum, min(x[i], -1.0f)) / (x[i] * 1.0f);
// MINMAX:     chosen 2 of 2
