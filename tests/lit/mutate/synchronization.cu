// RUN: %variants mutate %s k --operators='["removed-barrier", "plain-atomic"]' | FileCheck %s
__global__ void k(const int *x, int *bins, int *most, int *ticket) {
  __shared__ int local[32];
  local[threadIdx.x % 32] = 0;
  __syncthreads();
  atomicAdd(&local[x[threadIdx.x]], 1);
  __syncthreads();
  if (threadIdx.x < 32)
    atomicMax(most, local[threadIdx.x]);
  int mine = atomicAdd(ticket, 2);
  bins[mine] = local[0];
}

// CHECK-DAG: removed-barrier (schedule): `__syncthreads()` removed at line 5
// CHECK-DAG: removed-barrier (schedule): `__syncthreads()` removed at line 7
// CHECK-DAG: + (void)0;
// CHECK-DAG: plain-atomic (schedule): atomicAdd without atomicity at line 6
// CHECK-DAG: + { auto *koptAt = &local[x[threadIdx.x]]; *koptAt = *koptAt + (1); };
// CHECK-DAG: + { auto *koptAt = most; if ((local[threadIdx.x]) > *koptAt) *koptAt = (local[threadIdx.x]); };
// CHECK-DAG: + int mine = [&] { auto *koptAt = ticket; auto koptOld = *koptAt; *koptAt = *koptAt + (2); return koptOld; }();
// CHECK-DAG: note: the same where no two threads ever meet at one place
// CHECK:     chosen 5 of 5
