// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/screen/Declarations.h"
#include "clang_plugin/screen/Screen.h"

#include <cstdlib>
#include <gtest/gtest.h>

namespace kopt::frontend {
namespace {

/// What screening says of the candidate, a line each.
std::string rejections(const std::string &baseline, const std::string &candidate,
                       const std::string &expression) {
  setenv("KOPT_CUDA_PATH", "none", 1);
  auto findings = screenCandidate({baseline, candidate, "k", expression, expression, {}, "/tmp"});
  if (!findings)
    return llvm::toString(findings.takeError());
  std::string text;
  for (const ScreenFinding &finding : *findings)
    text += finding.message + "\n";
  return text;
}

TEST(DeclarationsTest, AnExplicitSpecializationOfTheJudgedOneAloneIsNoOtherKernel) {
  const std::string text = R"(
template <int N, typename T> __global__ void k(const T *in, T *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int j = 0; j < N; ++j)
    if (i * N + j < n) out[i * N + j] = in[i * N + j];
}
)";
  const std::string use = "template __global__ void k<4, float>(const float *, float *, int);\n"
                          "template __global__ void k<2, float>(const float *, float *, int);\n";
  const auto own = [](const std::string &arguments, const std::string &parameters) {
    return "template <> __global__ void k<" + arguments + ">(" + parameters +
           ") { if (threadIdx.x < n) out[threadIdx.x] = in[threadIdx.x]; }\n";
  };
  const auto findings = [&](const std::string &between, const std::string &of = "") {
    return rejections(text + use, (of.empty() ? text : of) + between + use, "k<4, float>");
  };
  const std::string otherTemplate = "\ntemplate <unsigned N," + text.substr(text.find(" typename"));
  const std::string parameters = "const float *in, float *out, int n";
  EXPECT_EQ(findings(own("4, float", parameters)), "");
  std::string internal = text; // a specialization has its template's storage class
  internal.replace(internal.find("__global__"), 0, "static ");
  EXPECT_EQ(rejections(internal + use, internal + own("4, float", parameters) + use, "k<4, float>"),
            "");
  EXPECT_NE(findings(own("2, float", parameters)).find("declared 2 times"), std::string::npos);
  EXPECT_NE(
      findings(own("4, float", parameters) + own("2, float", parameters)).find("declared 2 times"),
      std::string::npos);
  // The template is still there as it was for those that have none.
  EXPECT_NE(
      findings(own("4, float", parameters), otherTemplate).find("template parameters changed"),
      std::string::npos);
}

} // namespace
} // namespace kopt::frontend
