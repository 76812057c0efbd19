// SPDX-License-Identifier: Apache-2.0
// A kernel, and what screening says of other versions of it.
#pragma once

#include "clang_plugin/screen/Screen.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace kopt::frontend {

inline const char kBaseline[] = R"(#include <cuda_fp16.h>
constexpr int kBlock = 256;
__constant__ float weights[4];
struct Scale { float factor; };
__device__ float twice(float x) { return x * 2; }
__host__ __device__ inline int ceilDiv(int a, int b) { return (a + b - 1) / b; }
int hostOnly(int x) { return x + 1; }
__global__ void other(float *a) { a[0] = 1; }
__global__ void k(const float *in, float *out, int n, Scale s) {
  __shared__ float tile[kBlock];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = i < n ? in[i] : 0.0f;
  tile[threadIdx.x] = v;
  __syncthreads();
  if (i < n) out[i] = twice(tile[threadIdx.x]) * weights[0] * s.factor + expf(v);
  atomicAdd(&out[0], v);
  __threadfence();
}
)";

inline std::vector<ScreenFinding> screen(const std::string &candidate,
                                         const std::string &baseline = kBaseline,
                                         const std::string &expression = "k",
                                         const std::string &baselineExpression = "k") {
  setenv("KOPT_CUDA_PATH", "none", 1);
  auto findings =
      screenCandidate({baseline, candidate, "k", baselineExpression, expression, {}, "/tmp"});
  if (!findings) {
    ADD_FAILURE() << llvm::toString(findings.takeError());
    return {};
  }
  return *findings;
}

/// In `to` a $ stands for `from`.
inline std::string replaced(std::string text, const std::string &from, std::string to) {
  if (const auto place = to.find('$'); place != std::string::npos)
    to.replace(place, 1, from);
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

inline std::string describe(const std::vector<ScreenFinding> &findings) {
  std::string text;
  for (const ScreenFinding &finding : findings)
    text += std::string(finding.severity == ScreenSeverity::Reject ? "reject " : "flag ") +
            finding.id + " line " + std::to_string(finding.line) + ": " + finding.message + "\n";
  return text;
}

} // namespace kopt::frontend
