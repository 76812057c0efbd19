__global__ void bad(int *p) { *p = *missing; }
