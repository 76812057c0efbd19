// SPDX-License-Identifier: Apache-2.0
// Integer arguments as expressions over what the launching function was given.
// RUN: %kopt-extract %s --json -o %t -- | %python -c "import json,sys; print(json.load(sys.stdin)['kernels'][0]['launches'][0]['values'])" | FileCheck %s

__global__ void rows(float *x, int perGroup, int groups, long total, unsigned last, float by) {
  x[threadIdx.x] = perGroup * groups + total + last + by;
}

int measured();
void launch(float *x, int channels, int groups, int images, float by) {
  const int perGroup = channels / groups;
  long total = images;
  total *= channels;
  rows<<<images, 256>>>(x, perGroup, groups, total, measured(), by);
}
// CHECK: ['', '(channels / groups)', 'groups', '(images * channels)', 'measured()', '']
