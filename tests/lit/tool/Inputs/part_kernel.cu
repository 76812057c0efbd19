__global__ void wide(int *x) { x[threadIdx.x % WIDTH] = 1; }
