// SPDX-License-Identifier: Apache-2.0
// Kernels that are wrong: each class of mistake is found, with words that lead to it.
#include "tests/component/emulated/EmulatedTest.h"

#include <algorithm>
#include <cstring>
#include <gmock/gmock.h>
#include <set>

namespace kopt::runtime {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST_F(EmulatedTest, OutOfBoundsNamesBufferElementThreadAndLine) {
  LaunchRequest request = kernel("__global__ void k(float *out, int n) {\n"
                                 "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                 "  out[i] = 1;\n"
                                 "}");
  Address out = space<float>(100);
  EXPECT_THAT(
      launch(request, 1, 128, out, 100),
      endsAs(StatusCode::Fault, AllOf(HasSubstr("out of bounds write"), HasSubstr("parameter 0"),
                                      HasSubstr("element 100"), HasSubstr("slice.cu:3"),
                                      HasSubstr("thread (100,0,0) of block (0,0,0)"))));
}

TEST_F(EmulatedTest, ReadsBeforeTheBufferAndOfForeignMemory) {
  LaunchRequest request =
      kernel("__global__ void k(const float *in, float *out, int d) { out[0] = in[d]; }");
  Address in = upload(std::vector<float>(16)), out = space<float>(1);
  EXPECT_THAT(launch(request, 1, 1, in, out, -1),
              endsAs(StatusCode::Fault, AllOf(HasSubstr("out of bounds read"), HasSubstr("byte -4"),
                                              HasSubstr("parameter 0"))));
  EXPECT_TRUE(launch(request, 1, 1, in, out, 15).ok()) << "the device still works after a fault";
  EXPECT_THAT(launch(request, 1, 1, Address(0), out, 0),
              endsAs(StatusCode::Fault, HasSubstr("is not device memory")));
}

TEST_F(EmulatedTest, SharedMemoryHasBounds) {
  LaunchRequest request = kernel(R"(
    __global__ void k(int *out) {
      extern __shared__ int s[];
      s[threadIdx.x] = threadIdx.x;
      __syncthreads();
      out[threadIdx.x] = s[threadIdx.x ^ 1];
    })");
  Address out = space<int>(64);
  request.sharedBytes = 64 * 4;
  EXPECT_THAT(launch(request, 1, 64, out), isOk());
  request.sharedBytes = 63 * 4;
  EXPECT_THAT(launch(request, 1, 64, out), endsAs(StatusCode::Fault, HasSubstr("shared memory")));
}

TEST_F(EmulatedTest, LocalArraysHaveBounds) {
  LaunchRequest request = kernel(R"(
    __global__ void k(const int *in, int *out) {
      int local[8];
      for (int i = 0; i < 8; ++i) local[i] = in[i] * 3;
      out[0] = local[in[8]];
    })");
  Address out = space<int>(1), good = upload(std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8, 7}),
          bad = upload(std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8, 8});
  EXPECT_TRUE(launch(request, 1, 1, good, out).ok());
  EXPECT_EQ(download<int>(out, 1)[0], 24);
  EXPECT_THAT(launch(request, 1, 1, bad, out),
              endsAs(StatusCode::Fault, HasSubstr("local array of 32 bytes")));
}

TEST_F(EmulatedTest, UninitialisedReadsOfGlobalAndSharedMemory) {
  LaunchRequest request = kernel(R"(
    __global__ void k(const float *in, float *out, int shared) {
      __shared__ float s[32];
      if (threadIdx.x < 16) s[threadIdx.x] = 0;
      __syncthreads();
      out[threadIdx.x] = shared ? s[threadIdx.x] : in[threadIdx.x];
    })");
  Address in = space<float>(32), out = space<float>(32);
  std::vector<float> poison(32, 3);
  ASSERT_TRUE(device_->poison(in, poison.data(), 128).ok());
  Status status = launch(request, 1, 32, in, out, 0);
  EXPECT_EQ(status.code, StatusCode::Uninitialised);
  EXPECT_THAT(status.detail, AllOf(HasSubstr("uninitialised read"), HasSubstr("parameter 0"),
                                   HasSubstr("element 0")));
  status = launch(request, 1, 32, in, out, 1);
  EXPECT_EQ(status.code, StatusCode::UnsetShared);
  EXPECT_THAT(status.detail, AllOf(HasSubstr("shared memory"), HasSubstr("thread (16,0,0)")));
  ASSERT_TRUE(device_->write(in, poison.data(), 128).ok());
  EXPECT_TRUE(launch(request, 1, 32, in, out, 0).ok());
  request.readsUnsetShared = true; // then it has drawn contents
  std::set<std::vector<float>> seen;
  for (const std::uint64_t seed : {1, 2, 1}) {
    request.scratchSeed = seed;
    EXPECT_TRUE(launch(request, 1, 32, in, out, 1).ok());
    const std::vector<float> read = download<float>(out, 32);
    EXPECT_TRUE(
        std::ranges::all_of(read.begin(), read.begin() + 16, [](float x) { return x == 0; }));
    std::vector<float> bits(16);
    std::memcpy(bits.data(), read.data() + 16, 64);
    for (float &x : bits)
      x = x != x ? 0 : x; // NaN is equal to nothing
    seen.insert(bits);
  }
  EXPECT_EQ(seen.size(), 2u);
}

TEST_F(EmulatedTest, CopiedPaddingIsNoUninitialisedRead) {
  LaunchRequest request = kernel(R"(
    struct Padded { char a; int b; };
    __global__ void k(Padded *items, Padded *out) {
      items[threadIdx.x].a = 1; items[threadIdx.x].b = 2;
      __syncthreads();
      out[threadIdx.x] = items[blockDim.x - 1 - threadIdx.x];
    })");
  Address items = space<long>(32), out = space<long>(32);
  EXPECT_THAT(launch(request, 1, 32, items, out), isOk());
}

TEST_F(EmulatedTest, RacesWithinABlock) {
  const std::string source = R"(
    template <int Barriers> __global__ void k(int *out) {
      __shared__ int s[64];
      s[threadIdx.x] = threadIdx.x;
      if (Barriers > 0) __syncthreads();
      int v = s[63 - threadIdx.x];
      if (Barriers > 1) __syncthreads();
      s[threadIdx.x] = v + 1;
      __syncthreads();
      out[threadIdx.x] = s[threadIdx.x];
    })";
  Address out = space<int>(64);
  LaunchRequest none = kernel(source, "k<0>");
  Status status = launch(none, 1, 64, out);
  EXPECT_EQ(status.code, StatusCode::UnsetShared) << "the first thread reads what nobody wrote yet";
  LaunchRequest one = kernel(source, "k<1>");
  EXPECT_THAT(launch(one, 1, 64, out),
              endsAs(StatusCode::Race, AllOf(HasSubstr("with no barrier"), HasSubstr("slice.cu:8"),
                                             HasSubstr("slice.cu:6"))));
  LaunchRequest two = kernel(source, "k<2>");
  EXPECT_THAT(launch(two, 1, 64, out), isOk());
  one.checkRaces = false;
  EXPECT_TRUE(launch(one, 1, 64, out).ok()) << "races are looked for only where asked";
}

TEST_F(EmulatedTest, WarpSynchronousCodeNeedsItsBarrier) {
  LaunchRequest request = kernel(R"(
    __global__ void k(int *out) {
      __shared__ int s[32];
      s[threadIdx.x] = threadIdx.x;
      __syncthreads();
      for (int d = 16; d > 0; d /= 2)
        if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
      if (threadIdx.x == 0) *out = s[0];
    })");
  Address out = space<int>(1);
  EXPECT_EQ(launch(request, 1, 32, out).code, StatusCode::Race);
}

TEST_F(EmulatedTest, UpdatesWithoutAtomicsRace) {
  LaunchRequest request = kernel("__global__ void k(int *sum) { *sum += 1; }");
  Address sum = upload(std::vector<int>{0});
  EXPECT_THAT(launch(request, 1, 32, sum), endsAs(StatusCode::Race, HasSubstr("slice.cu:1")));
  EXPECT_TRUE(launch(request, 1, 1, sum).ok());
}

TEST_F(EmulatedTest, BlocksThatWriteDifferentValuesToOnePlaceRace) {
  LaunchRequest request =
      kernel("__global__ void k(int *out, int same) { out[threadIdx.x] = same ? 7 : blockIdx.x; }");
  Address out = space<int>(32);
  EXPECT_TRUE(launch(request, 2, 32, out, 1).ok());
  EXPECT_THAT(launch(request, 2, 32, out, 0), endsAs(StatusCode::Race, HasSubstr("earlier block")));
}

TEST_F(EmulatedTest, BlocksThatReadEachOthersWritesNeedAFenceAndAFlag) {
  const std::string source = R"(
    __device__ int part[8];
    __device__ unsigned done;
    template <int Fence, int Flag> __global__ void k(int *out) {
      if (threadIdx.x == 0) {
        part[blockIdx.x] = blockIdx.x + 1;
        if (Fence == 1) __threadfence_block();
        if (Fence == 2) __threadfence();
        bool last = Flag ? atomicAdd(&done, 1u) == gridDim.x - 1 : blockIdx.x == gridDim.x - 1;
        if (!last) return;
        int sum = 0;
        for (int i = 0; i < gridDim.x; ++i) sum += part[i];
        *out = sum;
      }
    })";
  Address out = space<int>(1);
  for (const auto &[expression, isRight] : {std::pair<const char *, bool>{"k<0, 1>", false},
                                            {"k<1, 1>", false},
                                            {"k<2, 0>", false},
                                            {"k<2, 1>", true}}) {
    LaunchRequest request = kernel(source, expression);
    EXPECT_TRUE(launch(request, 8, 32, out).ok()) << "looked for only where asked";
    LaunchRequest strict =
        kernel(source, expression); // a module of its own: the counter begins at 0
    strict.checkAcrossBlocks = true;
    const Status status = launch(strict, 8, 32, out);
    EXPECT_EQ(status.ok(), isRight) << expression << ": " << status.detail;
    if (!isRight)
      EXPECT_THAT(status.detail, AllOf(HasSubstr("another block"), HasSubstr("slice.cu:12"),
                                       HasSubstr("slice.cu:6")));
  }
}

TEST_F(EmulatedTest, BlocksThatWriteWhatOthersReadRace) {
  LaunchRequest request = kernel(R"(
    __global__ void k(int *data, int same) {
      int next = data[blockIdx.x + 1];
      data[blockIdx.x] = same ? data[blockIdx.x] : next;
      if (blockIdx.x == 0) data[gridDim.x] = same ? 5 : 7;
    })");
  request.checkAcrossBlocks = true;
  Address data = upload(std::vector<int>{1, 2, 3, 4, 5});
  EXPECT_TRUE(launch(request, 1, 1, data, 0).ok());
  data = upload(std::vector<int>{1, 2, 3, 4, 5});
  EXPECT_THAT(launch(request, 4, 1, data, 0),
              endsAs(StatusCode::Race, HasSubstr("an earlier block")));
}

TEST_F(EmulatedTest, AFenceAloneOrdersNoWritesOfSeveralBlocks) {
  LaunchRequest request = kernel(R"(
    __device__ int lock;
    __global__ void k(int *sum, int locked) {
      if (locked) while (atomicCAS(&lock, 0, 1) != 0) ;
      __threadfence();
      *sum = *sum + 1;
      __threadfence();
      if (locked) atomicExch(&lock, 0);
    })");
  Address sum = upload(std::vector<int>{0});
  EXPECT_EQ(launch(request, 2, 1, sum, 0).code, StatusCode::Race);
  sum = upload(std::vector<int>{0});
  request.checkAcrossBlocks = true;
  EXPECT_THAT(launch(request, 4, 1, sum, 1), isOk());
}

TEST_F(EmulatedTest, AFenceAloneOrdersNoThreadsOfABlock) {
  LaunchRequest request = kernel(R"(
    __global__ void k(int *out, int fence, int locked) {
      __shared__ int sum, lock;
      if (threadIdx.x == 0) sum = lock = 0;
      __syncthreads();
      if (fence) __threadfence_block();
      for (bool done = false; !done;)
        if (!locked || atomicCAS(&lock, 0, 1) == 0) {
          __threadfence_block();
          sum = sum + 1;
          __threadfence_block();
          if (locked) atomicExch(&lock, 0);
          done = true;
        }
      __syncthreads();
      out[threadIdx.x] = sum;
    })");
  Address out = space<int>(64);
  EXPECT_THAT(launch(request, 1, 64, out, 1, 0),
              endsAs(StatusCode::Race, HasSubstr("with no barrier in between")));
  EXPECT_THAT(launch(request, 1, 64, out, 1, 1), isOk());
  EXPECT_EQ(download<int>(out, 64)[63], 64);
}

TEST_F(EmulatedTest, TheReadOnlyPathSeesNothingOfWhatTheLaunchWrites) {
  LaunchRequest request = kernel(R"(
    __global__ void k(const int *in, int *data, int written) {
      data[threadIdx.x] = __ldg(in + threadIdx.x);
      __syncthreads();
      if (written) data[threadIdx.x] = __ldg(data + (threadIdx.x ^ 1)) + 1;
    })");
  const Address in = upload(std::vector<int>(32, 5)), data = space<int>(32);
  EXPECT_TRUE(launch(request, 1, 32, in, data, 0).ok());
  EXPECT_THAT(launch(request, 1, 32, in, data, 1),
              endsAs(StatusCode::Race, HasSubstr("read-only path")));
}

TEST_F(EmulatedTest, PromisesToTheCompilerAreChecked) {
  LaunchRequest request = kernel("__global__ void k(float *out, int n) {\n"
                                 "  __builtin_assume(n % 4 == 0);\n"
                                 "  float *p = (float *)__builtin_assume_aligned(out, 16);\n"
                                 "  p[threadIdx.x] = n;\n"
                                 "}");
  Address out = space<float>(64);
  EXPECT_TRUE(launch(request, 1, 32, out, 8).ok());
  EXPECT_THAT(launch(request, 1, 32, out, 9),
              endsAs(StatusCode::Fault, AllOf(HasSubstr("assume"), HasSubstr("slice.cu:2"))));
  EXPECT_THAT(launch(request, 1, 32, out + 4, 8),
              endsAs(StatusCode::Fault, AllOf(HasSubstr("assume"), HasSubstr("slice.cu:3"))));
}

TEST_F(EmulatedTest, HintsHideNoAccess) {
  LaunchRequest request =
      kernel("__global__ void k(const float *in, float *out, int d) {\n"
             "  __builtin_nontemporal_store(__builtin_nontemporal_load(in + d), out);\n"
             "}");
  Address in = upload(std::vector<float>(16)), out = space<float>(1);
  EXPECT_TRUE(launch(request, 1, 1, in, out, 15).ok());
  EXPECT_EQ(launch(request, 1, 1, in, out, 16).code, StatusCode::Fault);
}

TEST_F(EmulatedTest, DivergentBarriers) {
  LaunchRequest request = kernel(R"(
    __global__ void k(int *out, int mode) {
      if (mode == 0 && threadIdx.x < 16) __syncthreads();
      if (mode == 1) { if (threadIdx.x < 16) __syncthreads(); else __syncwarp(0xffffffffu); }
      if (mode == 2) {
        if (threadIdx.x < 16)
          __syncthreads();
        else
          __syncthreads();
      }
      if (mode == 3 && threadIdx.x >= 16) return;
      if (mode == 3) __syncthreads();
      if (mode == 4 && threadIdx.x == 3) __shfl_sync(0x1u, 1, 0);
      out[threadIdx.x] = 1;
    })");
  Address out = space<int>(32);
  EXPECT_TRUE(launch(request, 1, 32, out, 0).ok()) << "threads that return do not count";
  EXPECT_THAT(launch(request, 1, 32, out, 1),
              endsAs(StatusCode::Divergence,
                     AllOf(HasSubstr("__syncthreads()"), HasSubstr("mask 0xffffffff"))));
  EXPECT_THAT(
      launch(request, 1, 32, out, 2),
      endsAs(StatusCode::Divergence, AllOf(HasSubstr("slice.cu:7"), HasSubstr("slice.cu:9"))));
  EXPECT_TRUE(launch(request, 1, 32, out, 3).ok());
  EXPECT_THAT(launch(request, 1, 32, out, 4),
              endsAs(StatusCode::Divergence, HasSubstr("own lane")));
}

TEST_F(EmulatedTest, EndlessLoopsEndAtTheInstructionLimit) {
  LaunchRequest request = kernel("__global__ void k(volatile int *stop) { while (!*stop) {} }");
  Address stop = upload(std::vector<int>{0});
  request.instructionLimit = 1000000;
  Status status = launch(request, 1, 32, stop);
  EXPECT_EQ(status.code, StatusCode::TimedOut);
  EXPECT_THAT(status.detail, HasSubstr("1000000 instructions"));
  Status again = launch(request, 1, 32, stop);
  EXPECT_EQ(status.detail, again.detail) << "the limit is deterministic";
}

TEST_F(EmulatedTest, TrapsAssertionsAndMisalignment) {
  LaunchRequest request = kernel(R"(
    #include <cassert>
    __global__ void k(float *p, int mode) {
      if (mode == 0) __trap();
      assert(mode != 1);
      if (mode == 2) *(float4 *)(p + 1) = make_float4(0, 0, 0, 0);
    })");
  Address p = space<float>(16);
  EXPECT_THAT(launch(request, 1, 1, p, 0),
              endsAs(StatusCode::Fault, AllOf(HasSubstr("__trap()"), HasSubstr("slice.cu:4"))));
  EXPECT_THAT(launch(request, 1, 1, p, 1), endsAs(StatusCode::Fault, HasSubstr("mode != 1")));
  EXPECT_THAT(launch(request, 1, 1, p, 2),
              endsAs(StatusCode::Fault, AllOf(HasSubstr("misaligned"), HasSubstr("slice.cu:6"))));
}

TEST_F(EmulatedTest, StackOverflowIsAFinding) {
  LaunchRequest request = kernel(R"(
    __device__ __noinline__ int down(const int *next, int depth) {
      volatile int frame[64];
      frame[depth & 63] = next[0];
      return depth == 0 ? 0 : down(next, depth - next[0]) + frame[depth & 63];
    }
    __global__ void k(const int *next, int *out, int depth) { *out = down(next, depth); })");
  Address next = upload(std::vector<int>{1}), out = space<int>(1);
  EXPECT_TRUE(launch(request, 1, 1, next, out, 100).ok());
  EXPECT_THAT(launch(request, 1, 1, next, out, 1000000),
              endsAs(StatusCode::Fault, HasSubstr("stack overflow")));
  EXPECT_TRUE(launch(request, 1, 1, next, out, 100).ok());
}

TEST_F(EmulatedTest, LaunchesThatCannotBeAreRefused) {
  LaunchRequest request =
      kernel("__global__ void __launch_bounds__(64) k(int *out) { out[threadIdx.x] = 0; }");
  Address out = space<int>(1024);
  EXPECT_EQ(launch(request, 1, 128, out).code, StatusCode::LaunchFailed);
  EXPECT_EQ(launch(request, 0, 32, out).code, StatusCode::LaunchFailed);
  EXPECT_EQ(launch(request, 1, 32).code, StatusCode::LaunchFailed);
  EXPECT_EQ(launch(request, 1, 32, int(3)).code, StatusCode::LaunchFailed);
  request.sharedBytes = 300 * 1024;
  EXPECT_EQ(launch(request, 1, 32, out).code, StatusCode::LaunchFailed);
  request.sharedBytes = 0;
  request.module += 7;
  EXPECT_EQ(launch(request, 1, 32, out).code, StatusCode::LaunchFailed);
}

TEST_F(EmulatedTest, RefusesWhatCouldActOnTheHost) {
  struct Case {
    const char *source, *message;
  };
  for (const Case &refused :
       {Case{"__global__ void k(int *p) { asm volatile(\"mov.u32 %0, %%clock;\" : \"=r\"(*p)); }",
             ""},
        Case{"__global__ void k(int *p) { asm volatile(\"nop\"); }", "slice.cu:1: inline assembly"},
        Case{"__global__ void k(long p) { ((void (*)())p)(); }", "call through a pointer"},
        Case{"extern \"C\" __device__ int system(const char *); __global__ void k(int *p) { *p = "
             "system(\"true\"); }",
             "system"},
        Case{"struct S { int v; __device__ S(); }; __device__ __attribute__((constructor)) void "
             "f() {} __global__ void k() {}",
             "constructors"},
        Case{"extern \"C\" __device__ void kopt_emulated_load4(const void *, int) {} __global__ "
             "void k() {}",
             ""},
        Case{"__global__ void k(int *p) { *p = __builtin_ia32_rdtsc(); }", "not emulated"},
        Case{"#include <cooperative_groups.h>\n__global__ void k() { "
             "cooperative_groups::this_grid().sync(); }",
             "all blocks at once"},
        Case{"__global__ void k(int *p) { undeclared(p); }", "undeclared"},
        Case{"__global__ void other() {}", "k"}}) {
    EmulateReply reply = compile(refused.source);
    EXPECT_FALSE(reply.ok) << refused.source;
    EXPECT_THAT(reply.log, HasSubstr(refused.message));
    EXPECT_FALSE(reply.log.empty()) << refused.source;
    EXPECT_FALSE(std::filesystem::exists(files_.back()));
  }
}

TEST_F(EmulatedTest, SaysThatTheModuleCannotBeWritten) {
  EmulateRequest request;
  request.slice = "__global__ void k() {}";
  request.expression = "k";
  request.directory = "/";
  request.output = "/proc/nowhere/module.so";
  const EmulateReply reply = frontend::emulate::emulate(request);
  EXPECT_FALSE(reply.ok);
  EXPECT_THAT(reply.log, HasSubstr("/proc/nowhere/module.so"));
}

} // namespace
} // namespace kopt::runtime
