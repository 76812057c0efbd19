// What pointers to arrays and structs point to: scalars of one kind without gaps are filled and compared as such.
// RUN: %kopt-extract %s --json -o %t -- | %python -c "import json,sys; [print(p['name'], p['kind'], p['scalar'] or '-', p['components'], p['pointee_size']) for p in json.load(sys.stdin)['kernels'][0]['specializations'][0]['params']]" | FileCheck %s
#include <cuda_fp16.h>
struct Body { float x, y, z, mass; };
struct Moving : Body { float3 velocity; float history[2][4]; };
struct Edge { int from, to; };
struct Tagged { float x; int tag; };
struct Narrow { char c; short s; };
struct Gap { double d; alignas(16) double e; };
struct Linked { Linked *next; };
union Either { float f; float g; };
struct Bits { unsigned a : 4, b : 28; };
struct Empty {};
struct Tight : Empty { __half one, other; };
struct Virtual { virtual void f(); float x; };
template <class T> struct Pair { T a, b; };

__global__ void k(const Body *body, Moving *moving, Edge *edge, Tagged *tagged, Narrow *narrow, Gap *gap, Linked *linked,
                  Either *either, Bits *bits, Empty *empty, Tight *tight, Virtual *dynamic, Pair<double> *pair,
                  float (*rows)[16], Empty (*none)[1ull << 40], float (*huge)[1ull << 30], Body byValue, Empty nothing) {
  pair->a = byValue.x;
}

// CHECK: body pointer f32 4 16
// CHECK: moving pointer f32 15 60
// CHECK: edge pointer i32 2 8
// CHECK: tagged pointer struct 8 f32 0 i32 4 1 8
// CHECK: narrow pointer struct 4 i8 0 i16 2 1 4
// CHECK: gap pointer struct 32 f64 0 f64 16 1 32
// CHECK: linked pointer - 1 8
// CHECK: either pointer - 1 4
// CHECK: bits pointer - 1 4
// CHECK: empty pointer - 1 1
// CHECK: tight pointer f16 2 4
// CHECK: dynamic pointer - 1 16
// CHECK: pair pointer f64 2 16
// CHECK: rows pointer f32 16 64
// CHECK: none pointer - 1
// CHECK: huge pointer - 1
// CHECK: byValue struct - 1 0
// CHECK: nothing struct empty 1 0
