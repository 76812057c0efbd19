// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies: right when they are waited for, noticed when they are not.
#include "tests/component/emulated/EmulatedTest.h"

#include <numeric>

namespace kopt::runtime {
namespace {

class AsyncCopyTest : public EmulatedTest {
protected:
  /// A block of 64 threads that may copy from `in`, 256 numbers, to `tile` of as many.
  Status run(const std::string &body) {
    LaunchRequest request =
        kernel("#include <cuda_pipeline.h>\n__global__ void copies(const int *in, int *out) {\n"
               "  __shared__ __align__(16) int tile[256];\n  int t = threadIdx.x;\n" +
                   body + "\n}",
               "copies");
    std::vector<int> in(256);
    std::iota(in.begin(), in.end(), 0);
    Address din = upload(in), dout = upload(std::vector<int>(64));
    Status status = launch(request, 1, 64, din, dout);
    out = download<int>(dout, 64);
    return status;
  }
  std::vector<int> out;
};

TEST_F(AsyncCopyTest, ArriveOnceTheyAreWaitedFor) {
  Status status = run(R"(
    __pipeline_memcpy_async(tile + 4 * t, in + 4 * t, 16, 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    int *next = tile + 4 * ((t + 1) % 64);
    out[t] = next[0] + next[2] + next[3];)");
  ASSERT_TRUE(status.ok()) << status.detail;
  for (int t = 0; t < 64; ++t)
    EXPECT_EQ(out[t], 8 * ((t + 1) % 64) + 2); // the last of four is zero
}

TEST_F(AsyncCopyTest, StagesOfAPipeline) {
  Status status = run(R"(
    int sum = 0;
    __pipeline_memcpy_async(tile + t, in + t, 4);
    __pipeline_commit();
    for (int stage = 0; stage < 4; ++stage) {
      if (stage < 3) __pipeline_memcpy_async(tile + (stage + 1) % 2 * 64 + t, in + (stage + 1) * 64 + t, 4);
      __pipeline_commit();
      __pipeline_wait_prior(1);
      __syncthreads();
      sum += tile[stage % 2 * 64 + 63 - t];
      __syncthreads();
    }
    out[t] = sum;)");
  ASSERT_TRUE(status.ok()) << status.detail;
  for (int t = 0; t < 64; ++t)
    EXPECT_EQ(out[t], 4 * (63 - t) + 64 * 6);
}

TEST_F(AsyncCopyTest, HaveNoValueBefore) {
  for (const char *wait :
       {"", "__pipeline_wait_prior(0);", "__pipeline_commit(); __pipeline_wait_prior(1);"}) {
    Status status = run(std::string("tile[t] = 5; __pipeline_memcpy_async(tile + t, in + t, 4);") +
                        wait + "out[t] = tile[t];");
    EXPECT_EQ(status.code, StatusCode::UnsetShared) << wait << status.detail;
  }
}

TEST_F(AsyncCopyTest, RaceWithWhatOthersReadBeforeAndAfter) {
  // One warp begins the next copy while another may still read what lies there.
  Status status = run(R"(
    tile[t] = t;
    __syncthreads();
    int early = 0;
    if (t < 32) early = tile[32 + t];
    else __pipeline_memcpy_async(tile + t, in + t, 4);
    __pipeline_commit();
    __syncthreads();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = early + tile[t];)");
  EXPECT_EQ(status.code, StatusCode::Race) << status.detail;
  // A thread that has waited has waited for its own copies.
  status = run(R"(
    __pipeline_memcpy_async(tile + t, in + t, 4);
    __pipeline_commit();
    __syncthreads();
    __pipeline_wait_prior(0);
    out[t] = tile[(t + 32) % 64];)");
  EXPECT_TRUE(status.code == StatusCode::Race || status.code == StatusCode::UnsetShared)
      << status.detail;
}

TEST_F(AsyncCopyTest, HaveWidthsBoundsAndAlignment) {
  for (const char *copy :
       {"__pipeline_memcpy_async(tile, in, 12)", "__pipeline_memcpy_async(tile + 1, in, 8)",
        "__pipeline_memcpy_async(tile, in + 1, 8)", "__pipeline_memcpy_async(tile, in, 4, 5)",
        "__pipeline_memcpy_async(out, in, 4)", "__pipeline_memcpy_async(tile, tile + 4, 4)",
        "__pipeline_memcpy_async(tile, in + 256, 4)",
        "__pipeline_memcpy_async(tile + 256, in, 4)"}) {
    Status status = run(std::string("if (t == 0) ") + copy + ";");
    EXPECT_EQ(status.code, StatusCode::Fault) << copy << ": " << status.detail;
  }
  // What is all zeros reads nothing.
  Status status = run("if (t == 0) { __pipeline_memcpy_async(tile, in + 256, 4, 4); "
                      "__pipeline_commit(); __pipeline_wait_prior(0); *out = tile[0] + 3; }");
  ASSERT_TRUE(status.ok()) << status.detail;
  EXPECT_EQ(out[0], 3);
}

} // namespace
} // namespace kopt::runtime
