// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/parse/ParseCuda.h"

#include <algorithm>
#include <clang/AST/ASTContext.h>
#include <clang/Frontend/ASTUnit.h>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>

namespace kopt::frontend {
namespace {

constexpr const char *kProgram = R"(
__global__ void scale(float *x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef __CUDA_ARCH__
  if (i < n) x[i] = a * __ldg(x + i);
#endif
}
void run(float *x, int n) { scale<<<dim3((n + 255) / 256), 256>>>(x, 2.0f, n); }
)";

ParseRequest request(Pass pass, std::string text) {
  ParseRequest result;
  result.file = "virtual.cu";
  result.content = std::move(text);
  result.directory = "/tmp";
  result.pass = pass;
  return result;
}

std::string text(const ParsedUnit &unit) {
  std::string all;
  for (const Diagnostic &d : unit.diagnostics)
    all += d.file + ":" + std::to_string(d.line) + ": " + d.severity + ": " + d.message + "\n";
  return all;
}

TEST(ParseCuda, parsesBothPassesWithWhatTheMachineHas) {
  for (Pass pass : {Pass::Host, Pass::Device}) {
    ParsedUnit unit = parseCuda(request(pass, kProgram));
    ASSERT_TRUE(unit.ast) << text(unit);
    EXPECT_FALSE(unit.hasErrors) << text(unit);
  }
}

TEST(ParseCuda, usesOwnDeclarationsWhereTheToolkitIsHidden) {
  if (!std::filesystem::exists(emulatedIncludeDirectory() + "/cuda_runtime.h"))
    GTEST_SKIP() << "kopt's declarations are not in this tree";
  setenv("KOPT_CUDA_PATH", "none", 1);
  ASSERT_FALSE(findCudaToolkit());
  for (Pass pass : {Pass::Host, Pass::Device}) {
    ParsedUnit unit = parseCuda(request(pass, kProgram));
    EXPECT_TRUE(unit.ast) << text(unit);
    EXPECT_FALSE(unit.hasErrors) << text(unit);
    EXPECT_TRUE(std::any_of(unit.notes.begin(), unit.notes.end(), [](const std::string &note) {
      return note.find("no CUDA toolkit") != std::string::npos;
    }));
  }
  unsetenv("KOPT_CUDA_PATH");
}

TEST(ParseCuda, keepsTheAstAfterAnErrorAndSaysWhere) {
  ParsedUnit unit =
      parseCuda(request(Pass::Device, "__global__ void k(int *p) { *p = missing; }\n"));
  ASSERT_TRUE(unit.ast);
  EXPECT_TRUE(unit.hasErrors);
  ASSERT_FALSE(unit.diagnostics.empty());
  EXPECT_EQ(unit.diagnostics.front().line, 1u);
  EXPECT_NE(unit.diagnostics.front().message.find("missing"), std::string::npos);
}

TEST(ParseCuda, hasNoAstWithoutAHeader) {
  ParsedUnit unit = parseCuda(request(Pass::Device, "#include \"absent_header.h\"\n"));
  EXPECT_FALSE(unit.ast);
  EXPECT_NE(text(unit).find("absent_header.h"), std::string::npos);
}

} // namespace
} // namespace kopt::frontend
