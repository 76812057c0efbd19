// SPDX-License-Identifier: Apache-2.0
// Two sums, of the even and the odd neighbours: another order of the same terms, in a struct.
// base: bodies
// expect: accepted
#include <kopt/kopt.h>

struct Body {
  float x, y, z, mass;
};
struct Pull {
  float x, y, z;
  int of;
};

KOPT_TUNE("arg n = 300", "extent bodies = n", "extent pulls = n", "fill bodies = uniform(0.5, 2)")
__global__ void pull(const Body *bodies, Pull *pulls, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  Body own = bodies[i];
  Pull sums[2] = {{0.0f, 0.0f, 0.0f, i}, {0.0f, 0.0f, 0.0f, i}};
#pragma unroll 2
  for (int j = 0; j < n; ++j) {
    Pull &sum = sums[j % 2];
    Body other = bodies[j];
    float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
    float near = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
    float strength = other.mass * near * near * near;
    sum.x += strength * dx;
    sum.y += strength * dy;
    sum.z += strength * dz;
  }
  pulls[i] = {sums[0].x + sums[1].x, sums[0].y + sums[1].y, sums[0].z + sums[1].z, i};
}

void run(const Body *bodies, Pull *pulls, int n) {
  pull<<<(n + 63) / 64, 64>>>(bodies, pulls, n);
}
