// Parameters as the driver lays them out.
// RUN: %kopt-extract %s --json -o %t -- | %python -c "import json,sys; [print(p['name'], p['type'], p['kind'], p['size'], p['align'], p['scalar'] or '-', p['components'], p['pointee_size'], p['pointee_const'], p['restrict']) for p in json.load(sys.stdin)['kernels'][0]['specializations'][0]['params']]" | FileCheck %s
#include <cuda_fp16.h>
struct Config { int a; double b; };
enum Color : unsigned char { kRed };
namespace lib { struct alignas(2) BFloat16 { unsigned short x; }; }
struct Span { float *data; int count; const int *rows; Config *configs; };

__global__ void k(const float *__restrict__ in, float4 *out, __half *h, int n, unsigned long long big, bool flag,
                  Config config, Color color, void *raw, const double2 pair, Span span, void *used, const char *bytes, unsigned char *image, const void *both,
                  lib::BFloat16 *brain) {
  auto *out32 = reinterpret_cast<float *>(used);
  out32[0] = *((const float *)(bytes + 16) + n) + ((float4 *)used)[1].x;
  image[n] = *(const int *)both + int(*static_cast<const double *>(both));
}

// CHECK: in const float *{{.*}} pointer 8 8 f32 1 4 True True
// CHECK: out float4 * pointer 8 8 f32 4 16 False False
// CHECK: h __half * pointer 8 8 f16 1 2 False False
// CHECK: n int scalar 4 4 i32 1 0 False False
// CHECK: big unsigned long long scalar 8 8 u64 1 0
// CHECK: flag bool scalar 1 1 bool 1 0
// CHECK: config Config struct 16 8 - 1 0
// CHECK: color Color scalar 1 1 u8 1 0
// CHECK: raw void * pointer 8 8 - 1 0
// CHECK: pair const double2 scalar 16 16 f64 2 0
// A struct's pointers to scalars are told by their offsets.
// CHECK: span Span struct 32 8 pointers 0 f32 16 i32 1 0
// What is pointed to is what the kernel takes it for, where that is one type.
// CHECK: used void * pointer 8 8 f32 1 0
// CHECK: bytes const char * pointer 8 8 f32 1 1
// CHECK: image unsigned char * pointer 8 8 u8 1 1
// CHECK: both const void * pointer 8 8 - 1 0
// CHECK: brain lib::BFloat16 * pointer 8 8 bf16 1 2 False False
