// SPDX-License-Identifier: Apache-2.0
// What __syncwarp() orders, and what it does not.
#include "EmulatedTest.h"

#include <gmock/gmock.h>

namespace kopt::runtime {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class WarpOrderTest : public EmulatedTest {
protected:
  /// Runs `body`, in which s is an array of 64 ints of shared memory, x of global, and t the
  /// thread.
  Status run(const std::string &body, unsigned threads = 32) {
    LaunchRequest request = kernel(
        "__global__ void k(int *x) { __shared__ int s[64]; int t = threadIdx.x;\n" + body + " }");
    return launch(request, 1, threads, upload(std::vector<int>(64, 7)));
  }
  void expectRace(const std::string &body, unsigned threads = 32) {
    const Status status = run(body, threads);
    EXPECT_EQ(status.code, StatusCode::Race) << body << "\n" << status.detail;
  }
  void expectNone(const std::string &body, unsigned threads = 32) {
    const Status status = run(body, threads);
    EXPECT_TRUE(status.ok()) << body << "\n" << status.detail;
  }
};

TEST_F(WarpOrderTest, WhatWasReadBeforeABarrierMayBeOverwrittenAfterIt) {
  expectNone("s[t] = x[t]; __syncwarp(); int o = s[t ^ 1]; __syncwarp(); s[t] = 2 * s[t] + 1; "
             "__syncwarp(); x[t] = o + s[31 - t];");
  // Columns in, rows changed in place, columns out.
  expectNone(R"(
    for (int round = 0; round < 3; ++round) {
      if (t < 8) for (int k = 0; k < 8; ++k) s[8 * k + t] = x[8 * k + t] + round;
      __syncwarp();
      int sum = 0;
      if (t < 8) for (int k = 0; k < 8; ++k) { sum += s[8 * t + k]; s[8 * t + k] = sum; }
      __syncwarp();
      if (t < 8) for (int k = 0; k < 8; ++k) x[8 * k + t] = s[8 * k + t];
      __syncwarp();
    })");
  // Each warp for itself.
  expectNone("s[t] = x[t]; __syncwarp(); int o = s[t ^ 1]; __syncwarp(); s[t] = 2 * s[t] + o; "
             "__syncwarp(); x[t] = s[t ^ 3];",
             64);
}

TEST_F(WarpOrderTest, WithoutABarrierLanesRace) {
  expectRace("s[t] = x[t] + t; s[t ^ 1] = t;");
  expectRace(
      "s[t] = x[t]; __syncwarp(); int o = s[t ^ 1]; s[t] = 2 * o + 1; __syncwarp(); x[t] = s[t];");
  // The newest read of the word is ordered before the write, and that of another lane is not.
  expectRace(
      "s[t] = x[t]; __syncwarp(); if (t < 3) x[32 + t] = s[0]; if (t == 0) s[0] = x[32] + 1;");
}

TEST_F(WarpOrderTest, ABarrierOrdersTheLanesOfItsMask) {
  const std::string halves =
      "unsigned half = t < 16 ? 0xffffu : 0xffff0000u; s[t] = x[t] + t; __syncwarp(half);";
  expectNone(halves + "int o = s[t ^ 1]; __syncwarp(half); s[t] = 2 * s[t] + 1; __syncwarp(half); "
                      "x[t] = o + s[t ^ 15];");
  expectRace(halves + "x[t] = s[t ^ 16];");
  expectRace(halves + "__syncwarp(half); s[t ^ 16] = 3 * t;");
  expectNone(halves + "__syncwarp(); x[t] = s[t ^ 16];");
  // A lane of the other half has read the word, which later reads of this half do not hide.
  const std::string readers =
      "if (t == 0) s[0] = 1; __syncwarp(); if (t == 1 || t == 16) x[t] = s[0]; %"
      "if (t < 16) { __syncwarp(0xffff); if (t == 1) x[t] += s[0]; __syncwarp(0xffff); if (t == 0) "
      "s[0] = 2; }";
  auto with = [&readers](const std::string &barrier) {
    return std::string(readers).replace(readers.find('%'), 1, barrier);
  };
  expectRace(with(""));
  expectNone(with("__syncwarp();"));
}

TEST_F(WarpOrderTest, ChainsOfBarriersOrder) {
  expectNone("if (t == 0) s[0] = x[0]; if (t < 2) __syncwarp(3); if (t == 1 || t == 2) "
             "__syncwarp(6); if (t == 2) x[2] = s[0];");
  expectRace("if (t == 0) s[0] = x[0]; if (t == 1 || t == 2) __syncwarp(6); if (t < 2) "
             "__syncwarp(3); if (t == 2) x[2] = s[0];");
}

TEST_F(WarpOrderTest, LanesThatReturnedTakePartWhereTheyAreNamed) {
  expectNone("s[t] = x[t]; if (t >= 16) return; __syncwarp(); x[t] = s[t + 16];");
  expectNone("s[t] = x[t]; if (t >= 10) return; __syncwarp(); x[t] = s[t ^ 1];", 20);
}

TEST_F(WarpOrderTest, WarpsAreOrderedByBarriersOfTheBlockOnly) {
  expectRace("s[t] = 0; __syncthreads(); s[t] = x[t] + t; __syncwarp(); x[t] = s[t ^ 32];", 64);
  expectRace("s[t] = x[t]; __syncthreads(); int o = s[t ^ 32]; __syncwarp(); s[t] = 2 * o + t; "
             "__syncthreads(); x[t] = s[t];",
             64);
  expectNone("s[t] = x[t]; __syncthreads(); int o = s[t ^ 32]; __syncthreads(); s[t] = 2 * o + t; "
             "__syncwarp(); x[t] = s[t ^ 1];",
             64);
}

TEST_F(WarpOrderTest, NamesThreadsThatAreNotOrdered) {
  Status status =
      run("s[t] = x[t]; __syncwarp(); if (t < 3) x[32 + t] = s[6];\n if (t == 6) s[6] = 1;");
  EXPECT_THAT(status.detail,
              AllOf(HasSubstr("thread (6,0,0)"), HasSubstr("thread (0,0,0) among them"),
                    HasSubstr("slice.cu:3")));
  // The first to read is the one that writes; who read after it, of another warp, is what it races
  // with.
  status = run("if (t == 0) s[0] = 1; __syncthreads(); if (t == 0) { x[0] = s[0]; x[1] = s[0]; }\n "
               "else if (t == 40) x[2] = s[0];\n"
               " __syncwarp(); if (t == 40) s[0] = 5;",
               64);
  EXPECT_THAT(status.detail,
              AllOf(HasSubstr("thread (40,0,0)"), HasSubstr("thread (0,0,0) among them")));
}

} // namespace
} // namespace kopt::runtime
