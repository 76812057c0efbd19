// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/args/NvccToClangArgs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <ostream>

namespace kopt::frontend {
namespace {

using Words = std::vector<std::string>;

struct Case {
  const char *name;
  Words flags, clang = {};
  std::optional<Words> nvcc = {}; ///< the flags without the inputs where nothing else is said
  Words architectures = {}, inputs = {};
  std::size_t notes = 0;
};

/// The name of a test holds its parameter: without this, its bytes, which are other ones in each
/// run.
void PrintTo(const Case &tested, std::ostream *out) { *out << tested.name; }

std::optional<std::string> readFile(const std::string &path) {
  if (path == "includes.rsp")
    return "-I\"/opt/a b\" -isystem /opt/sys\n-DFROM_RSP=\\\"x\\\"";
  if (path == "nested.rsp")
    return "--options-file includes.rsp -DOUTER";
  if (path == "loop.rsp")
    return "--options-file loop.rsp";
  return std::nullopt;
}

class TranslateNvcc : public testing::TestWithParam<Case> {};

TEST_P(TranslateNvcc, SplitsForClangAndNvcc) {
  const Case &test = GetParam();
  NvccCommand command = translateNvcc(test.flags, readFile);
  EXPECT_EQ(command.clang, test.clang);
  Words nvcc = test.flags;
  for (const std::string &input : test.inputs)
    std::erase(nvcc, input);
  EXPECT_EQ(command.nvcc, test.nvcc.value_or(nvcc));
  EXPECT_EQ(command.architectures, test.architectures);
  EXPECT_EQ(command.inputs, test.inputs);
  EXPECT_EQ(command.notes.size(), test.notes) << testing::PrintToString(command.notes);
}

const Case kCases[] = {
    {.name = "cmakeNinja",
     .flags = splitOptions(
         "-forward-unknown-to-host-compiler -DTILE=8 -I/p/include -isystem /s -O3 -std=c++17 "
         "--generate-code=arch=compute_90,code=[compute_90,sm_90] -lineinfo "
         "--expt-relaxed-constexpr -MD -MT a.o -MF a.o.d -x cu -c /p/a.cu -o a.o"),
     .clang = {"-DTILE=8", "-I", "/p/include", "-isystem", "/s", "-D__OPTIMIZE__=1", "-std=c++17",
               "-D__CUDACC_RELAXED_CONSTEXPR__=1"},
     .nvcc =
         Words{"-forward-unknown-to-host-compiler", "-DTILE=8", "-I/p/include", "-isystem", "/s",
               "-O3", "-std=c++17", "--generate-code=arch=compute_90,code=[compute_90,sm_90]",
               "-lineinfo", "--expt-relaxed-constexpr"},
     .architectures = {"sm_90"},
     .inputs = {"/p/a.cu"}},
    {.name = "separateValues",
     .flags = {"-D", "A=1", "-I", "x", "-std", "c++14", "-U", "B"},
     .clang = {"-DA=1", "-I", "x", "-std=c++14", "-UB"}},
    {.name = "listsOfMacros",
     .flags = {"-DA=1\\,2,B=\"x,y\",,C", "-D", "F(a\\,b)=a", "-UD,E", "-Xcompiler",
               "-DH=\"x,y\",-DI=\\\"z"},
     .clang = {"-DA=1,2", "-DB=\"x,y\"", "-DC", "-DF(a,b)=a", "-UD", "-UE", "-DH=\"x,y\"",
               "-DI=\"z"}},
    {.name = "longNames",
     .flags = {"--define-macro=A", "--include-path=x,y", "--std=c++20", "--pre-include=p.h"},
     .clang = {"-DA", "-I", "x", "-I", "y", "-std=c++20", "-include", "p.h"},
     .nvcc = Words{"--define-macro=A", "-I", "x", "-I", "y", "--std=c++20", "--pre-include=p.h"}},
    {.name = "listsOfPaths",
     .flags = {"-I", "a,b", "-isystem=c,,d", "-include", "e.h,f.h", "-Ig"},
     .clang = {"-I", "a", "-I", "b", "-isystem", "c", "-isystem", "d", "-include", "e.h",
               "-include", "f.h", "-I", "g"},
     .nvcc = Words{"-I", "a", "-I", "b", "-isystem", "c", "-isystem", "d", "-include", "e.h",
                   "-include", "f.h", "-Ig"}},
    {.name = "hostListsGoOn",
     .flags = {"-Xcompiler", "-isystem,a,-idirafter", "-DX", "-Xcompiler=b,-isystemc"},
     .clang = {"-isystem", "a", "-DX", "-idirafter", "b", "-isystemc"}},
    {.name = "gencodeSeparate",
     .flags = {"-gencode", "arch=compute_80,code=sm_86",
               "-gencode=arch=compute_100a,code=compute_100a"},
     .architectures = {"sm_86", "sm_100a"}},
    {.name = "arch", .flags = {"-arch=sm_75"}, .architectures = {"sm_75"}},
    {.name = "archNative", .flags = {"-arch=native"}},
    {.name = "hostPayload",
     .flags = {"-Xcompiler", "-DH=1,-Wall,-fPIC,-fno-exceptions,-I,/h", "-Xcompiler=-fopenmp"},
     .clang = {"-DH=1", "-fno-exceptions", "-I", "/h", "-D_OPENMP=201511"}},
    {.name = "optionsFile",
     .flags = {"--options-file", "includes.rsp", "a.cu"},
     .clang = {"-I", "/opt/a b", "-isystem", "/opt/sys", "-DFROM_RSP=\"x\""},
     .nvcc = Words{"-I/opt/a b", "-isystem", "/opt/sys", "-DFROM_RSP=\"x\""},
     .inputs = {"a.cu"}},
    {.name = "optionsFileNested",
     .flags = {"-optf=nested.rsp"},
     .clang = {"-I", "/opt/a b", "-isystem", "/opt/sys", "-DFROM_RSP=\"x\"", "-DOUTER"},
     .nvcc = Words{"-I/opt/a b", "-isystem", "/opt/sys", "-DFROM_RSP=\"x\"", "-DOUTER"}},
    {.name = "optionsFileMissing",
     .flags = {"--options-file", "absent.rsp"},
     .nvcc = Words{},
     .notes = 1},
    {.name = "optionsFileLoop",
     .flags = {"--options-file", "loop.rsp"},
     .nvcc = Words{},
     .notes = 1},
    {.name = "relocatable", .flags = {"-rdc=true"}, .clang = {"-D__CUDACC_RDC__=1", "-fgpu-rdc"}},
    {.name = "relocatableOff", .flags = {"-rdc=false"}},
    {.name = "deviceCompile",
     .flags = {"-dc", "a.cu"},
     .clang = {"-D__CUDACC_RDC__=1", "-fgpu-rdc"},
     .nvcc = Words{"-rdc=true"},
     .inputs = {"a.cu"}},
    {.name = "warningsAsErrors",
     .flags = {"-Werror", "all-warnings", "-arch=sm_90", "-O", "3", "a.cu"},
     .clang = {"-D__OPTIMIZE__=1"},
     .architectures = {"sm_90"},
     .inputs = {"a.cu"}},
    {.name = "hostMacros",
     .flags = {"-Xcompiler", "-O2 -mavx2,-mtune=native -march=native",
               "--compiler-options=-ffast-math", "-pthread", "-O0"},
     .clang = {"-D__OPTIMIZE__=1", "-mavx2", "-march=native", "-D__FAST_MATH__=1",
               "-D__FINITE_MATH_ONLY__=1", "-D_REENTRANT=1", "-U__OPTIMIZE__"}},
    {.name = "relocatableWithMoreNames",
     .flags = {"-default-stream", "per-thread", "-lto", "-noeh", "-dw"},
     .clang = {"-fgpu-default-stream=per-thread", "-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1",
               "-D__CUDACC_RDC__=1", "-fno-exceptions"},
     .nvcc = Words{"-default-stream", "per-thread", "-lto", "-noeh"}},
    {.name = "archTwice",
     .flags = {"-arch=sm_80", "--gpu-architecture", "compute_90"},
     .architectures = {"sm_90"}},
    {.name = "forwardedAlone",
     .flags = {"-Werror", "-O", "a.cu"},
     .clang = {"-D__OPTIMIZE__=1"},
     .inputs = {"a.cu"}},
    {.name = "definesOfNvcc",
     .flags = {"-G", "--extended-lambda", "-ewp", "-rdc", "false"},
     .clang = {"-D__CUDACC_DEBUG__=1", "-D__CUDACC_EXTENDED_LAMBDA__=1", "-D__CUDACC_EWP__=1"}},
    {.name = "templateDepth",
     .flags = {"-ftemplate-depth", "64"},
     .clang = {"-ftemplate-depth=64"}},
    {.name = "compilerBindir", .flags = {"-ccbin", "/usr/bin/g++-12", "-ccbin=g++"}},
    {.name = "perThreadStream",
     .flags = {"--default-stream", "per-thread"},
     .clang = {"-fgpu-default-stream=per-thread", "-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1"}},
    {.name = "linking",
     .flags = {"-lcublas", "-L/usr/lib", "-l", "curand", "-lineinfo"},
     .nvcc = Words{"-lineinfo"}},
    {.name = "ptxas", .flags = {"-Xptxas", "-v,-dlcm=ca", "--ptxas-options=-v"}},
    {.name = "forwardedToHost",
     .flags = {"-Wall", "-march=native", "-fno-rtti"},
     .clang = {"-march=native", "-fno-rtti"}},
    {.name = "unknown", .flags = {"--frobnicate"}, .notes = 1},
    {.name = "valueMissing", .flags = {"-I"}, .nvcc = Words{}, .notes = 1},
};

INSTANTIATE_TEST_SUITE_P(Table, TranslateNvcc, testing::ValuesIn(kCases),
                         [](const testing::TestParamInfo<Case> &info) {
                           return std::string(info.param.name);
                         });

/// The options of `nvcc --help` (13.0) that take a value, short and long.
TEST(TranslateNvccOptions, TakeTheirValuesApartAndJoined) {
  const Words valued = splitOptions(
      "-MF --dependency-output -o --output-file -include --pre-include -l --library -D "
      "--define-macro -U --undefine-macro -I --include-path -isystem --system-include -L "
      "--library-path -odir --output-directory -ccbin --compiler-bindir -arbin --archiver-binary "
      "-cudart --cudart -cudadevrt --cudadevrt -ldir --libdevice-directory -target-dir "
      "--target-directory -opt-info --optimization-info -O --optimize -Ofc --Ofast-compile -dopt "
      "--dopt -ftemplate-backtrace-limit --ftemplate-backtrace-limit -ftemplate-depth "
      "--ftemplate-depth -x --x -std --std -m --machine -Xcompiler --compiler-options -Xlinker "
      "--linker-options -Xarchive --archive-options -Xptxas --ptxas-options -Xnvlink "
      "--nvlink-options -static-global-template-stub --static-global-template-stub "
      "-device-entity-has-hidden-visibility --device-entity-has-hidden-visibility -t --threads "
      "-split-compile --split-compile -split-compile-extended --split-compile-extended "
      "-fdevice-time-trace --fdevice-time-trace -keep-dir --keep-dir -time --time -run-args "
      "--run-args -idp --input-drive-prefix -ddp --dependency-drive-prefix -dp --drive-prefix -MT "
      "--dependency-target-name -arch --gpu-architecture -code --gpu-code -gencode "
      "--generate-code -rdc --relocatable-device-code -e --entries -maxrregcount --maxrregcount "
      "-ftz --ftz -prec-div --prec-div -prec-sqrt --prec-sqrt -fmad --fmad -default-stream "
      "--default-stream -Werror --Werror -diag-error --diag-error -diag-suppress --diag-suppress "
      "-diag-warn --diag-warn -hls --host-linker-script -brief-diag --brief-diagnostics -jtd "
      "--jump-table-density -device-stack-protector --device-stack-protector -compress-mode "
      "--compress-mode -frandom-seed --frandom-seed -sanitize --sanitize");
  for (const std::string &option : valued) {
    const NvccCommand apart = translateNvcc({option, "value", "a.cu"}, readFile);
    EXPECT_EQ(apart.inputs, Words{"a.cu"}) << option;
    EXPECT_TRUE(apart.notes.empty()) << option;
    if (option == "-I") // nvcc's -I=x is the folder "=x"
      continue;
    const NvccCommand joined = translateNvcc({option + "=value", "a.cu"}, readFile);
    EXPECT_TRUE(joined.notes.empty()) << option;
    EXPECT_EQ(joined.clang, apart.clang) << option;
    EXPECT_EQ(joined.architectures, apart.architectures) << option;
  }
}

/// nvcc takes them by itself, so they are no flags for it.
TEST(TranslateNvccOptions, ComeFromTheEnvironmentToo) {
  setenv("NVCC_PREPEND_FLAGS", "-DFIRST -arch=sm_80", 1);
  setenv("NVCC_APPEND_FLAGS", "-DLAST='a b' -Xcompiler -fopenmp", 1);
  const NvccCommand command = translateNvcc({"-DMINE", "a.cu"}, readFile);
  unsetenv("NVCC_PREPEND_FLAGS");
  unsetenv("NVCC_APPEND_FLAGS");
  EXPECT_EQ(command.clang, (Words{"-DFIRST", "-DMINE", "-DLAST=a b", "-D_OPENMP=201511"}));
  EXPECT_EQ(command.nvcc, Words{"-DMINE"});
  EXPECT_EQ(command.architectures, Words{"sm_80"});
  EXPECT_EQ(command.inputs, Words{"a.cu"});
}

TEST(NvccMacros, DependOnTheVersion) {
  EXPECT_THAT(nvccMacros({"sm_90"}, "sm_90", {13, 5, 2}),
              testing::IsSupersetOf(
                  {"-D__CUDACC_VER_MAJOR__=13", "-D__CUDACC_VER_MINOR__=5",
                   "-D__CUDACC_VER_BUILD__=2", "-D__CUDA_API_VER_MAJOR__=13",
                   "-D__CUDA_API_VER_MINOR__=5", "-D__CUDACC_DEVICE_ATOMIC_BUILTINS__=1",
                   "-D__NVCC_DIAG_PRAGMA_SUPPORT__=1", "-DCUDA_DOUBLE_MATH_FUNCTIONS=1"}));
  EXPECT_THAT(nvccMacros({"sm_90"}, std::nullopt, {12, 4, 0}),
              testing::Not(testing::Contains(testing::AnyOf("-D__CUDACC_DEVICE_ATOMIC_BUILTINS__=1",
                                                            "-DCUDA_DOUBLE_MATH_FUNCTIONS=1"))));
}

TEST(NvccMacros, DependOnArchitectures) {
  const auto has = [](const Words &macros, const std::string &macro) {
    return std::find(macros.begin(), macros.end(), macro) != macros.end();
  };
  const Words both = nvccMacros({"sm_90a", "sm_80", "sm_90"}, "sm_90a");
  for (const char *macro :
       {"-D__NVCC__=1", "-D__CUDA_ARCH_LIST__=800,900", "-D__CUDA_ARCH_FEAT_SM90_ALL=1",
        "-D__CUDA_ARCH_SPECIFIC__=900", "-D__CUDA_ARCH_FAMILY_SPECIFIC__=900"})
    EXPECT_TRUE(has(both, macro)) << macro;
  const Words family = nvccMacros({"sm_100f"}, "sm_100f");
  EXPECT_TRUE(has(family, "-D__CUDA_ARCH_FAMILY_SPECIFIC__=1000"));
  EXPECT_FALSE(has(family, "-D__CUDA_ARCH_SPECIFIC__=1000"));
  EXPECT_FALSE(has(nvccMacros({"sm_90a"}, std::nullopt), "-D__CUDA_ARCH_SPECIFIC__=900"));
}

TEST(ClampArchitecture, KeepsWhatClangKnows) {
  EXPECT_EQ(clampArchitecture("sm_75"), "sm_75");
  EXPECT_EQ(clampArchitecture("sm_90a"), "sm_90a");
  EXPECT_EQ(clampArchitecture("sm_120"), "sm_90");
  EXPECT_EQ(clampArchitecture(""), "sm_90");
}

TEST(SplitOptions, FollowsQuotesAndBackslashes) {
  EXPECT_EQ(splitOptions("a  'b c'\t\"d \\\" e\" f\\ g"), (Words{"a", "b c", "d \" e", "f g"}));
  EXPECT_EQ(splitOptions("-DX= ''"), (Words{"-DX=", ""}));
}

} // namespace
} // namespace kopt::frontend
