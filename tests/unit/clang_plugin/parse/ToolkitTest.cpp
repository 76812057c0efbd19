// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/parse/Toolkit.h"

#include "unit/clang_plugin/parse/CudaRootCases.h"

#include <gtest/gtest.h>

namespace kopt::frontend {
namespace {

class FrontEndToolkit : public testing::TestWithParam<test::CudaRootCase> {};

TEST_P(FrontEndToolkit, IsTheOneOfTheTable) {
  const test::FakeCudaMachine machine;
  const CudaSite site = machine.site(GetParam().variables);
  const std::string expected =
      *GetParam().folder ? (machine / GetParam().folder).string() : std::string();
  EXPECT_EQ(findCudaToolkit(site).value_or(""), expected);
  const bool hasCompiler = std::filesystem::exists(expected + "/bin/nvcc");
  EXPECT_EQ(findNvcc(site).value_or(""), hasCompiler ? expected + "/bin/nvcc" : "");
}

INSTANTIATE_TEST_SUITE_P(Table, FrontEndToolkit, testing::ValuesIn(test::cudaRootCases()),
                         [](const auto &info) { return std::string(info.param.name); });

TEST(Toolkit, SaysItsVersion) {
  const test::FakeCudaMachine machine;
  machine.file("a/version.json",
               R"({"cuda_cudart" : {"version" : "12.6.77"},)"
               R"( "cuda_nvcc" : {"name" : "CUDA NVCC", "version" : "12.6.85"}})");
  const CudaVersion version = toolkitVersion((machine / "a").string());
  EXPECT_EQ(version.major, 12);
  EXPECT_EQ(version.minor, 6);
  EXPECT_EQ(version.build, 85);
  EXPECT_EQ(toolkitVersion((machine / "nothing").string()).major, 0);
}

} // namespace
} // namespace kopt::frontend
