// SPDX-License-Identifier: Apache-2.0
// Precompiled headers are a matter of time alone: what a parse finds is the same with and without
// them, whatever happens to the files.
#include "clang_plugin/emulate/Emulate.h"
#include "clang_plugin/parse/ParseCuda.h"
#include "clang_plugin/parse/Toolkit.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/Frontend/ASTUnit.h>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

namespace kopt::frontend {
namespace {

namespace fs = std::filesystem;

constexpr const char *kKernel = R"(// A comment first.

#include <vector>
  # include <own_values.h>
#define FACTOR 2
__global__ void scale(float *x) { x[threadIdx.x] *= FACTOR * VALUE; }
)";

class Preamble : public testing::Test {
protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("kopt-preamble-" + std::to_string(::getpid()));
    fs::create_directories(folder_ / "include");
    setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1);
    unsetenv("KOPT_CUDA_PATH");
    toolkit_ = findCudaToolkit().value_or("");
    setenv("KOPT_CUDA_PATH", "none", 1); // kopt's own declarations: the same on every machine
    write(folder_ / "include" / "own_values.h", "#ifndef VALUE\n#define VALUE 1\n#endif\n");
  }
  void TearDown() override {
    unsetenv("XDG_CACHE_HOME");
    unsetenv("KOPT_CUDA_PATH");
    fs::remove_all(folder_);
  }

  static void write(const fs::path &path, const std::string &text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }

  ParsedUnit parse(const std::string &text, std::vector<std::string> flags = {}) const {
    ParseRequest request;
    request.file = "slice.cu";
    request.content = text;
    request.directory = folder_;
    request.nvccFlags = std::move(flags);
    request.nvccFlags.insert(request.nvccFlags.end(), {"-isystem", (folder_ / "include").string()});
    return parseCuda(request);
  }

  std::vector<fs::path> headers() const {
    std::vector<fs::path> found;
    std::error_code none;
    for (const auto &entry : fs::directory_iterator(folder_ / "cache" / "kopt" / "headers", none))
      found.push_back(entry.path());
    return found;
  }

  static bool usedHeader(const ParsedUnit &unit) {
    return unit.ast && unit.ast->getASTContext().getExternalSource();
  }

  static bool declares(const ParsedUnit &unit, llvm::StringRef name) {
    clang::ASTContext &context = unit.ast->getASTContext();
    return !context.getTranslationUnitDecl()->lookup(&context.Idents.get(name)).empty();
  }

  fs::path folder_;
  std::string toolkit_; ///< empty where this machine has none
};

TEST_F(Preamble, IsMadeOnceAndServesTextsThatDifferBehindIt) {
  const ParsedUnit first = parse(kKernel);
  ASSERT_TRUE(first.ast);
  EXPECT_FALSE(first.hasErrors);
  ASSERT_EQ(headers().size(), 1u);
  const auto made = fs::last_write_time(headers()[0]);
  fs::last_write_time(headers()[0], made - std::chrono::hours(48));

  const ParsedUnit second = parse(std::string(kKernel) + "__global__ void other() {}\n");
  EXPECT_TRUE(usedHeader(second));
  EXPECT_FALSE(second.hasErrors);
  EXPECT_TRUE(declares(second, "other"));
  ASSERT_EQ(headers().size(), 1u);
  EXPECT_GE(fs::last_write_time(headers()[0]), made - std::chrono::hours(1))
      << "the use is not noted";
}

TEST_F(Preamble, LeavesLinesOffsetsAndDiagnosticsAsTheyAre) {
  const std::string text = std::string(kKernel) + "__global__ void broken() { missing(); }\n";
  const ParsedUnit with = parse(text);
  ASSERT_TRUE(usedHeader(with));
  unsetenv("XDG_CACHE_HOME");
  const char *home = std::getenv("HOME");
  const std::string kept = home ? home : "";
  unsetenv("HOME");
  const ParsedUnit without = parse(text);
  if (home)
    setenv("HOME", kept.c_str(), 1);
  ASSERT_TRUE(without.ast);
  EXPECT_FALSE(usedHeader(without)) << "there is no folder to keep it in";

  ASSERT_EQ(with.diagnostics.size(), without.diagnostics.size());
  for (std::size_t i = 0; i < with.diagnostics.size(); ++i) {
    EXPECT_EQ(with.diagnostics[i].message, without.diagnostics[i].message);
    EXPECT_EQ(with.diagnostics[i].line, without.diagnostics[i].line);
    EXPECT_EQ(with.diagnostics[i].column, without.diagnostics[i].column);
  }
  const auto offsetOfScale = [](const ParsedUnit &unit) {
    clang::ASTContext &context = unit.ast->getASTContext();
    const auto found = context.getTranslationUnitDecl()->lookup(&context.Idents.get("scale"));
    return found.empty() ? 0u
                         : context.getSourceManager().getFileOffset(found.front()->getLocation());
  };
  EXPECT_EQ(offsetOfScale(with), std::string(kKernel).find("scale"));
  EXPECT_EQ(offsetOfScale(without), offsetOfScale(with));
}

// As slices have them. The line of a diagnostic stays that of the user's file.
TEST_F(Preamble, TakesTheIncludesBetweenLineDirectives) {
  parse("#include <vector>\n#include <own_values.h>\n");
  const std::string text = "#line 7 \"/p/kernels.h\"\n#include <vector>\n#line 8 \"/p/kernels.h\"\n"
                           "#include <own_values.h>\n#line 20 \"/p/kernels.h\"\nint x = missing;\n";
  const ParsedUnit unit = parse(text);
  EXPECT_TRUE(usedHeader(unit));
  EXPECT_EQ(headers().size(), 1u) << "another one was made than of the includes alone";
  ASSERT_FALSE(unit.diagnostics.empty());
  for (const Diagnostic &diagnostic : unit.diagnostics)
    EXPECT_EQ(diagnostic.line, 20u) << diagnostic.message;
}

TEST_F(Preamble, ForgetsHeadersThatHaveChanged) {
  ASSERT_TRUE(parse(kKernel).ast);
  write(folder_ / "include" / "own_values.h", "#define VALUE 1\nint declaredLater;\n");
  const ParsedUnit changed = parse(kKernel);
  ASSERT_TRUE(changed.ast);
  EXPECT_FALSE(changed.hasErrors);
  EXPECT_TRUE(declares(changed, "declaredLater"));
  const ParsedUnit again = parse(kKernel);
  EXPECT_TRUE(usedHeader(again));
  EXPECT_TRUE(declares(again, "declaredLater"));
}

TEST_F(Preamble, ReplacesAFileThatIsNoPrecompiledHeader) {
  ASSERT_TRUE(parse(kKernel).ast);
  ASSERT_EQ(headers().size(), 1u);
  write(headers()[0], "damaged");
  const ParsedUnit damaged = parse(kKernel);
  ASSERT_TRUE(damaged.ast);
  EXPECT_FALSE(damaged.hasErrors);
  EXPECT_TRUE(usedHeader(parse(kKernel)));
}

TEST_F(Preamble, StaysWhereTheTextIsWhatIsWrong) {
  ASSERT_TRUE(parse(kKernel).ast);
  ASSERT_EQ(headers().size(), 1u);
  EXPECT_FALSE(parse(std::string(kKernel) + "#include \"absent.h\"\n").ast);
  EXPECT_EQ(headers().size(), 1u);
}

TEST_F(Preamble, FollowsFlagsAndIncludesButNothingBehindThem) {
  parse(kKernel);
  parse(kKernel, {"-DOTHER=1"});
  EXPECT_EQ(headers().size(), 2u);
  parse("#include <vector>\n" + std::string(kKernel));
  EXPECT_EQ(headers().size(), 3u);
  // A macro before an include may change what it means: the include is left to the text.
  const ParsedUnit late =
      parse("#define VALUE 3\n#include <own_values.h>\nstatic_assert(VALUE == 3);\n");
  EXPECT_TRUE(usedHeader(late));
  EXPECT_FALSE(late.hasErrors);
  EXPECT_EQ(headers().size(), 4u);
}

TEST_F(Preamble, IsNotUsedWithForcedIncludesOfTheUser) {
  write(folder_ / "config.h", "#define VALUE 1\n");
  const ParsedUnit unit = parse("int x = VALUE;\n", {"-include", "config.h"});
  ASSERT_TRUE(unit.ast);
  EXPECT_FALSE(unit.hasErrors);
  EXPECT_FALSE(usedHeader(unit));
  EXPECT_TRUE(headers().empty());
}

TEST_F(Preamble, IsNotTriedAgainWhereTheHeadersDoNotCompile) {
  write(folder_ / "include" / "own_values.h", "#define VALUE 1\nint broken = missing;\n");
  EXPECT_TRUE(parse(kKernel).hasErrors);
  ASSERT_EQ(headers().size(), 1u);
  EXPECT_EQ(fs::file_size(headers()[0]), 0u);
  write(folder_ / "include" / "own_values.h", "#define VALUE 1\n");
  const ParsedUnit repaired = parse(kKernel);
  EXPECT_FALSE(repaired.hasErrors);
  EXPECT_FALSE(usedHeader(repaired));
  fs::last_write_time(headers()[0], fs::file_time_type::clock::now() - std::chrono::hours(25));
  EXPECT_TRUE(usedHeader(parse(kKernel)));
}

TEST_F(Preamble, KeepsMacrosApartThatComeLate) {
  for (int value : {3, 4}) {
    ParseRequest request;
    request.file = "slice.cu";
    request.content = "static_assert(N == " + std::to_string(value) + ");\n";
    request.directory = folder_;
    request.nvccFlags = {"-DN=" + std::to_string(value)};
    request.lateMacros = true;
    setenv("KOPT_CUDA_PATH", toolkit_.c_str(), 1);
    if (!findCudaToolkit())
      GTEST_SKIP() << "there is no CUDA toolkit here";
    const ParsedUnit unit = parseCuda(request);
    EXPECT_TRUE(usedHeader(unit));
    EXPECT_FALSE(unit.hasErrors) << value;
  }
  EXPECT_EQ(headers().size(), 2u);
}

TEST_F(Preamble, KeepsTheFolderSmall) {
  const fs::path cache = folder_ / "cache" / "kopt" / "headers";
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(48);
  for (const char *name : {"0.pch", "1.pch", "half.pch.tmp"}) {
    write(cache / name, "");
    fs::resize_file(cache / name, 400u << 20); // sparse
    fs::last_write_time(cache / name, name[0] == '1' ? old + std::chrono::hours(1) : old);
  }
  ASSERT_TRUE(parse(kKernel).ast);
  EXPECT_FALSE(fs::exists(cache / "0.pch"));
  EXPECT_TRUE(fs::exists(cache / "1.pch"));
  EXPECT_FALSE(fs::exists(cache / "half.pch.tmp"));
  EXPECT_EQ(headers().size(), 2u);
}

TEST_F(Preamble, GivesTheEmulatedDeviceTheSameModule) {
  EmulateRequest request;
  request.slice = kKernel;
  request.expression = "scale";
  request.flags = {"-isystem", (folder_ / "include").string()};
  request.directory = folder_;
  const auto build = [&](const char *name) {
    request.output = folder_ / name;
    const EmulateReply reply = emulate::emulate(request);
    EXPECT_TRUE(reply.ok) << reply.log;
    std::ifstream stream(request.output, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(stream), {});
  };
  const std::string cold = build("cold.so");
  ASSERT_EQ(headers().size(), 1u);
  EXPECT_EQ(build("warm.so"), cold);
  EXPECT_EQ(headers().size(), 1u);
  setenv("XDG_CACHE_HOME", "/proc/nowhere", 1);
  EXPECT_EQ(build("plain.so"), cold);

  // A failure is told as if nothing had been precompiled.
  request.slice += "__device__ int broken() { return missing(); }\n";
  const EmulateReply plain = emulate::emulate(request);
  setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1);
  const EmulateReply warm = emulate::emulate(request);
  EXPECT_FALSE(plain.ok);
  EXPECT_FALSE(warm.ok);
  EXPECT_NE(plain.log.find("slice.cu:7"), std::string::npos) << plain.log;
  EXPECT_EQ(warm.log, plain.log);
  EXPECT_EQ(headers().size(), 1u);
}

} // namespace
} // namespace kopt::frontend
