template <class T> __global__ void fill(T *p) { p[threadIdx.x] = T(); }
template <class T> void launchFill(T *p) { fill<<<1, 32>>>(p); }
