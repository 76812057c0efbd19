// A kernel that only this file sees has the name nvcc gives it, a library's kernel is listed apart, and what nvcc does
// not emit is not claimed.
// REQUIRES: nvcc, long
// RUN: %with-toolkit %nvcc -std=c++17 -isystem %S/Inputs/library -ptx %s -o %t.ptx -w
// RUN: %with-toolkit %kopt-extract %s --json -o %t -- -std=c++17 -isystem %S/Inputs/library > %t.json
// RUN: %python -c "import json, re, sys; d = json.load(open(sys.argv[1])); entries = re.findall(r'[.]entry (\w+)', open(sys.argv[2]).read()); mine = [s['symbol'] for k in d['kernels'] for s in k['specializations']]; library = [k['symbol'] for k in d['library_kernels']]; assert sorted(mine + library) == sorted(entries), (mine, library, entries); assert len(mine) == 5 and len(library) == 1; launched = {l['symbol'] for k in d['kernels'] for l in k['launches']}; assert launched < set(mine), launched" %t.json %t.ptx
// RUN: FileCheck %s < %t.json
#include <library.cuh>

namespace {
struct Cell {
  float value;
};
__global__ void hidden(Cell *p) { p[threadIdx.x].value = 1; }
template <class T> __global__ void hiddenTemplate(T *p) { p[threadIdx.x] = 2; }
__global__ void unused(float *p) { p[threadIdx.x] = 3; }
} // namespace
static __global__ void local(float *p) { p[threadIdx.x] = 4; }
extern "C" __global__ void plain(float *p) { p[threadIdx.x] = 5; }

void run(float *p, Cell *cells) {
  hidden<<<1, 32>>>(cells);
  hiddenTemplate<<<1, 32>>>(p);
  local<<<1, 32>>>(p);
  plain<<<1, 32>>>(p);
  launchFill(p);
#ifdef __clang__
  hiddenTemplate<<<1, 32>>>((int *)nullptr);
#endif
}

// CHECK: "file_local": true
// CHECK: "library_kernels"
// CHECK: "name": "fill<float>"
// CHECK: nvcc emits no code for hiddenTemplate<int>: nothing in this unit uses it
