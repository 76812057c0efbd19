// RUN: %variants mutate %s k --operators='["comparison"]' | FileCheck %s --check-prefix=COMPARE
// RUN: %variants mutate %s k --operators='["loop-bound"]' | FileCheck %s --check-prefix=BOUND
// RUN: %variants mutate %s k --operators='["reduced-iterations"]' | FileCheck %s --check-prefix=HALF
// RUN: %variants mutate %s k --operators='["negated-condition"]' | FileCheck %s --check-prefix=NEGATED
__global__ void k(float *x, int n, int steps) {
  int i = threadIdx.x;
  if (i >= n)
    return;
  for (int step = 0; step < steps; ++step)
    x[i] = x[i] > 1 ? x[i] / 2 : x[i] + 1;
  for (int s = 16; s > 0; s >>= 1) { // `s >= 0` would never end
    if (i < s)
      x[i] += x[i + s];
    __syncthreads();
  }
  while (true) {
    if (x[i] > 8) // a loop that is left here may not end the other way
      break;
    x[i] += 1;
  }
  if (i == 0)
    x[n] = 1;
  if constexpr (sizeof(float) == 8) {
    for (int dead = 0; dead < n; ++dead)
      x[dead] = 0;
  }
}

// COMPARE-DAG: comparison (value): `>=` made `>` at line 7
// COMPARE-DAG: + for (int step = 0; step <= steps; ++step)
// COMPARE-DAG: note: the same where a step beyond the last one does nothing
// COMPARE-DAG: + if (i <= s)
// COMPARE-DAG: note: the same where nothing is equal to the limit itself
// COMPARE-NOT: dead
// COMPARE-NOT: s >= 0
// COMPARE:     chosen 3 of 3

// BOUND-DAG: + for (int step = 0; (step) + 1 < steps; ++step)
// BOUND-DAG: + for (int s = 16; s > (0) + 1; s >>= 1)
// BOUND:     chosen 2 of 2

// HALF-DAG: + for (int step = 0; step < ((steps) / 2); ++step)
// HALF-DAG: + for (int s = ((16) / 2); s > 0; s >>= 1)
// HALF:     chosen 2 of 2

// NEGATED-DAG: + if (!(i >= n))
// NEGATED-DAG: + x[i] = !(x[i] > 1) ? x[i] / 2 : x[i] + 1;
// NEGATED-DAG: + if (!(i < s))
// NEGATED-DAG: + if (!(i == 0))
// NEGATED-DAG: note: the same where any of the threads may do it, as often as they like
// NEGATED-NOT: x[i] > 8
// NEGATED:     chosen 4 of 4
