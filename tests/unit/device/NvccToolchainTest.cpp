// SPDX-License-Identifier: Apache-2.0
// nvcc as a script that the test writes, and the real one where it is installed.
#include "driver/device/Toolchain.h"
#include "driver/device/build/Toolchains.h"
#include "driver/support/FileSystem.h"
#include "tests/fakes/Results.h"
#include "unit/device/ElfBuilder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using testing::HasSubstr;
using testing::Not;

using namespace kopt;
namespace fs = std::filesystem;

class NvccToolchainTest : public testing::Test {
protected:
  NvccToolchainTest()
      : processes(makeProcessRunner()),
        folder(std::move(*TemporaryDirectory::create("kopt-nvcc"))) {}

  /// A toolkit whose nvcc is a script. It keeps its arguments and then runs `body`.
  std::unique_ptr<Toolchain> fakeNvcc(const std::string &body) {
    const fs::path script = folder.path() / "bin/nvcc";
    EXPECT_TRUE(writeFileAtomically(
        script, "#!/bin/sh\nif [ \"$1\" = --version ]; then\n"
                "echo 'Cuda compilation tools, release 13.0, V13.0.88'; exit 0; fi\n"
                "printf '%s\\n' \"$@\" > '" +
                    (folder.path() / "arguments").string() + "'\n" + body + "\n"));
    fs::permissions(script, fs::perms::all);
    CudaToolkit cuda;
    cuda.nvcc = script;
    auto toolchain = makeNvccToolchain(*processes, cuda);
    EXPECT_TRUE(toolchain);
    return toolchain ? std::move(*toolchain) : nullptr;
  }
  /// A script that produces these bytes.
  std::string producing(const std::string &bytes) {
    EXPECT_TRUE(writeFileAtomically(folder.path() / "image", bytes));
    return "while [ \"$1\" != -o ]; do shift; done; cp '" + (folder.path() / "image").string() +
           "' \"$2\"";
  }
  BuildRequest request(const std::string &slice) {
    BuildRequest out;
    out.sliceText = slice;
    out.symbol = "_Z5scalePf";
    out.arch = "sm_90";
    out.flags = {"-O3", "-c", "-DN=4"};
    out.directory = folder.path().string();
    out.output = folder.path() / "scratch/module-1";
    return out;
  }

  std::unique_ptr<ProcessRunner> processes;
  TemporaryDirectory folder;
};

TEST_F(NvccToolchainTest, WithoutACompilerTheToolkitsReasonIsGiven) {
  CudaToolkit cuda;
  cuda.nvcc = makeError(ErrorCode::Environment, "the reason", "the remedy");
  EXPECT_THAT(makeNvccToolchain(*processes, cuda),
              fails({.what = "the reason",
                     .hint = "the remedy, or use --device emulated, which needs no nvcc"}));
}

TEST_F(NvccToolchainTest, BuildsWithTheUsersFlags) {
  const auto toolchain = fakeNvcc(producing(fakes::buildCubin("_Z5scalePf", "code")));
  EXPECT_EQ(toolchain->name(), "nvcc 13.0.88");
  const auto outcome = must(toolchain->build(request("the slice")));
  EXPECT_TRUE(outcome.ok) << outcome.log;
  EXPECT_EQ(outcome.module, folder.path() / "scratch/module-1");
  EXPECT_EQ(outcome.hash.size(), 32u);
  const std::string arguments = *readFile(folder.path() / "arguments");
  EXPECT_EQ(arguments.rfind("-O3\n-DN=4\n-arch=sm_90\n-cubin\n-x\ncu\n-o\n", 0), 0u) << arguments;
  EXPECT_EQ(*readFile(folder.path() / "scratch/module-1.cu"), "the slice");
}

TEST_F(NvccToolchainTest, AnotherRoundingIsThatOfThePtx) {
  const fs::path ptx = folder.path() / "scratch/module-1.ptx";
  EXPECT_TRUE(
      writeFileAtomically(folder.path() / "image", fakes::buildCubin("_Z5scalePf", "code")));
  const auto toolchain =
      fakeNvcc("case \"$*\" in *-ptx*) text='add.rn.f64 %fd1; fma.rn.f64 %fd2; mul.rn.f64 %fd3; "
               "cvt.rn.f64.s32 "
               "%fd4; add.rn.f32 %f1'; file='" +
               ptx.string() + "';; *) text=; cp '" + (folder.path() / "image").string() + "' '" +
               (folder.path() / "scratch/module-1").string() +
               "';; esac\n[ -z \"$text\" ] || echo \"$text\" > \"$file\"");
  BuildRequest up = request("the slice");
  for (const auto &[rounding, suffix] : {std::pair(Rounding::Up, "rp"), {Rounding::Down, "rm"}}) {
    up.rounding = rounding;
    const auto outcome = must(toolchain->build(up));
    EXPECT_TRUE(outcome.ok) << outcome.log;
    EXPECT_EQ(*readFile(ptx), std::string("add.") + suffix + ".f64 %fd1; fma.rn.f64 %fd2; mul." +
                                  suffix + ".f64 %fd3; cvt.rn.f64.s32 %fd4; add.rn.f32 %f1\n");
    const std::string arguments = *readFile(folder.path() / "arguments");
    EXPECT_EQ(arguments.rfind("-O3\n-DN=4\n-arch=sm_90\n-cubin\n-o\n", 0), 0u) << arguments;
    EXPECT_THAT(arguments, HasSubstr("module-1.ptx\n"));
  }
}

TEST_F(NvccToolchainTest, ASliceThatDoesNotCompileHasNoOtherRounding) {
  const auto toolchain = fakeNvcc("echo 'slice.cu(1): error: no' >&2; exit 2");
  BuildRequest up = request("the slice");
  up.rounding = Rounding::Up;
  const auto outcome = must(toolchain->build(up));
  EXPECT_FALSE(outcome.ok);
}

TEST_F(NvccToolchainTest, AModuleWithoutTheKernelDoesNotPass) {
  const auto toolchain = fakeNvcc(producing(fakes::buildCubin("_Z5otherPf", "code")));
  const auto outcome = must(toolchain->build(request("")));
  EXPECT_FALSE(outcome.ok);
  EXPECT_THAT(outcome.log, HasSubstr("_Z5otherPf"));
  BuildRequest any = request("");
  any.symbol.clear();
  EXPECT_TRUE(toolchain->build(any)->ok);
}

TEST_F(NvccToolchainTest, DiagnosticsNameTheSliceNotTheScratchFolder) {
  const auto toolchain = fakeNvcc("for f; do :; done; echo \"$f(3): error: no\" >&2; exit 2");
  const auto outcome = must(toolchain->build(request("")));
  EXPECT_FALSE(outcome.ok);
  EXPECT_EQ(outcome.log, "module-1.cu(3): error: no\n");
}

TEST_F(NvccToolchainTest, SilentFailureStillHasALog) {
  const auto outcome = must(fakeNvcc("exit 139")->build(request("")));
  EXPECT_FALSE(outcome.ok);
  EXPECT_THAT(outcome.log, HasSubstr("139"));
}

TEST_F(NvccToolchainTest, AnEarlierModuleIsNotTakenForThisOne) {
  ASSERT_TRUE(fakeNvcc(producing(fakes::buildCubin("_Z5scalePf", "code")))->build(request(""))->ok);
  EXPECT_FALSE(
      fakeNvcc("exit 0")->build(request(""))); // succeeded, wrote nothing: not a candidate's doing
}

TEST_F(NvccToolchainTest, OneThatBuildsOthersAndLeavesNoModuleGoesWrongOnThisText) {
  const auto toolchain = fakeNvcc("for f; do :; done\ngrep -q hopeless \"$f\" && exit 0\n" +
                                  producing(fakes::buildCubin("_Z5scalePf", "code")));
  BuildRequest hopeless = request("");
  hopeless.sliceText = "hopeless";
  EXPECT_FALSE(toolchain->build(hopeless)) << "nothing is known of this nvcc yet";
  ASSERT_TRUE(toolchain->build(request(""))->ok);
  const auto outcome = must(toolchain->build(hopeless));
  EXPECT_FALSE(outcome.ok);
  EXPECT_THAT(outcome.log, HasSubstr("wrote no module"));
}

TEST_F(NvccToolchainTest, AFullDiskIsTheMachines) {
  EXPECT_THAT(fakeNvcc("echo 'fatal: cannot write: No space left on device' >&2; exit 1")
                  ->build(request("")),
              fails({.code = ErrorCode::Environment}));
}

TEST_F(NvccToolchainTest, TheRealNvccBuildsAndEqualCodeHasOneHash) {
  const auto real = makeNvccToolchain(*processes, CudaToolkit::find());
  if (!real)
    GTEST_SKIP() << real.error().what;
  const std::string kernel = "__global__ void scale(float *x) { x[threadIdx.x] *= N; }\n";
  const auto build = [&](const std::string &slice) {
    auto outcome = (*real)->build(request(slice));
    EXPECT_TRUE(outcome) << outcome.error().what;
    EXPECT_TRUE(outcome->ok) << outcome->log;
    return outcome->hash;
  };
  const std::string hash = build(kernel);
  EXPECT_EQ(hash, build("// a comment\n\n" + kernel));
  EXPECT_NE(hash, build("__global__ void scale(float *x) { x[threadIdx.x] += N; }\n"));
  const auto broken = must((*real)->build(request("__global__ void scale(float *x) { y; }\n")));
  EXPECT_FALSE(broken.ok);
  EXPECT_THAT(broken.log, HasSubstr("module-1.cu(1): error"));
  EXPECT_THAT(broken.log, Not(HasSubstr(folder.path().string())));
}

} // namespace
