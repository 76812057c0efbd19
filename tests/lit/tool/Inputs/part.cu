#define WIDTH 32
#include "part_kernel.cu"
void run(int *x) { wide<<<1, WIDTH>>>(x); }
