// Overloads for float and for double become one: there is no clone.
// RUN: %variants reference %s both | FileCheck %s
__device__ float twice(float x) { return x * 2; }
__device__ double twice(double x) { return x * 2; }
__global__ void both(float *x) { x[0] = twice(x[0]); }
// CHECK: refused: not-expressible at line {{[0-9]+}}: the same text with double in it is not valid: redefinition of 'twice'
