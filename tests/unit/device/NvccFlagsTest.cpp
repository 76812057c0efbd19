// SPDX-License-Identifier: Apache-2.0
#include "driver/device/build/NvccFlags.h"

#include <gtest/gtest.h>
#include <iterator>
#include <sstream>

namespace {

using kopt::cubinArch;
using kopt::flagsForCubin;
using kopt::namesArch;
using Words = std::vector<std::string>;

Words words(const char *text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

TEST(NvccFlags, KeepsWhatShapesCode) {
  const Words flags =
      words("-O3 -std=c++17 -Iinclude -I other -isystem sys -DN=4 -D M=2 --use_fast_math "
            "-lineinfo -maxrregcount=64 -Xptxas -dlcm=ca -Xcompiler -fPIC,-Wall "
            "--expt-relaxed-constexpr -include pre.cpp --options-file flags.rsp -ccbin g++-12 "
            "-Xcompiler=-march=native --ftz=true -diag-suppress 2803");
  EXPECT_EQ(flagsForCubin(flags), flags);
}

TEST(NvccFlags, DropsOutputsPhasesAndArchitectures) {
  EXPECT_EQ(flagsForCubin(words(
                "-forward-unknown-to-host-compiler -gencode arch=compute_80,code=sm_80 "
                "--generate-code=arch=compute_90,code=[compute_90,sm_90] -arch=sm_90 -arch sm_75 "
                "-code=sm_75 -O2 -x cu -c kernel.cu -o kernel.cu.o -MD -MT kernel.cu.o -MF "
                "kernel.cu.o.d -rdc=true -dc --keep --keep-dir tmp -t 4 -t0 --threads=2 -lcudart "
                "-L/usr/lib -Xlinker -rpath -ptx")),
            (Words{"-forward-unknown-to-host-compiler", "-O2"}));
}

TEST(NvccFlags, ALastFlagWithoutItsValueIsHarmless) {
  EXPECT_EQ(flagsForCubin({"-O3", "-o"}), Words{"-O3"});
  EXPECT_EQ(flagsForCubin({"-O3", "-I"}), (Words{"-O3", "-I"}));
}

TEST(NvccFlags, ArchitectureSpecificCodeIsKeptSpecific) {
  EXPECT_EQ(cubinArch({}, "sm_90"), "sm_90");
  EXPECT_EQ(cubinArch({"-gencode", "arch=compute_90a,code=sm_90a"}, "sm_90"), "sm_90a");
  EXPECT_EQ(cubinArch({"-arch=sm_90a"}, "sm_90"), "sm_90a");
  EXPECT_EQ(cubinArch({"-arch=sm_100f"}, "sm_100"), "sm_100f");
  EXPECT_EQ(cubinArch({"-arch=sm_90a"}, "sm_80"), "sm_80");
  EXPECT_EQ(cubinArch({"--generate-code=arch=compute_90,code=[compute_90,sm_90]"}, "sm_90"),
            "sm_90");
}

TEST(NvccFlags, SaysWhetherAnArchitectureIsNamed) {
  EXPECT_FALSE(namesArch({}));
  EXPECT_FALSE(namesArch({"-O3", "-I", "archive", "-DARCH=sm_90"}));
  for (const char *flag : {"-arch=sm_80", "-arch", "--gpu-architecture=sm_80", "-gencode",
                           "--generate-code=arch=compute_90,code=sm_90"})
    EXPECT_TRUE(namesArch({"-O3", flag})) << flag;
}

} // namespace
