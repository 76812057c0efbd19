// Through which parameters a kernel may read, and through which it may write.
// RUN: %variants model %s several | FileCheck %s --check-prefix=SEVERAL
// RUN: %variants model %s member | FileCheck %s --check-prefix=MEMBER
// RUN: %variants model %s rows | FileCheck %s --check-prefix=ROWS
// RUN: %variants model %s variable | FileCheck %s --check-prefix=VARIABLE
// RUN: %variants model %s seen | FileCheck %s --check-prefix=SEEN
// RUN: %variants model %s blind | FileCheck %s --check-prefix=BLIND

// SEVERAL: uses: read bins in updated written bins out updated
__global__ void several(float *in, float *out, float *updated, int *bins, float *unused) {
  __shared__ float tile[32];
  tile[threadIdx.x % 32] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tile[0];
  updated[threadIdx.x] += 1;
  atomicAdd(&bins[threadIdx.x % 4], 1);
}

struct Pair {
  const float *from;
  float *to;
};

// MEMBER: uses: read {{.*}}from written {{.*}}to
__global__ void member(Pair pair) { pair.to[threadIdx.x] = pair.from[threadIdx.x]; }

// A pointer that was loaded may point anywhere.
// ROWS: uses: unknown
__global__ void rows(float **rows, float *out) { out[threadIdx.x] = rows[0][threadIdx.x]; }

__device__ float total;

// VARIABLE: uses: unknown
__global__ void variable(const float *in) { total = in[0]; }

__device__ void put(float *to, float value) { *to = value; }

// SEEN: uses: read in written out
__global__ void seen(const float *in, float *out) { put(out + threadIdx.x, in[threadIdx.x]); }

// BLIND: uses: unknown
__global__ void blind(const float *in, float *out) {
  asm volatile("st.global.f32 [%0], %1;" ::"l"(out), "f"(in[0]) : "memory");
}
