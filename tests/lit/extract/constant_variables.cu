// What host code puts into __constant__ memory is an input of the kernel that reads it.
// RUN: %kopt-extract %s --json --no-proof -o %t -- > %t.json
// RUN: %python -c "import json,sys; [print(k['name'], [(v['name'], v['symbol'], v['bytes'], v['type'], v['scalar']) for v in s['constant_variables']]) for k in json.load(open(sys.argv[1]))['kernels'] for s in k['specializations']]" %t.json | FileCheck %s

__constant__ float taps[2][5];
static __constant__ int width;
namespace image { struct Camera { float at[3]; int steps; }; __constant__ Camera camera; namespace { __constant__ float gain; } }
__constant__ float fixed[2] = {1, 2};
__constant__ float *where;
__device__ int counter;

__device__ float tap(int i) { return taps[0][i]; }

// CHECK-DAG: inHelper [('width', 'width', 4, 'int', 'i32'), ('taps', 'taps', 40, 'float', 'f32')]
__global__ void inHelper(float *out) { out[threadIdx.x % width] = tap(threadIdx.x) + taps[1][0]; }

// CHECK-DAG: inNamespaces [('camera', '_ZN5image6cameraE', 16, 'image::Camera', 'struct 16 f32 0 f32 4 f32 8 i32 12'), ('gain', '_ZN5image12_GLOBAL__N_14gainE', 4, 'float', 'f32')]
__global__ void inNamespaces(float *out) { out[0] = image::camera.at[1] * image::gain; }

// CHECK-DAG: inTemplates [('mask', '_Z4maskIfE', 40, 'float', 'f32'), ('row', '_ZN5image3rowIfLi2EEE', 8, 'float', 'f32')]
template <class T> __constant__ T mask[10];
namespace image { template <class T, int N> __constant__ T row[N]; }
template <class T> __global__ void inTemplates(T *out) { out[0] = mask<T>[3] + image::row<T, 2>[1]; }
template __global__ void inTemplates<float>(float *);

// The file says what it is; nobody can draw an address; what is no constant is the kernel's own.
// CHECK-DAG: others []
__global__ void others(float *out) { out[0] = fixed[1] + *where + atomicAdd(&counter, 1); }
