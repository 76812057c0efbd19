// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/parse/ParseCuda.h"

#include "clang_plugin/parse/Toolkit.h"

#include <algorithm>
#include <clang/AST/ASTContext.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Frontend/ASTUnit.h>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

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

TEST(ParseCuda, ParsesBothPassesWithWhatTheMachineHas) {
  for (Pass pass : {Pass::Host, Pass::Device}) {
    ParsedUnit unit = parseCuda(request(pass, kProgram));
    ASSERT_TRUE(unit.ast) << text(unit);
    EXPECT_FALSE(unit.hasErrors) << text(unit);
  }
}

TEST(ParseCuda, UsesOwnDeclarationsWhereTheToolkitIsHidden) {
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

struct TemporaryFile {
  TemporaryFile(const std::string &name, const std::string &text)
      : path(std::filesystem::temp_directory_path() / (std::to_string(::getpid()) + name)) {
    std::ofstream(path) << text;
  }
  ~TemporaryFile() { std::filesystem::remove(path); }
  const std::filesystem::path path;
};

/// All function bodies that a parse left out, and all functions of the user.
class Functions : public clang::RecursiveASTVisitor<Functions> {
public:
  explicit Functions(clang::ASTUnit &unit) : sources_(unit.getSourceManager()) {
    TraverseDecl(unit.getASTContext().getTranslationUnitDecl());
  }
  bool VisitFunctionDecl(clang::FunctionDecl *function) {
    if (function->hasSkippedBody())
      skipped.push_back(function);
    if (sources_.isWrittenInMainFile(function->getLocation()))
      users.push_back(function);
    return true;
  }
  std::vector<const clang::FunctionDecl *> skipped, users;

private:
  const clang::SourceManager &sources_;
};

TEST(ParseCuda, LeavesOutBodiesOfLibrariesAlone) {
  if (!findCudaToolkit())
    GTEST_SKIP() << "no CUDA toolkit: kopt's own declarations have hardly a body";
  // A file: a text would begin with a precompiled header, which has all bodies.
  TemporaryFile file("kopt-bodies.cu", std::string("#include <vector>\n") + kProgram);
  ParseRequest wanted;
  wanted.file = file.path;
  wanted.skipLibraryBodies = true;
  for (Pass pass : {Pass::Host, Pass::Device}) {
    wanted.pass = pass;
    ParsedUnit unit = parseCuda(wanted);
    ASSERT_TRUE(unit.ast) << text(unit);
    EXPECT_FALSE(unit.hasErrors) << text(unit);
    Functions functions(*unit.ast);
    EXPECT_EQ(functions.users.size(), 2u);
    for (const clang::FunctionDecl *function : functions.users)
      EXPECT_TRUE(function->hasBody()) << function->getNameAsString();
    EXPECT_GT(functions.skipped.size(), 100u);
    bool templates = false;
    for (const clang::FunctionDecl *function : functions.skipped) {
      EXPECT_FALSE(function->isConstexpr()) << function->getQualifiedNameAsString();
      templates |= function->isTemplated();
      // What instantiates kernels stays in the host pass, what they call in the device pass.
      if (function->isTemplated())
        EXPECT_FALSE(pass == Pass::Host || function->hasAttr<clang::CUDADeviceAttr>())
            << function->getQualifiedNameAsString();
    }
    EXPECT_EQ(templates, pass == Pass::Device);
  }
  wanted.skipLibraryBodies = false;
  ParsedUnit whole = parseCuda(wanted);
  ASSERT_TRUE(whole.ast);
  EXPECT_TRUE(Functions(*whole.ast).skipped.empty());
}

TEST(ParseCuda, IncludesFunctionalWhereNvccDoes) {
  if (!findCudaToolkit())
    GTEST_SKIP() << "no CUDA toolkit";
  ParseRequest wanted = request(Pass::Host, "std::function<int()> f;\n");
  EXPECT_TRUE(parseCuda(wanted).hasErrors);
  for (const char *flag : {"--extended-lambda", "-expt-extended-lambda"}) {
    wanted.nvccFlags = {flag};
    EXPECT_FALSE(parseCuda(wanted).hasErrors) << flag;
  }
}

TEST(ParseCuda, KeepsTheAstAfterAnErrorAndSaysWhere) {
  ParsedUnit unit =
      parseCuda(request(Pass::Device, "__global__ void k(int *p) { *p = missing; }\n"));
  ASSERT_TRUE(unit.ast);
  EXPECT_TRUE(unit.hasErrors);
  ASSERT_FALSE(unit.diagnostics.empty());
  EXPECT_EQ(unit.diagnostics.front().line, 1u);
  EXPECT_NE(unit.diagnostics.front().message.find("missing"), std::string::npos);
}

TEST(ParseCuda, AnErrorInASystemHeaderIsNoProblemForWhoKnowsThatNvccCompilesIt) {
  ParsedUnit unit = parseCuda(request(
      Pass::Device, std::string("# 1 \"/usr/include/strange.h\" 1 3\nint strange = nowhere;\n"
                                "# 1 \"virtual.cu\" 2\n") +
                        kProgram));
  EXPECT_TRUE(unit.hasErrors);
  EXPECT_EQ(unit.problem(), nullptr) << text(unit);
  unit = parseCuda(request(Pass::Device, std::string(kProgram) + "int strange = nowhere;\n"));
  ASSERT_TRUE(unit.problem());
  EXPECT_EQ(unit.problem()->file, "/tmp/virtual.cu");
}

TEST(ParseCuda, TakesWhatNvccTakesInSharedMemory) {
  const ParsedUnit unit = parseCuda(
      request(Pass::Device, "struct Counter { __device__ Counter() : value(0) {} int value; };\n"
                            "__global__ void k(float *out) {\n"
                            "  __shared__ alignas(16) float tile[32];\n"
                            "  __shared__ Counter counter;\n"
                            "  tile[threadIdx.x] = out[threadIdx.x];\n"
                            "  out[threadIdx.x] = tile[31 - threadIdx.x] + counter.value;\n"
                            "}\n"));
  ASSERT_TRUE(unit.ast);
  EXPECT_FALSE(unit.hasErrors) << text(unit);
  EXPECT_EQ(unit.problem(), nullptr) << text(unit);
}

TEST(ParseCuda, HasNoAstWithoutAHeader) {
  ParsedUnit unit = parseCuda(request(Pass::Device, "#include \"absent_header.h\"\n"));
  EXPECT_FALSE(unit.ast);
  EXPECT_NE(text(unit).find("absent_header.h"), std::string::npos);
}

} // namespace
} // namespace kopt::frontend
