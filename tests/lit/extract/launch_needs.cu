// What a kernel needs of its launch beside geometry, arguments and memory.
// REQUIRES: nvcc
// RUN: %with-toolkit %kopt-extract %s --json --no-proof -o %t -- > %t.json
// RUN: %python -c "import json,sys; [print(k['name'], s['expression'], [(n['kind'], n['name'], n['line']) for n in s['needs']]) for k in json.load(open(sys.argv[1]))['kernels'] for s in k['specializations']]" %t.json | FileCheck %s
#include <cooperative_groups.h>

namespace cg = cooperative_groups;
struct Image { cudaTextureObject_t pixels; int width; };
__constant__ cudaTextureObject_t lookup;
typedef cudaSurfaceObject_t Surface;

// CHECK-DAG: byParameter byParameter [('texture', 'tex', [[@LINE+1]])]
__global__ void byParameter(float *out, cudaTextureObject_t tex, int n) { out[n] = tex1Dfetch<float>(tex, n); }

// CHECK-DAG: inStruct inStruct [('texture', 'image', [[@LINE+1]]), ('texture', 'image.pixels', [[@LINE+2]])]
__global__ void inStruct(float *out, const Image image) {
  out[0] = tex2D<float>(image.pixels, 0.5f, 0.5f);
}

// CHECK-DAG: inConstant inConstant [('texture', 'lookup', [[@LINE+1]])]
__global__ void inConstant(float *out) { out[0] = tex1Dfetch<float>(lookup, 3); }

__device__ float fetch(unsigned long long handle, int at) {
  return tex1Dfetch<float>(handle, at);
}
// An integer that is an object all the same, in a function of the user's.
// CHECK-DAG: byNumber byNumber [('texture', 'handle', [[@LINE-3]])]
__global__ void byNumber(float *out, unsigned long long number) { out[0] = fetch(number, 1); }

// CHECK-DAG: manyOfThem manyOfThem [('texture', 'all', [[@LINE+1]])]
__global__ void manyOfThem(float *out, const cudaTextureObject_t *all) { out[0] = 1; }

// CHECK-DAG: surface surface [('surface', 'to', [[@LINE+1]])]
__global__ void surface(Surface to) { surf2Dwrite(1.0f, to, 4, 0); }

template <bool Textured> __global__ void either(float *out, unsigned long long object) {
  if constexpr (Textured)
    out[0] = tex1Dfetch<float>(object, 0);
  else
    out[0] = 1;
}
// CHECK-DAG: either either<true> [('texture', 'object', [[@LINE-4]])]
// CHECK-DAG: either either<false> []
void run(float *out) {
  either<true><<<1, 1>>>(out, 0);
  either<false><<<1, 1>>>(out, 0);
}

// CHECK-DAG: wholeGrid wholeGrid [('cooperative', 'grid.sync()', [[@LINE+3]])]
__global__ void wholeGrid(int *data) {
  cg::grid_group grid = cg::this_grid();
  grid.sync();
  data[grid.thread_rank()] = 1;
}
// CHECK-DAG: freeFunction freeFunction [('cooperative', 'cg::sync(cg::this_grid())', [[@LINE+1]])]
__global__ void freeFunction() { cg::sync(cg::this_grid()); }

// CHECK-DAG: ownBlock ownBlock []
__global__ void ownBlock(int *data, unsigned long long big, const float *texels) {
  cg::thread_block block = cg::this_thread_block();
  block.sync();
  data[cg::this_grid().thread_rank()] = int(big + texels[0]);
}
