// RUN: %variants mutate %s k --operators='["constant-store"]' | FileCheck %s --check-prefix=STORE
// RUN: %variants mutate %s k --operators='["dropped-accumulate"]' | FileCheck %s --check-prefix=SUM
// RUN: %variants mutate %s k --operators='["removed-statement"]' | FileCheck %s --check-prefix=GONE
__device__ void put(float4 *to, float4 value) { *to = value; }
__global__ void k(const float *x, float *y, float4 *v, int n) {
  __shared__ float tile[32];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  float sum = 0, unused = 0;
  for (int i = 0; i < n; i++)
    sum += tile[i % 32];
  unused += 1;
  int left = n;
  while (left > 0)
    left -= 4;
  y[threadIdx.x] = sum;
  y[threadIdx.x + 32] += sum;
  put(v, make_float4(sum, 0, 0, 0));
  y[0] = 0;
}

// STORE-DAG:  constant-store (value): zero stored to *to at line 4
// STORE-DAG:  + __device__ void put(float4 *to, float4 value) { *to = {}; }
// STORE-DAG:  constant-store (value): zero stored to y[threadIdx.x] at line 16
// STORE-DAG:  + y[threadIdx.x] = 0;
// STORE:      chosen 2 of 2

// SUM-DAG: + sum = tile[i % 32];
// SUM-DAG: + y[threadIdx.x + 32] = sum;
// SUM:     chosen 2 of 2

// GONE-DAG: + (void)0;
// GONE-DAG: removed-statement (value): `tile[threadIdx.x] = x[threadIdx.x]` removed at line 7
// GONE-DAG: removed-statement (value): `sum += tile[i % 32]` removed at line 11
// GONE-DAG: removed-statement (value): `y[threadIdx.x] = sum` removed at line 16
// GONE-DAG: removed-statement (value): `put(v, make_float4(sum, 0, 0, 0))` removed at line 18
// GONE-DAG: removed-statement (value): `*to = value` removed at line 4
// GONE:     chosen 7 of 7
