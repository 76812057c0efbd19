// RUN: %variants mutate %s k --operators='["scalar-literal"]' | FileCheck %s --check-prefix=LITERAL
// RUN: %variants mutate %s k --operators='["scalar-off-by-one"]' | FileCheck %s --check-prefix=OFF
// RUN: %variants mutate %s k --operators='["literal"]' | FileCheck %s --check-prefix=NUMBER
__global__ void k(float *y, const float *x, int n, float a, double d, bool negate, int counted) {
  int i = threadIdx.x;
  if (i < n)
    y[i] = fmaxf(a * x[i] + (float)d, 0.5f) / (x[i] + 1e-6f) + 3.0;
  if (negate)
    y[i] = -y[i];
  while (counted-- > 0) // changed: no constant can stand there
    y[i] *= 1.5f;
}

// A step that became zero would never get anywhere.
// RUN: %variants mutate %s steps --operators='["scalar-off-by-one", "scalar-literal"]' | FileCheck %s --check-prefix=STEP
__global__ void steps(float *x, int n, int stride) {
  for (int i = threadIdx.x; i < n; i += stride)
    x[i] += 1;
}
// STEP-NOT: stride one less
// STEP-DAG: parameter stride one more
// STEP-DAG: parameter n one less
// STEP-NOT: stride one less

// LITERAL-DAG: parameter n replaced by 3 at line 4
// LITERAL-DAG: + if (i < 3)
// LITERAL-DAG: parameter a replaced by 0.8125f at line 4
// LITERAL-DAG: + y[i] = fmaxf(0.8125f * x[i] + (float)d, 0.5f) / (x[i] + 1e-6f) + 3.0;
// LITERAL-DAG: parameter d replaced by 0.8125 at line 4
// LITERAL-DAG: + if (false)
// LITERAL:     chosen 4 of 4

// OFF-DAG: + if (i < (n - 1))
// OFF-DAG: + if (i < (n + 1))
// OFF-DAG: note: the same where nothing is equal to the limit itself
// OFF-DAG: + y[i] = fmaxf((a * 1.01f) * x[i] + (float)d, 0.5f)
// OFF-DAG: + if ((!negate))
// OFF:     chosen 5 of 5

// NUMBER-DAG: + y[i] = fmaxf(a * x[i] + (float)d, (0.5f * 1.01f))
// NUMBER-DAG: note: the same where no value lies between the two limits
// NUMBER-DAG: + y[i] = fmaxf(a * x[i] + (float)d, 0.5f) / (x[i] + (1e-6f * 1.01f)) + 3.0;
// NUMBER-DAG: note: nearly the same where what it is added to is far larger
// NUMBER-DAG: + y[i] = fmaxf(a * x[i] + (float)d, 0.5f) / (x[i] + 1e-6f) + (3.0 * 1.01);
// NUMBER-DAG: + y[i] *= (1.5f * 1.01f);
// NUMBER-DAG: note: nearly the same where its term is small beside the others
// NUMBER-DAG: + y[i] *= (1.5f * 2.0f);
// NUMBER-DAG: + y[i] = fmaxf(a * x[i] + (float)d, 0.5f) / (x[i] + 1e-6f) + (3.0 * 2.0);
// NUMBER:     chosen 8 of 8
