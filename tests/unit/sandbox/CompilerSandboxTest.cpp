// SPDX-License-Identifier: Apache-2.0
// What compilers of candidates can include, and what of their diagnostics is kept.
#include "driver/sandbox/CompilerSandbox.h"

#include "driver/support/FileSystem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using namespace kopt;
using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

TEST(CleanDiagnostics, KeepsTextAndNothingElse) {
  EXPECT_EQ(cleanDiagnostics("/tmp/s/a.cu(3): \x1b[31merror\x1b[0m:\tno\r\n\x07\xc3\xa9", "/tmp/s"),
            "a.cu(3): error:\tno\n\xc3\xa9");
  EXPECT_EQ(cleanDiagnostics(std::string("\x00\xff{no JSON\x1b[2J", 14), ""),
            "\xef\xbf\xbd{no JSON");
  const std::string long_(200000, 'x');
  const std::string cut = cleanDiagnostics(long_, "");
  EXPECT_EQ(cut.size(), 64u << 10);
  EXPECT_THAT(cut, HasSubstr("left out: 200000 bytes"));
}

class CompilerSandboxTest : public testing::Test {
protected:
  CompilerSandboxTest()
      : processes(makeProcessRunner()),
        folder(std::move(*TemporaryDirectory::create("kopt-compiler"))) {
    auto opened = Sandbox::open(*processes, KOPT_BINARY_DIR "/bin/kopt-sandbox", SandboxMode::Auto);
    EXPECT_TRUE(opened) << opened.error().what;
    sandbox = *opened;
  }
  void SetUp() override {
    if (!sandbox.hasNamespaces())
      GTEST_SKIP() << "this machine gives no namespaces";
    ASSERT_TRUE(writeFileAtomically(folder.path() / "project/include/own.h", "int own;\n"));
    ASSERT_TRUE(writeFileAtomically(folder.path() / "secret/key.h", "int key;\n"));
    ASSERT_TRUE(createDirectories(folder.path() / "scratch"));
  }
  /// Compiles a text with the system's own compiler.
  ProcessResult compile(const std::string &text, const Sandbox &how,
                        const std::string &cudaPath = "") {
    const fs::path source = folder.path() / "scratch/a.cpp";
    EXPECT_TRUE(writeFileAtomically(source, text));
    ProcessSpec spec;
    spec.argv = {findProgram("c++")->string(),
                 "-std=c++17",
                 "-c",
                 "-I",
                 "include",
                 source.string(),
                 "-o",
                 (folder.path() / "scratch/a.o").string()};
    spec.cwd = folder.path() / "project";
    spec.timeout = Duration(60);
    const CompilerSandbox compilers(how, {}, {}, cudaPath);
    return *processes->run(
        compilers.contain(spec, {{"-I", "include"}, spec.cwd, {}, {folder.path() / "scratch"}}));
  }

  std::unique_ptr<ProcessRunner> processes;
  TemporaryDirectory folder;
  Sandbox sandbox;
};

TEST_F(CompilerSandboxTest, SeesTheSystemsHeadersAndTheUsersFolders) {
  const ProcessResult result =
      compile("#include <vector>\n#include <own.h>\nint x = own;\n", sandbox);
  EXPECT_TRUE(result.ok()) << result.err;
  EXPECT_TRUE(fs::exists(folder.path() / "scratch/a.o"));
}

TEST_F(CompilerSandboxTest, SeesNothingElse) {
  const std::string secret = (folder.path() / "secret/key.h").string();
  for (const std::string &text : std::vector<std::string>{
           "#include \"" + secret + "\"\n", "#include \"../../secret/key.h\"\n",
           std::string("#include \"/etc/hostname\"\n"), std::string("#include \"/etc/passwd\"\n"),
           std::string("#include \"/root/.bashrc\"\n"),
           "asm(\".incbin \\\"" + secret + "\\\"\");\n",
           "#if !__has_include(\"" + secret + "\")\n#error is not there: No such file\n#endif\n"}) {
    const ProcessResult result = compile(text, sandbox);
    EXPECT_FALSE(result.ok()) << text;
    EXPECT_THAT(result.err, testing::AnyOf(HasSubstr("No such file"), HasSubstr("file not found")))
        << text;
  }
  EXPECT_TRUE(compile("#include \"" + secret + "\"\n", Sandbox()).ok())
      << "without the sandbox it does";
}

TEST_F(CompilerSandboxTest, SeesTheToolkitThatWasDecidedOnAndNotWhatVariablesName) {
  const fs::path toolkit = folder.path() / "toolkit";
  ASSERT_TRUE(writeFileAtomically(toolkit / "include/inside.h", "int inside;\n"));
  const std::string text = "#include \"" + (toolkit / "include/inside.h").string() + "\"\n";
  EXPECT_TRUE(compile(text, sandbox, toolkit.string()).ok());
  setenv("CUDA_PATH", toolkit.c_str(), 1);
  EXPECT_FALSE(compile(text, sandbox, "none").ok());
  unsetenv("CUDA_PATH");
}

TEST_F(CompilerSandboxTest, ItsEnvironmentIsWhatCompilersListenTo) {
  setenv("SOME_API_KEY", "x", 1);
  setenv("LD_PRELOAD_OF_TEST", "x", 1);
  ProcessSpec spec;
  spec.argv = {findProgram("env")->string()};
  const auto result = processes->run(CompilerSandbox(sandbox).contain(spec, {}));
  ASSERT_TRUE(result);
  EXPECT_THAT(result->out, HasSubstr("PATH="));
  EXPECT_THAT(result->out, HasSubstr("TMPDIR=/dev/shm"));
  EXPECT_THAT(result->out, Not(HasSubstr("SOME_API_KEY")));
  EXPECT_THAT(result->out, Not(HasSubstr("PRELOAD")));
  unsetenv("SOME_API_KEY");
  unsetenv("LD_PRELOAD_OF_TEST");
}

} // namespace
