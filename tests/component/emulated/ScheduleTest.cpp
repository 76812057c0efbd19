// SPDX-License-Identifier: Apache-2.0
// Orders of threads that nobody may rely on, and memory that nobody may write.
#include "tests/component/emulated/EmulatedTest.h"

#include "runtime/emulated/execute/Schedule.h"

#include <gmock/gmock.h>
#include <set>

namespace kopt::runtime {
namespace {

TEST(Schedule, EachBlockHasItsTurnOnceInAnyOrder) {
  for (const std::uint64_t seed : {0ull, 1ull, 2ull, 7ull, 12ull, 0x1234567890abcdefull})
    for (const std::uint64_t count : {1ull, 2ull, 6ull, 97ull, 1000ull}) {
      std::set<std::uint64_t> seen;
      for (std::uint64_t turn = 0; turn < count; ++turn)
        seen.insert(emulated::Schedule(seed).block(turn, count));
      EXPECT_EQ(seen.size(), count) << seed;
      EXPECT_EQ(*seen.rbegin(), count - 1);
    }
  EXPECT_EQ(emulated::Schedule(4).block(0, 10), 9u);
  EXPECT_EQ(emulated::Schedule(0).block(3, 10), 3u);
}

TEST_F(EmulatedTest, OthersMayGoBetweenALookAndAnAtomic) {
  const char *const source = "__global__ void k(int *least, int right) {\n"
                             "  int mine = 1000 - (threadIdx.x * 37) % 997;\n"
                             "  if (right) atomicMin(least, mine);\n"
                             "  else if (mine < *least) atomicExch(least, mine);\n"
                             "}";
  LaunchRequest request = kernel(source);
  const auto wrong = [&](int right) {
    int times = 0;
    for (request.scheduleSeed = 0; request.scheduleSeed < 12; ++request.scheduleSeed) {
      Address least = upload(std::vector<int>{5000});
      EXPECT_THAT(launch(request, 1, 256, least, right), isOk());
      times += download<int>(least, 1)[0] != 22; // of thread 242
      if (request.scheduleSeed == 0)
        EXPECT_EQ(times, 0) << "nobody comes in between where nobody asked for it";
    }
    return times;
  };
  EXPECT_GT(wrong(0), 3);
  EXPECT_EQ(wrong(1), 0);
}

TEST_F(EmulatedTest, WhatNobodyHasSetIsSomethingElseInAnotherOrder) {
  const char *const source =
      "__device__ float most(const float *x, int n) {\n"
      "  float m;\n"
      "  for (int i = 0; i < n; ++i) m = fmaxf(m, x[i]);\n"
      "  return m;\n"
      "}\n"
      "__global__ void k(const float *x, const int *y, float *most_x, int *least_y, int n) {\n"
      "  unsigned parts[64]; int m; bool set;\n"
      "  for (int i = 0; i < n; ++i) { m = i == 0 && !set ? y[0] : max(m, y[i]); parts[i] += 1; }\n"
      "  most_x[0] = most(x, n); least_y[0] = m; least_y[1] = parts[n - 1];\n"
      "}";
  LaunchRequest request = kernel(source);
  Address x = upload(std::vector<float>{-3, 5, 2}), y = upload(std::vector<int>{4, -1, 9});
  std::set<float> most;
  std::set<int> largest, counts;
  for (const std::uint64_t seed : {0, 3, 2, 5, 12}) {
    request.scheduleSeed = seed;
    Address mostX = upload(std::vector<float>{0}), leastY = upload(std::vector<int>{0, 0});
    const Status status = launch(request, 1, 1, x, y, mostX, leastY, 3);
    ASSERT_TRUE(status.ok()) << status.detail;
    most.insert(download<float>(mostX, 1)[0]);
    largest.insert(download<int>(leastY, 2)[0]);
    counts.insert(download<int>(leastY, 2)[1]);
  }
  // A NaN loses against everything, as does the lowest number; the largest wins.
  EXPECT_THAT(most, testing::ElementsAre(5.0f, std::numeric_limits<float>::max()));
  EXPECT_THAT(largest, testing::Contains(9));
  EXPECT_THAT(largest, testing::Contains(std::numeric_limits<int>::max()));
  EXPECT_EQ(counts.size(), 3u);
}

TEST_F(EmulatedTest, AResultThatHangsOnTheOrderOfBlocksChangesWithIt) {
  // Each block reads what the one before it left.
  LaunchRequest request = kernel(
      "__global__ void k(int *out) {\n"
      "  if (threadIdx.x == 0) out[blockIdx.x] = blockIdx.x == 0 ? 1 : out[blockIdx.x - 1] + 1;\n"
      "}");
  const auto run = [&](std::uint64_t seed) {
    Address out = upload(std::vector<int>(40, 0));
    request.scheduleSeed = seed;
    EXPECT_THAT(launch(request, 40, 32, out), isOk());
    return download<int>(out, 40);
  };
  EXPECT_EQ(run(0).back(), 40);
  EXPECT_NE(run(2), run(0));
  EXPECT_NE(run(7), run(0));
  EXPECT_EQ(run(7), run(7)); // the same order each time
}

TEST_F(EmulatedTest, BarriersAtomicsAndShufflesAreExactInAnyOrder) {
  LaunchRequest request = kernel(R"(
    __global__ void k(const int *in, int *sums, int *total) {
      __shared__ int part[4];
      int value = in[blockIdx.x * 128 + threadIdx.x];
      for (int reach = 16; reach > 0; reach /= 2) value += __shfl_down_sync(0xffffffffu, value, reach);
      if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
      __syncthreads();
      if (threadIdx.x == 0) {
        sums[blockIdx.x] = part[0] + part[1] + part[2] + part[3];
        atomicAdd(total, sums[blockIdx.x]);
      }
    })");
  std::vector<int> values(128 * 9);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = int(i * i % 101);
  Address in = upload(values);
  std::vector<int> expected;
  for (const std::uint64_t seed : {0ull, 1ull, 2ull, 3ull, 100ull, 101ull}) {
    Address sums = space<int>(9), total = upload(std::vector<int>{0});
    request.scheduleSeed = seed;
    Status status = launch(request, 9, 128, in, sums, total);
    ASSERT_TRUE(status.ok()) << seed << ": " << status.detail;
    std::vector<int> seen = download<int>(sums, 9);
    seen.push_back(download<int>(total, 1)[0]);
    if (seed == 0)
      expected = seen;
    EXPECT_EQ(seen, expected) << seed;
  }
}

TEST_F(EmulatedTest, ProtectedMemoryCanBeReadAndNotWritten) {
  LaunchRequest read = kernel(
      "__global__ void k(const float4 *in, float4 *out) { out[threadIdx.x] = in[threadIdx.x]; }");
  Address in = upload(std::vector<float>(128, 3)), out = space<float>(128);
  ASSERT_TRUE(device_->protect(in, 512).ok());
  EXPECT_THAT(launch(read, 1, 32, in, out), isOk());
  EXPECT_EQ(download<float>(out, 128), std::vector<float>(128, 3));
  // What was copied from it is not protected.
  LaunchRequest change =
      kernel("__global__ void k(volatile float *x) { float kept = x[3]; x[3] = 0; x[3] = kept; }");
  EXPECT_TRUE(launch(change, 1, 1, out).ok());
  // A change that is undone is a change all the same.
  EXPECT_THAT(launch(change, 1, 1, in),
              endsAs(StatusCode::InputChanged, ::testing::HasSubstr("read-only")));
  LaunchRequest add = kernel("__global__ void k(int *x) { atomicAdd(x, 0); }");
  EXPECT_EQ(launch(add, 1, 1, in).code, StatusCode::InputChanged);
  ASSERT_TRUE(device_->write(in, std::vector<float>(128, 4).data(), 512).ok());
  EXPECT_TRUE(launch(change, 1, 1, in).ok());
}

} // namespace
} // namespace kopt::runtime
