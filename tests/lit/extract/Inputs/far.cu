__global__ void far(float *p) { p[threadIdx.x] = 1; }
