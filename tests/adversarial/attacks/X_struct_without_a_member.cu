// SPDX-License-Identifier: Apache-2.0
// Every mass is the same: of a struct one member is never read.
// base: bodies
// expect: WrongResult by outputs
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
  Pull sum = {0.0f, 0.0f, 0.0f, i};
  for (int j = 0; j < n; ++j) {
    Body other = bodies[j];
    float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
    float near = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
    float strength = 1.25f * near * near * near;
    sum.x += strength * dx;
    sum.y += strength * dy;
    sum.z += strength * dz;
  }
  pulls[i] = sum;
}

void run(const Body *bodies, Pull *pulls, int n) {
  pull<<<(n + 63) / 64, 64>>>(bodies, pulls, n);
}
