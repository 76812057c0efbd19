// SPDX-License-Identifier: Apache-2.0
#include "driver/device/CudaToolkit.h"

#include "driver/device/build/Toolchains.h"
#include "driver/source/Frontend.h"
#include "tests/fakes/FakeProcessRunner.h"
#include "tests/unit/clang_plugin/parse/CudaRootCases.h"

#include <gmock/gmock.h>

namespace kopt {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class DriverToolkit : public testing::TestWithParam<test::CudaRootCase> {};

TEST_P(DriverToolkit, IsTheOneOfTheTable) {
  const test::FakeCudaMachine machine;
  const CudaToolkit toolkit = CudaToolkit::find(machine.site(GetParam().variables));
  EXPECT_EQ(toolkit.root.state, GetParam().state);
  EXPECT_EQ(toolkit.root.chosenBy, GetParam().chosenBy);
  if (!*GetParam().folder) {
    EXPECT_EQ(toolkit.root.folder, "");
    EXPECT_FALSE(toolkit.nvcc);
    return;
  }
  const std::filesystem::path folder = machine / GetParam().folder;
  EXPECT_EQ(toolkit.root.folder, folder);
  EXPECT_EQ(toolkit.version, "12.6");
  EXPECT_EQ(toolkit.root.forChildren(), folder.string());
  EXPECT_EQ(toolkit.nvcc.has_value(), std::filesystem::exists(folder / "bin/nvcc"));
  if (toolkit.nvcc)
    EXPECT_EQ(*toolkit.nvcc, folder / "bin/nvcc");
}

INSTANTIATE_TEST_SUITE_P(Table, DriverToolkit, testing::ValuesIn(test::cudaRootCases()),
                         [](const auto &info) { return std::string(info.param.name); });

class CudaToolkitTest : public testing::Test {
protected:
  /// All that a machine may have, inside a toolkit and beside it.
  void installAll() {
    for (const char *tool :
         {"a/bin/nvdisasm", "a/bin/ncu", "a/bin/compute-sanitizer", "elsewhere/nvdisasm",
          "elsewhere/ncu", "elsewhere/compute-sanitizer", "elsewhere/nvcc",
          "opt/nvidia/nsight-compute/2025.1.0/ncu", "opt/nvidia/nsight-compute/2024.3.2/ncu"})
      machine.program(tool);
    for (const char *library : {"a/extras/CUPTI/lib64/libcupti.so", "libraries/libcupti.so.12",
                                "usr/lib/x86_64-linux-gnu/libcupti.so.12"})
      machine.file(library);
  }
  CudaToolkit find(std::map<std::string, std::string> variables) const {
    return CudaToolkit::find(machine.site(std::move(variables)));
  }
  test::FakeCudaMachine machine;
};

TEST_F(CudaToolkitTest, ToolsOfTheToolkitComeFirst) {
  installAll();
  const CudaToolkit toolkit = find({{"CUDA_PATH", "@/a"},
                                    {"PATH", "@/elsewhere"},
                                    {"NVDISASM_PATH", "@/elsewhere"},
                                    {"LD_LIBRARY_PATH", "@/libraries"}});
  EXPECT_EQ(toolkit.nvdisasm, machine / "a/bin/nvdisasm");
  EXPECT_EQ(toolkit.ncu, machine / "a/bin/ncu");
  EXPECT_EQ(toolkit.computeSanitizer, machine / "a/bin/compute-sanitizer");
  ASSERT_TRUE(toolkit.cupti);
  EXPECT_THAT(*toolkit.cupti, ElementsAre(machine / "a/extras/CUPTI/lib64/libcupti.so",
                                          machine / "libraries/libcupti.so.12",
                                          machine / "usr/lib/x86_64-linux-gnu/libcupti.so.12"));
}

TEST_F(CudaToolkitTest, WhatTheToolkitLacksIsFoundElsewhereButNvcc) {
  installAll();
  const CudaToolkit toolkit = find({{"CUDA_PATH", "@/headers"},
                                    {"PATH", "@/nothing:@/elsewhere"},
                                    {"NVDISASM_PATH", "@/a/bin/nvdisasm"},
                                    {"LD_LIBRARY_PATH", "@/libraries"}});
  EXPECT_EQ(toolkit.nvdisasm, machine / "a/bin/nvdisasm");
  EXPECT_EQ(toolkit.ncu, machine / "elsewhere/ncu");
  EXPECT_EQ(toolkit.computeSanitizer, machine / "elsewhere/compute-sanitizer");
  ASSERT_TRUE(toolkit.cupti);
  EXPECT_EQ(toolkit.cupti->front(), machine / "libraries/libcupti.so.12");
  ASSERT_FALSE(toolkit.nvcc);
  EXPECT_THAT(toolkit.nvcc.error().what,
              AllOf(HasSubstr("nvcc was not found"), HasSubstr("/headers (chosen by CUDA_PATH)")));
  EXPECT_EQ(find({{"CUDA_PATH", "@/headers"}}).ncu,
            machine / "opt/nvidia/nsight-compute/2025.1.0/ncu");
}

TEST_F(CudaToolkitTest, NoneHidesEverything) {
  installAll();
  const CudaToolkit toolkit = find({{"KOPT_CUDA_PATH", "none"},
                                    {"CUDA_PATH", "@/a"},
                                    {"PATH", "@/a/bin:@/elsewhere"},
                                    {"NVDISASM_PATH", "@/elsewhere"},
                                    {"LD_LIBRARY_PATH", "@/libraries"},
                                    {"KOPT_CUPTI", "@/libraries/libcupti.so.12"}});
  for (const auto *tool :
       {&toolkit.nvcc, &toolkit.nvdisasm, &toolkit.ncu, &toolkit.computeSanitizer}) {
    ASSERT_FALSE(*tool);
    EXPECT_THAT(tool->error().what, HasSubstr("CUDA is hidden by KOPT_CUDA_PATH=none"));
    EXPECT_THAT(tool->error().hint, HasSubstr("unset KOPT_CUDA_PATH"));
  }
  ASSERT_FALSE(toolkit.cupti);
  EXPECT_THAT(toolkit.cupti.error().what, HasSubstr("CUDA is hidden by KOPT_CUDA_PATH=none"));
  EXPECT_EQ(toolkit.cuptiForChildren(), "");
  EXPECT_TRUE(toolkit.folders().empty());
  EXPECT_EQ(toolkit.root.forChildren(), "none");
}

TEST_F(CudaToolkitTest, AWrongFolderIsNamedForEveryPart) {
  installAll();
  const CudaToolkit toolkit = find({{"KOPT_CUDA_PATH", "/nonexistent"},
                                    {"PATH", "@/a/bin:@/elsewhere"},
                                    {"LD_LIBRARY_PATH", "@/libraries"}});
  for (const auto *tool :
       {&toolkit.nvcc, &toolkit.nvdisasm, &toolkit.ncu, &toolkit.computeSanitizer}) {
    ASSERT_FALSE(*tool);
    EXPECT_EQ(tool->error().code, ErrorCode::Environment);
    EXPECT_THAT(tool->error().what,
                AllOf(HasSubstr("KOPT_CUDA_PATH=/nonexistent"), HasSubstr("no such folder")));
    EXPECT_THAT(tool->error().hint, HasSubstr("bin/nvcc"));
  }
  EXPECT_FALSE(toolkit.cupti);
  EXPECT_EQ(toolkit.root.forChildren(), "") << "the front end has to report it as well";
}

TEST_F(CudaToolkitTest, WithoutAToolkitTheErrorSaysWhereKoptLooked) {
  std::filesystem::remove_all(machine / "usr");
  const CudaToolkit toolkit = find({{"CUDA_HOME", "@/nothing"}, {"PATH", "@/ccache"}});
  EXPECT_EQ(toolkit.root.state, CudaRoot::State::Missing);
  ASSERT_FALSE(toolkit.nvcc);
  for (const char *place : {"KOPT_CUDA_PATH", "CUDACXX", "CUDA_PATH", "CUDA_HOME", "PATH",
                            "/usr/local/cuda", "/nothing has no include/cuda_runtime.h",
                            "/ccache/nvcc (in PATH) is not in a CUDA toolkit"})
    EXPECT_THAT(toolkit.nvcc.error().what, HasSubstr(place));
  ASSERT_FALSE(toolkit.ncu);
  EXPECT_THAT(toolkit.ncu.error().what,
              AllOf(HasSubstr("there is no CUDA toolkit"), HasSubstr("/opt/nvidia")));
}

TEST_F(CudaToolkitTest, KoptCuptiIsUsedInPlaceOfTheSearch) {
  installAll();
  const CudaToolkit toolkit =
      find({{"CUDA_PATH", "@/a"}, {"KOPT_CUPTI", "@/libraries/libcupti.so.12"}});
  ASSERT_TRUE(toolkit.cupti);
  EXPECT_THAT(*toolkit.cupti, ElementsAre(machine / "libraries/libcupti.so.12"));
  EXPECT_EQ(toolkit.cuptiForChildren(), (machine / "libraries/libcupti.so.12").string());
  EXPECT_THAT(toolkit.folders(), testing::IsSupersetOf({machine / "a", machine / "libraries"}));
  const CudaToolkit wrong = find({{"CUDA_PATH", "@/a"}, {"KOPT_CUPTI", "@/nothing/libcupti.so"}});
  ASSERT_FALSE(wrong.cupti);
  EXPECT_THAT(wrong.cupti.error().what, HasSubstr("KOPT_CUPTI names"));
}

// D2: two toolkits, and the environment of kopt names both.
TEST_F(CudaToolkitTest, SlicesAreProvenByTheCompilerThatBuildsCandidates) {
  const CudaToolkit toolkit = find({{"CUDA_PATH", "@/a"}, {"PATH", "@/b/bin"}});
  const CompilerSandbox compilers({}, {}, {}, toolkit.root.forChildren());
  fakes::FakeProcessRunner processes;
  std::vector<std::string> provers;
  processes.on({"kopt-frontend"}, [&](const ProcessSpec &spec) -> Result<ProcessResult> {
    // As the front end itself decides, in the environment that it is given.
    const auto value = spec.env.find("KOPT_CUDA_PATH");
    EXPECT_NE(value, spec.env.end());
    provers.push_back(findCudaRoot(machine.site({{"KOPT_CUDA_PATH", value->second},
                                                 {"CUDA_PATH", "@/b"},
                                                 {"PATH", "@/b/bin"}}))
                          .nvcc());
    return ProcessResult{};
  });
  processes.on({"nvcc", "--version"}, 0, "Cuda compilation tools, release 12.6, V12.6.85\n");
  const auto frontend = makeFrontend(processes, "/opt/kopt-frontend", compilers);
  ExtractRequest request;
  for (const bool untrusted : {false, true}) {
    request.untrusted = untrusted;
    EXPECT_FALSE(frontend->extract(request)) << "the fake gives no answer";
  }
  ASSERT_TRUE(makeNvccToolchain(processes, toolkit, compilers));
  const std::string builder = processes.calls.back().argv[0];
  EXPECT_EQ(builder, (machine / "a/bin/nvcc").string());
  EXPECT_THAT(provers, ElementsAre(builder, builder));
}

} // namespace
} // namespace kopt
