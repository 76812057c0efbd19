// SPDX-License-Identifier: Apache-2.0
// Kernels that are right must give the right results and no finding.
#include "tests/component/emulated/EmulatedTest.h"

#include <cmath>
#include <fstream>
#include <numeric>
#include <random>

namespace kopt::runtime {
namespace {

TEST_F(EmulatedTest, AddsVectorsWithATail) {
  LaunchRequest request = kernel(R"(
    __global__ void add(const float *a, const float *b, float *c, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) c[i] = a[i] + b[i];
    })",
                                 "add");
  const int n = 1000;
  std::vector<float> a(n), b(n);
  std::iota(a.begin(), a.end(), 0.0f);
  std::iota(b.begin(), b.end(), 0.5f);
  Address da = upload(a), db = upload(b), dc = space<float>(n);
  Status status = launch(request, 8, 128, da, db, dc, n);
  ASSERT_TRUE(status.ok()) << status.detail;
  std::vector<float> c = download<float>(dc, n);
  for (int i = 0; i < n; ++i)
    ASSERT_EQ(c[i], a[i] + b[i]);
}

TEST_F(EmulatedTest, TiledTransposeOfATemplate) {
  LaunchRequest request = kernel(R"(
    #include <cuda_runtime.h>
    namespace lib {
    template <int Tile, class T> __global__ void __launch_bounds__(Tile * 8)
    transpose(const T *__restrict__ in, T *__restrict__ out, int width, int height) {
      __shared__ T tile[Tile][Tile + 1];
      int x = blockIdx.x * Tile + threadIdx.x, y = blockIdx.y * Tile + threadIdx.y;
      for (int j = 0; j < Tile; j += 8)
        if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
      __syncthreads();
      x = blockIdx.y * Tile + threadIdx.x; y = blockIdx.x * Tile + threadIdx.y;
      for (int j = 0; j < Tile; j += 8)
        if (x < height && y + j < width) out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
    }
    })",
                                 "lib::transpose<32, double>");
  const int width = 100, height = 70;
  std::vector<double> in(width * height);
  std::iota(in.begin(), in.end(), 0.0);
  Address din = upload(in), dout = space<double>(in.size());
  pass(request, din), pass(request, dout), pass(request, width), pass(request, height);
  request.grid = {4, 3, 1};
  request.block = {32, 8, 1};
  Status status = device_->launch(request);
  ASSERT_TRUE(status.ok()) << status.detail;
  std::vector<double> out = download<double>(dout, in.size());
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      ASSERT_EQ(out[x * height + y], in[y * width + x]);
  EXPECT_EQ(module_.maxThreads, 256u);
  EXPECT_EQ(module_.sharedBytes, 32u * 33u * 8u);
}

TEST_F(EmulatedTest, ReducesWithShufflesAndDynamicSharedMemory) {
  LaunchRequest request = kernel(R"(
    __device__ float warpSum(float v) {
      for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
      return v;
    }
    __global__ void sum(const float *in, float *out, int n) {
      extern __shared__ float partial[];
      float v = 0;
      for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += in[i];
      v = warpSum(v);
      if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = v;
      __syncthreads();
      if (threadIdx.x < 32) {
        v = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0;
        v = warpSum(v);
        if (threadIdx.x == 0) atomicAdd(out, v);
      }
    })",
                                 "sum");
  const int n = 10000;
  std::vector<float> in(n, 1.0f);
  Address din = upload(in), dout = upload(std::vector<float>{0});
  request.sharedBytes = 8 * sizeof(float);
  Status status = launch(request, 4, 256, din, dout, n);
  ASSERT_TRUE(status.ok()) << status.detail;
  EXPECT_EQ(download<float>(dout, 1)[0], 10000.0f);
}

TEST_F(EmulatedTest, ClassicSharedTreeReduction) {
  LaunchRequest request = kernel(R"(
    __global__ void sum(const int *in, int *out) {
      __shared__ int s[256];
      s[threadIdx.x] = in[threadIdx.x];
      __syncthreads();
      for (unsigned d = blockDim.x / 2; d > 0; d >>= 1) {
        if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
      }
      if (threadIdx.x == 0) *out = s[0];
    })",
                                 "sum");
  std::vector<int> in(256);
  std::iota(in.begin(), in.end(), 0);
  Address din = upload(in), dout = space<int>(1);
  Status status = launch(request, 1, 256, din, dout);
  ASSERT_TRUE(status.ok()) << status.detail;
  EXPECT_EQ(download<int>(dout, 1)[0], 255 * 128);
}

TEST_F(EmulatedTest, HistogramWithSharedAndGlobalAtomics) {
  LaunchRequest request = kernel(R"(
    __global__ void histogram(const unsigned char *in, unsigned *bins, int n) {
      __shared__ unsigned local[256];
      for (int i = threadIdx.x; i < 256; i += blockDim.x) local[i] = 0;
      __syncthreads();
      for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[in[i]], 1u);
      __syncthreads();
      for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&bins[i], local[i]);
    })",
                                 "histogram");
  std::mt19937 random(7);
  std::vector<unsigned char> in(5000);
  std::vector<unsigned> expected(256);
  for (unsigned char &value : in)
    ++expected[value = (unsigned char)random()];
  Address din = upload(in), bins = upload(std::vector<unsigned>(256));
  Status status = launch(request, 5, 128, din, bins, int(in.size()));
  ASSERT_TRUE(status.ok()) << status.detail;
  EXPECT_EQ(download<unsigned>(bins, 256), expected);
}

TEST_F(EmulatedTest, CompareAndSwapLoopAndSpinLock) {
  LaunchRequest request = kernel(R"(
    __device__ double atomicAddDouble(double *address, double value) {
      unsigned long long *bits = (unsigned long long *)address, old = *bits, assumed;
      do { assumed = old; old = atomicCAS(bits, assumed, __double_as_longlong(value + __longlong_as_double(assumed))); }
      while (assumed != old);
      return __longlong_as_double(old);
    }
    __device__ int lock;
    __global__ void both(double *sum, int *list, int *count) {
      atomicAddDouble(sum, 1.0);
      bool done = false;
      while (!done) {
        if (atomicCAS(&lock, 0, 1) == 0) {
          __threadfence();
          int at = *count; list[at] = threadIdx.x; *count = at + 1;
          __threadfence();
          atomicExch(&lock, 0);
          done = true;
        }
      }
    })",
                                 "both");
  Address sum = upload(std::vector<double>{0}), list = space<int>(128),
          count = upload(std::vector<int>{0});
  Status status = launch(request, 2, 64, sum, list, count);
  ASSERT_TRUE(status.ok()) << status.detail;
  EXPECT_EQ(download<double>(sum, 1)[0], 128.0);
  EXPECT_EQ(download<int>(count, 1)[0], 128);
}

TEST_F(EmulatedTest, AtomicsWithAnOrderAndAScope) {
  LaunchRequest request = kernel(R"(
    __device__ int lock;
    __global__ void scoped(unsigned *sum, int *most, float *real, int *list, int *count, unsigned long long *bits) {
      __nv_atomic_fetch_add(sum, 1u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
      __nv_atomic_max(most, (int)threadIdx.x, __NV_ATOMIC_RELAXED);
      __nv_atomic_add(real, 0.5f, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM);
      __nv_atomic_or(bits, 1ull << threadIdx.x % 64, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
      bool done = false;
      while (!done) {
        int free = 0;
        if (__nv_atomic_compare_exchange_n(&lock, &free, 1, false, __NV_ATOMIC_ACQUIRE, __NV_ATOMIC_RELAXED,
                                           __NV_THREAD_SCOPE_DEVICE)) {
          int at = *count; list[at] = threadIdx.x; *count = at + 1;
          __nv_atomic_store_n(&lock, 0, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
          done = true;
        }
      }
      if (__nv_atomic_load_n(most, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE) > 64)
        __nv_atomic_exchange_n(sum, 7u, __NV_ATOMIC_RELAXED);
    })",
                                 "scoped");
  Address sum = upload(std::vector<unsigned>{0}), most = upload(std::vector<int>{0}),
          real = upload(std::vector<float>{0}), list = space<int>(128),
          count = upload(std::vector<int>{0}), bits = upload(std::vector<unsigned long long>{0});
  Status status = launch(request, 2, 64, sum, most, real, list, count, bits);
  ASSERT_TRUE(status.ok()) << status.detail;
  EXPECT_EQ(download<unsigned>(sum, 1)[0], 128u);
  EXPECT_EQ(download<int>(most, 1)[0], 63);
  EXPECT_EQ(download<float>(real, 1)[0], 64.0f);
  EXPECT_EQ(download<int>(count, 1)[0], 128);
  EXPECT_EQ(download<unsigned long long>(bits, 1)[0], ~0ull);
}

TEST_F(EmulatedTest, VotesMatchesAndCounts) {
  LaunchRequest request = kernel(R"(
    __global__ void votes(unsigned *out) {
      unsigned t = threadIdx.x;
      out[t] = __ballot_sync(0xffffffffu, t % 3 == 0);
      out[32 + t] = __match_any_sync(0xffffffffu, t / 8);
      out[64 + t] = __any_sync(0xffffffffu, t == 5) * 2 + __all_sync(0xffffffffu, t < 31);
      out[96 + t] = __syncthreads_count(t < 10) * 4 + __syncthreads_and(t < 32) * 2 + __syncthreads_or(t > 32);
      unsigned active = 0;
      if (t % 2) active = __activemask();
      out[128 + t] = active;
      out[160 + t] = __reduce_max_sync(0xffffffffu, t * 7 % 32);
    })",
                                 "votes");
  Address out = space<unsigned>(192);
  Status status = launch(request, 1, 32, out);
  ASSERT_TRUE(status.ok()) << status.detail;
  std::vector<unsigned> values = download<unsigned>(out, 192);
  unsigned thirds = 0;
  for (unsigned t = 0; t < 32; t += 3)
    thirds |= 1u << t;
  for (unsigned t = 0; t < 32; ++t) {
    EXPECT_EQ(values[t], thirds);
    EXPECT_EQ(values[32 + t], 0xffu << (t / 8 * 8));
    EXPECT_EQ(values[64 + t], 2u);
    EXPECT_EQ(values[96 + t], 10u * 4 + 2);
    EXPECT_EQ(values[128 + t], t % 2 ? 0xaaaaaaaau : 0u);
    EXPECT_EQ(values[160 + t], 31u);
  }
}

TEST_F(EmulatedTest, ShufflesOfAllModes) {
  LaunchRequest request = kernel(R"(
    __global__ void shuffles(double *out) {
      int t = threadIdx.x; double v = t + 0.25;
      out[t] = __shfl_sync(0xffffffffu, v, 3, 8);
      out[32 + t] = __shfl_up_sync(0xffffffffu, v, 2);
      out[64 + t] = __shfl_down_sync(0xffffffffu, v, 5, 16);
      out[96 + t] = __shfl_xor_sync(0xffffffffu, v, 9);
    })",
                                 "shuffles");
  Address out = space<double>(128);
  Status status = launch(request, 1, 32, out);
  ASSERT_TRUE(status.ok()) << status.detail;
  std::vector<double> values = download<double>(out, 128);
  for (int t = 0; t < 32; ++t) {
    EXPECT_EQ(values[t], t / 8 * 8 + 3 + 0.25);
    EXPECT_EQ(values[32 + t], (t < 2 ? t : t - 2) + 0.25);
    EXPECT_EQ(values[64 + t], (t % 16 + 5 < 16 ? t + 5 : t) + 0.25);
    EXPECT_EQ(values[96 + t], (t ^ 9) + 0.25);
  }
}

TEST_F(EmulatedTest, HalfAndBfloatRoundOncePerOperation) {
  LaunchRequest request = kernel(R"(
    #include <cuda_fp16.h>
    #include <cuda_bf16.h>
    __global__ void arithmetic(const float *a, const float *b, unsigned short *out) {
      int t = threadIdx.x;
      __half x = __float2half(a[t]), y = __float2half(b[t]);
      out[t * 6] = __half_as_ushort(x + y);
      out[t * 6 + 1] = __half_as_ushort(__hmul(x, y));
      out[t * 6 + 2] = __half_as_ushort(__hfma(x, y, x));
      __nv_bfloat16 p = __float2bfloat16(a[t]), q = __float2bfloat16(b[t]);
      out[t * 6 + 3] = __bfloat16_as_ushort(p + q);
      out[t * 6 + 4] = __bfloat16_as_ushort(p * q);
      half2 h = __floats2half2_rn(a[t], b[t]);
      out[t * 6 + 5] = __half_as_ushort(__low2half(__hadd2(h, h)));
    })",
                                 "arithmetic");
  std::mt19937 random(3);
  std::uniform_real_distribution<float> draw(-8, 8);
  const int n = 256;
  std::vector<float> a(n), b(n);
  for (int i = 0; i < n; ++i)
    a[i] = draw(random), b[i] = draw(random);
  Address da = upload(a), db = upload(b), dout = space<unsigned short>(n * 6);
  Status status = launch(request, 1, n, da, db, dout);
  ASSERT_TRUE(status.ok()) << status.detail;
  std::vector<unsigned short> out = download<unsigned short>(dout, n * 6);
  // Rounds a long double, in which every operand and result here is exact, to 11 or 8 bits, ties to
  // even.
  auto rounded = [](long double value, int bits) {
    int exponent = 0;
    std::frexp(value, &exponent);
    const long double unit = std::ldexp(1.0L, exponent - bits);
    return float(std::nearbyint(value / unit) * unit);
  };
  auto halfBits = [](float value) {
    _Float16 half = (_Float16)value;
    unsigned short bits;
    std::memcpy(&bits, &half, 2);
    return bits;
  };
  auto bfloatBits = [](float value) {
    unsigned bits;
    std::memcpy(&bits, &value, 4);
    return (unsigned short)(bits >> 16);
  };
  for (int i = 0; i < n; ++i) {
    const long double x = rounded(a[i], 11), y = rounded(b[i], 11), p = rounded(a[i], 8),
                      q = rounded(b[i], 8);
    ASSERT_EQ(out[i * 6], halfBits(rounded(x + y, 11))) << i;
    ASSERT_EQ(out[i * 6 + 1], halfBits(rounded(x * y, 11))) << i;
    ASSERT_EQ(out[i * 6 + 2], halfBits(rounded(x * y + x, 11))) << i;
    ASSERT_EQ(out[i * 6 + 3], bfloatBits(rounded(p + q, 8))) << i;
    ASSERT_EQ(out[i * 6 + 4], bfloatBits(rounded(p * q, 8))) << i;
    ASSERT_EQ(out[i * 6 + 5], halfBits(float(2 * x))) << i;
  }
}

TEST_F(EmulatedTest, VariablesAreFoundAndSetByTheNamesNvccGivesThem) {
  LaunchRequest request = kernel(R"(
    namespace app { __constant__ float shared[2]; static __constant__ float own[2]; }
    static __device__ float factor;
    __device__ int calls;
    __global__ void k(float *out) {
      out[threadIdx.x] = factor * (app::shared[threadIdx.x] + app::own[threadIdx.x]);
      if (threadIdx.x == 0) calls = 7;
    })");
  const auto set = [&](const char *name, const std::vector<float> &values) {
    Address at = 0;
    std::size_t bytes = 0;
    ASSERT_TRUE(device_->variable(request.module, name, at, bytes).ok()) << name;
    ASSERT_EQ(bytes, values.size() * sizeof(float)) << name;
    ASSERT_TRUE(device_->write(at, values.data(), bytes).ok()) << name;
  };
  set("_ZN3app6sharedE", {1, 2});
  set("_ZN3appL3ownE", {10, 20});
  set("_ZN3app3ownE", {10, 20});
  set("factor", {3}); // nvcc's name; Clang's is _ZL6factor
  Address dout = space<float>(2), at = 0;
  std::size_t bytes = 0;
  Status status = launch(request, 1, 2, dout);
  ASSERT_TRUE(status.ok()) << status.detail;
  EXPECT_EQ(download<float>(dout, 2), (std::vector<float>{33, 66}));
  ASSERT_TRUE(device_->variable(request.module, "calls", at, bytes).ok());
  EXPECT_EQ(download<int>(at, 1)[0], 7);
  EXPECT_EQ(device_->variable(request.module, "call", at, bytes).code, StatusCode::LaunchFailed);
  EXPECT_EQ(device_->variable(request.module, "_ZN3app6sharedIiEE", at, bytes).code,
            StatusCode::LaunchFailed);
}

TEST_F(EmulatedTest, VectorTypesConstantsAndStructParameters) {
  LaunchRequest request = kernel(R"(
    struct Scale { char mode; double factor; float4 offset; };
    __constant__ float table[4] = {1, 2, 3, 4};
    __device__ int calls = 5;
    __global__ void scale(const float4 *in, float4 *out, Scale s) {
      float4 v = in[threadIdx.x];
      v.x = v.x * s.factor + s.offset.x + table[threadIdx.x & 3];
      v.w += s.offset.w + (s.mode == 'a');
      out[threadIdx.x] = v;
      atomicAdd(&calls, 1);
      if (threadIdx.x == 0) out[blockDim.x] = make_float4(blockDim.x, gridDim.x, calls, sizeof(float3));
    })",
                                 "scale");
  struct Scale {
    char mode;
    double factor;
    alignas(16) float offset[4];
  } scale{'a', 2.0, {1, 2, 3, 4}};
  std::vector<float> in(32 * 4);
  std::iota(in.begin(), in.end(), 0.0f);
  Address din = upload(in), dout = space<float>(33 * 4);
  Status status = launch(request, 1, 32, din, dout, scale);
  ASSERT_TRUE(status.ok()) << status.detail;
  std::vector<float> out = download<float>(dout, 33 * 4);
  for (int t = 0; t < 32; ++t) {
    EXPECT_EQ(out[t * 4], in[t * 4] * 2 + 1 + float((t & 3) + 1));
    EXPECT_EQ(out[t * 4 + 1], in[t * 4 + 1]);
    EXPECT_EQ(out[t * 4 + 3], in[t * 4 + 3] + 5);
  }
  EXPECT_EQ(out[32 * 4], 32.0f);
  EXPECT_EQ(out[32 * 4 + 3], 12.0f);
}

TEST_F(EmulatedTest, StencilWithHaloAndCooperativeGroups) {
  LaunchRequest request = kernel(R"(
    #include <cooperative_groups.h>
    namespace cg = cooperative_groups;
    template <int R> __global__ void stencil(const float *in, float *out, int n) {
      extern __shared__ float s[];
      cg::thread_block block = cg::this_thread_block();
      auto tile = cg::tiled_partition<16>(block);
      int i = blockIdx.x * blockDim.x + threadIdx.x, l = threadIdx.x + R;
      s[l] = i < n ? in[i] : 0;
      if (threadIdx.x < R) {
        s[threadIdx.x] = i >= R ? in[i - R] : 0;
        s[l + blockDim.x] = i + blockDim.x < n ? in[i + blockDim.x] : 0;
      }
      block.sync();
      float sum = 0;
      for (int d = -R; d <= R; ++d) sum += s[l + d];
      if (i < n) out[i] = sum;
      float all = tile.shfl(1.0f, 0);
      for (int d = 8; d; d /= 2) all += tile.shfl_xor(all, d);
      if (i < n && all != 16) out[i] = -1;
    }
    void use() { stencil<3><<<1, 1>>>(nullptr, nullptr, 0); })",
                                 "stencil<3>");
  const int n = 300;
  std::vector<float> in(n, 1);
  Address din = upload(in), dout = space<float>(n);
  request.sharedBytes = (128 + 6) * sizeof(float);
  Status status = launch(request, 3, 128, din, dout, n);
  ASSERT_TRUE(status.ok()) << status.detail;
  std::vector<float> out = download<float>(dout, n);
  EXPECT_EQ(out[0], 4.0f);
  EXPECT_EQ(out[150], 7.0f);
  EXPECT_EQ(out[n - 1], 4.0f);
}

TEST_F(EmulatedTest, FlagsOfManyThreadsAndWarpBarriersAreNoRace) {
  LaunchRequest request = kernel(R"(
    __global__ void flags(int *any, int *out) {
      __shared__ int found, slots[64];
      if (threadIdx.x == 0) found = 0;
      __syncthreads();
      if (threadIdx.x % 7 == 3) { found = 1; *any = 1; }
      slots[threadIdx.x] = threadIdx.x;
      __syncwarp();
      int neighbour = slots[threadIdx.x ^ 1];
      __syncwarp();
      slots[threadIdx.x] = neighbour;
      __syncthreads();
      out[blockIdx.x * 64 + threadIdx.x] = found + neighbour;
    })",
                                 "flags");
  Address any = upload(std::vector<int>{0}), out = space<int>(128);
  Status status = launch(request, 2, 64, any, out);
  ASSERT_TRUE(status.ok()) << status.detail;
  EXPECT_EQ(download<int>(out, 128)[2], 1 + 3);
}

TEST_F(EmulatedTest, ProgrammaticDependentLaunchesFindTheKernelBeforeAtItsEnd) {
  LaunchRequest request = kernel(R"(
    __global__ void after(int *out) {
      cudaGridDependencySynchronize();
      asm volatile("griddepcontrol.wait;" ::: "memory");
      out[threadIdx.x] = threadIdx.x;
      cudaTriggerProgrammaticLaunchCompletion();
      asm volatile("griddepcontrol.launch_dependents;");
    })",
                                 "after");
  const Address out = space<int>(32);
  const Status status = launch(request, 1, 32, out);
  ASSERT_TRUE(status.ok()) << status.detail;
  EXPECT_EQ(download<int>(out, 32)[31], 31);
  const EmulateReply other =
      compile("__global__ void k(int *p) { asm volatile(\"griddepcontrol.other;\"); *p = 1; }");
  EXPECT_FALSE(other.ok);
  EXPECT_NE(other.log.find("inline assembly"), std::string::npos) << other.log;
}

/// As cublas_v2.h does: it includes headers of its own folder, with the include guards that
/// NVIDIA's have.
TEST_F(EmulatedTest, HeadersOfAToolkitDoNotDeclareKoptsTypesAgain) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("kopt-toolkit-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  files_.push_back((folder / "library.h").string());
  std::ofstream(files_.back()) << "#include \"vector_types.h\"\n#include \"driver_types.h\"\n"
                                  "struct Pair { float2 both; cudaStream_t stream; };\n";
  for (const auto &[name, guard] : {std::pair("vector_types.h", "__VECTOR_TYPES_H__"),
                                    {"driver_types.h", "__DRIVER_TYPES_H__"}}) {
    files_.push_back((folder / name).string());
    std::ofstream(files_.back()) << "#if !defined(" << guard << ")\nstruct float2 { int x; };\n"
                                 << "struct cudaStream_t;\n#endif\n";
  }
  const EmulateReply reply =
      compile("#include <library.h>\n__global__ void k(Pair *p) { p->both.y = 1; }", "k",
              {"-I", folder.string()});
  EXPECT_TRUE(reply.ok) << reply.log;
}

TEST_F(EmulatedTest, DivisionByZeroDoesNotTrap) {
  LaunchRequest request = kernel(R"(
    __global__ void divide(const int *a, const int *b, int *out) {
      int i = threadIdx.x; out[i] = a[i] / b[i]; out[4 + i] = a[i] % b[i];
    })",
                                 "divide");
  Address a = upload(std::vector<int>{7, 5, INT32_MIN, 9}),
          b = upload(std::vector<int>{2, 0, -1, -4}), out = space<int>(8);
  Status status = launch(request, 1, 4, a, b, out);
  ASSERT_TRUE(status.ok()) << status.detail;
  EXPECT_EQ(download<int>(out, 8), (std::vector<int>{3, -1, INT32_MIN, -2, 1, 5, 0, 1}));
}

} // namespace
} // namespace kopt::runtime
