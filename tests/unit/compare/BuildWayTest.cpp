// SPDX-License-Identifier: Apache-2.0
#include "driver/compare/program/BuildWay.h"
#include "driver/support/FileSystem.h"
#include "tests/fakes/Results.h"

#include <gmock/gmock.h>

namespace kopt {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class BuildWayTest : public testing::Test {
protected:
  BuildWayTest() {
    request_.root = request_.directory = folder_.path();
    request_.files = {folder_.path() / "main.cu"};
    request_.flags = {"-O3", "-arch=sm_90"};
    request_.program = "./main 100";
    request_.nvcc = "/cuda/bin/nvcc";
  }
  TemporaryDirectory folder_ = std::move(TemporaryDirectory::create("kopt-way").value());
  BuildWayRequest request_;
};

TEST_F(BuildWayTest, ACommandComesFirst) {
  request_.command = "make -j && true";
  request_.buildDirectory = folder_.path();
  const auto way = must(findBuildWay(request_));
  EXPECT_THAT(way.argv, ElementsAre("/bin/sh", "-c", "make -j && true"));
  EXPECT_EQ(way.describe(), "make -j && true");
}

TEST_F(BuildWayTest, ABuildFolderOfCMake) {
  request_.buildDirectory = folder_.path() / "build";
  ASSERT_TRUE(writeFileAtomically(request_.buildDirectory / "CMakeCache.txt",
                                  "# comment\nCMAKE_HOME_DIRECTORY:INTERNAL=/src/app\n"
                                  "CMAKE_COMMAND:INTERNAL=/no/such/cmake\n"));
  const auto way = must(findBuildWay(request_));
  EXPECT_EQ(way.kind, BuildWay::Kind::CMake);
  EXPECT_EQ(way.project, "/src/app");
  EXPECT_THAT(way.argv,
              ElementsAre("cmake", "--build", request_.buildDirectory.string(), "--parallel"));
}

TEST_F(BuildWayTest, ACompileDatabaseAloneSaysNothingOfLinking) {
  request_.buildDirectory = folder_.path();
  EXPECT_THAT(findBuildWay(request_),
              fails({.code = ErrorCode::Usage, .hint = HasSubstr("--build")}));
}

TEST_F(BuildWayTest, AProgramOfOneFileIsBuiltByTheCompiler) {
  const auto way = must(findBuildWay(request_));
  EXPECT_THAT(way.argv,
              ElementsAre("/cuda/bin/nvcc", "-O3", "-arch=sm_90", "main.cu", "-o", "main"));
  request_.program = "main 100";
  EXPECT_THAT(findBuildWay(request_).error().hint, HasSubstr("./NAME"));
}

TEST(MissingLibraries, AreNamedByTheirSymbols) {
  EXPECT_EQ(
      missingLibraries("tmp.o: in function `main':\nm.cu:(.text+0x1a): undefined reference to "
                       "`cublasCreate_v2'\nundefined reference to `cublasLtCreate'\n"
                       "ld.lld: error: undefined symbol: cufftPlan1d\n"),
      "-lcublas -lcublasLt -lcufft");
  EXPECT_EQ(missingLibraries("undefined reference to `cuModuleLoad'"), "-lcuda");
  EXPECT_EQ(missingLibraries("undefined reference to 'nvmlInit_v2'"), "-lnvidia-ml");
  EXPECT_EQ(missingLibraries("undefined reference to `custom'\n`cudaMalloc' is fine"), "");
}

TEST(CMakeCache, AFreshConfigurationGetsTheUsersSettings) {
  const auto entries = readCMakeCache("//doc\n\nCMAKE_BUILD_TYPE:STRING=Release\n"
                                      "CMAKE_CUDA_FLAGS:STRING=-lineinfo -DX=\"a:b\"\n"
                                      "OWN:PATH=/src/app/data\nLIB:FILEPATH=LIB-NOTFOUND\n"
                                      "CMAKE_GENERATOR:INTERNAL=Ninja\nODD:UNINITIALIZED=1\n");
  ASSERT_EQ(entries.size(), 6u);
  EXPECT_EQ(entries[1].value, "-lineinfo -DX=\"a:b\"");
  EXPECT_EQ(initialCache(entries, "/src/app", "/src/build"),
            "set(\"CMAKE_BUILD_TYPE\" [==[Release]==] CACHE STRING \"\")\n"
            "set(\"CMAKE_CUDA_FLAGS\" [==[-lineinfo -DX=\"a:b\"]==] CACHE STRING \"\")\n"
            "set(\"ODD\" [==[1]==] CACHE STRING \"\")\n");
}

} // namespace
} // namespace kopt
