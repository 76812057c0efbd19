// SPDX-License-Identifier: Apache-2.0
// Minimal pairs: one baseline, one change each, and the finding it must have.
#include "clang_plugin/screen/Screen.h"

#include "unit/clang_plugin/screen/ScreenSample.h"

#include <cstdlib>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopt::frontend {
namespace {

using testing::HasSubstr;

struct Pair {
  const char *name, *from, *to, *id;
  ScreenSeverity severity;
};
void PrintTo(const Pair &pair, std::ostream *out) { *out << pair.name; }

class ScreenPair : public testing::TestWithParam<Pair> {};

TEST_P(ScreenPair, IsFound) {
  const Pair &pair = GetParam();
  const auto findings = screen(replaced(kBaseline, pair.from, pair.to));
  bool isFound = false;
  for (const ScreenFinding &finding : findings) {
    isFound |= finding.id == pair.id && finding.severity == pair.severity;
    // Nothing worse than what was asked for.
    EXPECT_FALSE(pair.severity == ScreenSeverity::Flag &&
                 finding.severity == ScreenSeverity::Reject)
        << finding.message;
  }
  EXPECT_TRUE(isFound) << describe(findings);
}

constexpr auto R = ScreenSeverity::Reject;
constexpr auto F = ScreenSeverity::Flag;
const char kKernel[] = "__global__ void k(";
const char kFirst[] = "int i = blockIdx.x * blockDim.x + threadIdx.x;";

INSTANTIATE_TEST_SUITE_P(
    Pairs, ScreenPair,
    testing::Values(
        Pair{"hostFunctionChanged", "return x + 1;", "return x + 2;", "host-code", R},
        Pair{"hostFunctionRemoved", "int hostOnly(int x) { return x + 1; }\n", "", "host-code", R},
        Pair{"hostFunctionAdded", "int hostOnly", "int more() { return 1; }\n$", "host-code", R},
        Pair{"hostInitializerRuns", "int hostOnly(int x) { return x + 1; }",
             "$\nconst int evil = hostOnly(1);", "host-code", R},
        Pair{"otherKernelChanged", "a[0] = 1;", "a[0] = 2;", "other-kernel", R},
        Pair{"otherKernelAdded", "__global__ void other", "__global__ void third() {}\n$",
             "other-kernel", R},
        Pair{"constantMemoryChanged", "weights[4]", "weights[8]", "device-variable", R},
        Pair{"mutableDeviceVariable", "__constant__", "__device__ int calls;\n$", "mutable-global",
             R},
        Pair{"managedVariable", "__constant__", "__device__ __managed__ int calls;\n$",
             "mutable-global", R},
        Pair{"mutablePartOfAConstant", "__syncthreads();",
             "struct Kept { mutable int times; }; static const Kept kept{0}; kept.times += 1; $",
             "mutable-global", R},
        Pair{"constTakenFromATable", "__syncthreads();",
             "static const float kept[4] = {}; const float *p = kept; ((float *)p)[i % 4] = v; $",
             "mutable-global", R},
        Pair{"addressOfATableAsANumber", "__syncthreads();",
             "static const float kept[4] = {}; *(float *)(unsigned long long)&kept[1] = v; $",
             "mutable-global", R},
        Pair{"mutableHostVariable", "__constant__", "static int calls;\n$", "mutable-global", R},
        Pair{"mutableStaticMember", "struct Scale {",
             "struct Cache { static inline __device__ int hits = 0; };\n$", "mutable-global", R},
        Pair{"staticLocal", kFirst,
             "static int calls; int i = blockIdx.x * blockDim.x + threadIdx.x + 0 * calls++;",
             "mutable-global", R},
        Pair{"parameterAdded", "int n, Scale s", "$, int more", "signature", R},
        Pair{"parameterTypeChanged", "const float *in, float *out", "const double *in, float *out",
             "signature", R},
        Pair{"parametersSwapped", "int n, Scale s", "Scale s, int n", "signature", R},
        Pair{"renamed", "void k(", "void k2(", "signature", R},
        Pair{"externC", kKernel, "extern \"C\" $", "signature", R},
        Pair{"moved", kKernel, "namespace n { struct Scale2 {}; }\nstatic $", "signature", R},
        Pair{"templated", kKernel, "template <int N = 1> $", "signature", R},
        Pair{"constructor", "__device__ float twice",
             "__device__ __attribute__((constructor)) void start() {}\n$", "attribute", R},
        Pair{"includeWithinTheCode", kKernel, "#include <math_constants.h>\n$", "include", R},
        Pair{"includeOfAnyPlace", "#include <cuda_fp16.h>", "$\n#include \"/etc/hostname\"",
             "include", R},
        Pair{"includeFromAbove", "#include <cuda_fp16.h>", "$\n#include \"../secret.h\"", "include",
             R},
        Pair{"includeOfKopts", "#include <cuda_fp16.h>", "$\n#include <kopt_emulated/hooks.h>",
             "include", R},
        Pair{"includeByAMacro", "#include <cuda_fp16.h>", "$\n#define WHAT <cuda.h>\n#include WHAT",
             "include", R},
        Pair{"mutablePartOfATable", "__constant__",
             "struct Kept { mutable int times; };\n__device__ const Kept kept{0};\n$",
             "mutable-global", R},
        Pair{"includeRemoved", "#include <cuda_fp16.h>", "", "include", R},
        Pair{"hasInclude", kFirst, "#if __has_include(<secret>)\n#endif\n$", "compiler-conditional",
             R},
        Pair{"compilerConditional", kFirst, "#ifdef __clang__\n#endif\n$", "compiler-conditional",
             R},
        Pair{"emulatedDevice", kFirst, "#ifdef KOPT_EMULATED\n#endif\n$", "compiler-conditional",
             R},
        Pair{"hostProcessor", kFirst, "#if __SSE2__\n#endif\n$", "compiler-conditional", R},
        Pair{"conditionBehindAMacro", kFirst, "#define WHERE __SSE2__\n#if WHERE\n#endif\n$",
             "compiler-conditional", R},
        Pair{"lineNumber", kFirst,
             "int i = blockIdx.x * blockDim.x + threadIdx.x + (__LINE__ > 99);",
             "compiler-conditional", R},
        Pair{"fileName", kFirst,
             "int i = blockIdx.x * blockDim.x + threadIdx.x + (__builtin_FILE()[0] == 'x');",
             "compiler-conditional", R},
        Pair{"functionOfTheDevice", "__syncthreads();", "kopt_emulated_fence(0);",
             "compiler-conditional", R},
        Pair{"lineMarker", "constexpr int kBlock", "#line 1 \"device.h\"\n$", "line-marker", R},
        Pair{"clusterAdded", "__global__ void k", "__global__ void __cluster_dims__(2, 1, 1) k",
             "attribute", R},
        Pair{"clusterByItsAttribute", "__global__ void k",
             "__global__ __attribute__((cluster_dims(2))) void k", "attribute", R},
        Pair{"clusterByAMacro", "constexpr int kBlock", "#define PAIRED __cluster_dims__\n$",
             "attribute", R},
        Pair{"blockSizeAttribute", "__global__ void k",
             "__global__ void __block_size__((256, 1, 1), (2, 1, 1)) k", "attribute", R},
        Pair{"pragmaMacro", "constexpr int kBlock", "#pragma push_macro(\"min\")\n$", "pragma", R},
        Pair{"pragmaOperator", "constexpr int kBlock",
             "_Pragma(\"redefine_extname twice other\")\n$", "pragma", R},
        Pair{"assembly", kFirst, "asm volatile(\"nop;\"); $", "inline-asm", R},
        Pair{"fileAssembly", "__constant__", "asm(\".incbin \\\"/etc/hostname\\\"\");\n$",
             "inline-asm", R},
        Pair{"clock", "float v = i < n ?", "float v = clock64() == 0 ? 1.0f : i < n ?", "clock", R},
        Pair{"clockInHelper", "return x * 2;", "return x * 2 + (clock() == 1);", "clock", R},
        Pair{"deviceNew", kFirst, "$ delete[] new float[4];", "device-heap", R},
        Pair{"deviceMalloc", kFirst, "$ free(malloc(4));", "device-heap", R},
        Pair{"elision", kFirst, "$ // ... rest unchanged ...", "elision", R},
        Pair{"escapedIdentifier", "float v = i", "float \\u00e9 = 1; $", "escaped-identifier", R},
        Pair{"doesNotParse", "float v = i", "float v == i", "parse", F},
        Pair{"archConditional", kFirst, "#if __CUDA_ARCH__ >= 800\n#endif\n$", "arch-conditional",
             F},
        Pair{"conditional", kFirst, "#if kBlock\n#endif\n$", "conditional", F},
        Pair{"barrierRemoved", "__syncthreads();", "", "barrier-removed", F},
        Pair{"atomicRemoved", "atomicAdd(&out[0], v);", "out[0] += v;", "atomic-removed", F},
        Pair{"fenceRemoved", "__threadfence();", "", "fence-removed", F},
        Pair{"guardRemoved", "if (i < n) out[i] =", "out[i] =", "bounds-check", F},
        Pair{"shortVariable", "int i = blockIdx", "short i = blockIdx", "short-index", F},
        Pair{"shortBlock", "int i = blockIdx.x *", "unsigned short b = blockIdx.x; int i = b *",
             "short-index", F},
        Pair{"floatIndex", "out[i] =", "out[int(float(i))] =", "short-index", F},
        Pair{"shortProduct", "blockIdx.x * blockDim.x", "__mul24(blockIdx.x, blockDim.x)",
             "short-product", F},
        Pair{"blockScope", "atomicAdd(&out[0], v);", "atomicAdd_block(&out[0], v);", "atomic-scope",
             F},
        Pair{"shortCast", "out[i] =", "out[(unsigned short)i] =", "short-index", F},
        Pair{"parameterUnused", "* s.factor", "", "unused-parameter", F},
        Pair{"parameterUnusedButCast", "* s.factor", "* 2.0f; (void)s; v = v", "unused-parameter",
             F},
        Pair{"fastFunction", "expf(v)", "__$", "precision", F},
        Pair{"half", "float v = i < n ? in[i] : 0.0f;",
             "float v = __half2float(__float2half(i < n ? in[i] : 0.0f));", "precision", F},
        Pair{"volatile", "__shared__ float", "volatile $", "volatile", F},
        Pair{"cacheHint", "? in[i]", "? __ldg(&in[i])", "cache-hint", F},
        Pair{"printing", "__syncthreads();", "$ printf(\"x\");", "print", F},
        Pair{"sharedFunctionChanged", "(a + b - 1) / b", "a / b + (a % b != 0)", "shared-function",
             F},
        Pair{"typeChanged", "struct Scale { float factor; }",
             "struct Scale { float factor; float more; }", "type-changed", F},
        Pair{"macroOverName", "constexpr int kBlock", "#define twice(x) (x)\n$", "macro", F},
        Pair{"dataTable", "constexpr int kBlock",
             "constexpr int kTable[] = "
             "{1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,"
             "32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,51,52,53,54,55,56,57,58,59,"
             "60,61,62,63,64,65};\n$",
             "data-table", F}),
    [](const testing::TestParamInfo<Pair> &info) { return info.param.name; });

TEST(Screen, FindsNothingInTheBaselineItself) { EXPECT_EQ(describe(screen(kBaseline)), ""); }

TEST(Screen, IgnoresLayoutAndComments) {
  EXPECT_EQ(describe(screen(replaced(replaced(kBaseline, "int hostOnly(int x) {",
                                              "int hostOnly( int x )\n{ // as ever\n"),
                                     "__syncthreads();", "// all have stored\n  $"))),
            "");
}

TEST(Screen, HostCodeBehindAConditionalIsFound) {
  const auto findings = screen(std::string(kBaseline) +
                               "#ifndef __CUDA_ARCH__\nint hidden() { return 7; }\n#endif\n");
  EXPECT_THAT(describe(findings), HasSubstr("reject host-code"));
}

TEST(Screen, TokensAreJudgedWhereTheCandidateDoesNotParse) {
  const auto findings =
      screen("#include \"/etc/hostname\"\n" + replaced(kBaseline, "float v = i", "float v == i"));
  EXPECT_THAT(describe(findings), HasSubstr("reject include"));
  EXPECT_THAT(describe(findings), HasSubstr("flag parse"));
}

TEST(Screen, InlinePtxOfTheListIsFlagged) {
  for (const char *taken : {"asm(\"ld.global.nc.f32 %0, [%1];\" : \"=f\"(v) : \"l\"(in + i));",
                            "asm volatile(\"fence.acq_rel.gpu;\" ::: \"memory\");",
                            "asm(\"mov.u32 %0, %%laneid;\" : \"=r\"(i));"})
    EXPECT_EQ(describe(screen(replaced(kBaseline, "__syncthreads();",
                                       std::string("__syncthreads();\n") + taken))),
              "flag inline-ptx line 15: new inline PTX, which no check but those on a GPU can look "
              "into\n")
        << taken;
  EXPECT_EQ(describe(screen(
                replaced(kBaseline, "__syncthreads();", "$ asm volatile(\"\" ::: \"memory\");"))),
            "");
}

TEST(Screen, OtherInlinePtxIsRefusedByItsNameAndLine) {
  const std::string candidate =
      replaced(kBaseline, "__syncthreads();",
               "$\n  asm volatile(\"mov.u64 %0, %%clock64;\" : \"=l\"(out));");
  EXPECT_THAT(describe(screen(candidate)),
              HasSubstr("reject inline-asm line 15: inline PTX has the register '%clock64'"));
  // And where the candidate cannot be parsed, by its tokens.
  EXPECT_THAT(describe(screen(replaced(candidate, "float v = i", "float v == i"))),
              HasSubstr("reject inline-asm line 15: inline PTX has the register '%clock64'"));
  EXPECT_THAT(describe(screen(replaced(candidate, "mov.u64 %0, %%clock64;", "membar.gl;"))),
              testing::Not(HasSubstr("reject")));
}

TEST(Screen, ACandidateMayBringTablesHeadersAndNames) {
  for (const char *added :
       {"__constant__ const int kFirst[4] = {1, 2, 3, 4};\n",
        "__constant__ float kTaps[3] = {0.25f, 0.5f, 0.25f};\n",
        "__device__ constexpr int kSteps[2] = {1, 2};\n",
        "static constexpr __device__ int kMore[2] = {1, 2};\n",
        "namespace fresh { struct Pair { int a, b; }; }\nnamespace f = fresh;\nusing f::Pair;\n",
        "#define HALF(v) ((v) / 2)\n", "template <int N> struct Wide { float v[N]; };\n"})
    EXPECT_EQ(describe(screen("#include <math_constants.h>\n" +
                              replaced(kBaseline, kKernel, std::string(added) + "$"))),
              "")
        << added;
}

TEST(Screen, AnIndexFromATableIsNoWayToWriteIt) {
  EXPECT_EQ(describe(screen(replaced(
                replaced(kBaseline, kKernel, "__constant__ const int kOffsets[2] = {0, 1};\n$"),
                "__syncthreads();", "v += *(float *)(in + kOffsets[i & 1]); $"))),
            "");
}

TEST(Screen, SaysOnlyParseOfABrokenCandidate) {
  const auto findings = screen(replaced(kBaseline, "float v = i", "float v == i"));
  ASSERT_EQ(findings.size(), 1u) << describe(findings);
  EXPECT_EQ(findings[0].id, "parse");
  EXPECT_EQ(findings[0].line, 12u);
}

TEST(Screen, FailsOnABrokenBaseline) {
  setenv("KOPT_CUDA_PATH", "none", 1);
  auto findings = screenCandidate({"__global__ void k( {", kBaseline, "k", "k", "k", {}, "/tmp"});
  ASSERT_FALSE(static_cast<bool>(findings));
  EXPECT_THAT(llvm::toString(findings.takeError()), HasSubstr("baseline does not parse"));
}

TEST(Screen, ExpressionChangesWithItsTemplateArguments) {
  const std::string baseline =
      "template <int N> __global__ void k(float *a) { a[threadIdx.x % N] = N; }\n"
      "void *reference() { return (void *)&k<8>; }\n";
  const std::string candidate = replaced(baseline, "k<8>", "k<16>");
  EXPECT_EQ(describe(screen(candidate, baseline, "k<16>", "k<8>")), "");
  EXPECT_THAT(describe(screen(replaced(candidate, "&k<16>", "($)"), baseline, "k<16>", "k<8>")),
              HasSubstr("reject host-code"));
}

/// Changes that good candidates make. None may be refused.
void expectNoReject(const std::vector<ScreenFinding> &findings) {
  for (const ScreenFinding &finding : findings)
    EXPECT_EQ(finding.severity, ScreenSeverity::Flag) << describe(findings);
}

TEST(ScreenControls, RefactoringIntoADeviceFunction) {
  EXPECT_EQ(describe(screen(replaced(replaced(kBaseline, kKernel,
                                              "template <typename T> __device__ T load(const T *p, "
                                              "int i, int n) { return i < n ? p[i] : T(0); }\n$"),
                                     "i < n ? in[i] : 0.0f", "load(in, i, n)"))),
            "");
}

TEST(ScreenControls, ChangedBlockConstant) {
  EXPECT_EQ(describe(screen(replaced(kBaseline, "kBlock = 256", "kBlock = 512"))), "");
}

TEST(ScreenControls, NamesOfClusterAttributesAreNamesElsewhere) {
  EXPECT_EQ(
      describe(screen(replaced(kBaseline, kFirst,
                               "const int block_size = blockDim.x, cluster_dims(1); "
                               "int i = blockIdx.x * block_size + threadIdx.x * cluster_dims;"))),
      "");
}

TEST(ScreenControls, GridStrideLoopForAGuard) {
  const std::string baseline =
      "__global__ void k(const float *in, float *out, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) out[i] = in[i] * 2;\n}\n";
  const std::string candidate =
      "__global__ void __launch_bounds__(256) k(const float *__restrict__ in, float *__restrict__ "
      "out, int n) {\n"
      "  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)\n"
      "    out[i] = in[i] * 2;\n}\n";
  EXPECT_EQ(describe(screen(candidate, baseline)), "");
}

TEST(ScreenControls, VectorLoadsWithATail) {
  const std::string baseline =
      "__global__ void k(const float *in, float *out, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) out[i] = in[i] * 2;\n}\n";
  const std::string candidate =
      "__global__ void k(const float *in, float *out, int n) {\n"
      "  int stride = gridDim.x * blockDim.x, first = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  const float4 *in4 = reinterpret_cast<const float4 *>(in); float4 *out4 = "
      "reinterpret_cast<float4 *>(out);\n"
      "  for (int i = first; i < n / 4; i += stride) { float4 v = in4[i]; v.x *= 2; v.y *= 2; v.z "
      "*= 2; v.w *= 2; out4[i] = v; }\n"
      "  for (int i = n / 4 * 4 + first; i < n; i += stride) out[i] = in[i] * 2; // the tail\n}\n";
  EXPECT_EQ(describe(screen(candidate, baseline)), "");
}

TEST(ScreenControls, Tiling) {
  const std::string baseline =
      "__global__ void k(const float *a, const float *b, float *c, int n) {\n"
      "  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + "
      "threadIdx.y;\n"
      "  if (x >= n || y >= n) return;\n  float s = 0;\n  for (int i = 0; i < n; ++i) s += a[y * n "
      "+ i] * b[i * n + x];\n"
      "  c[y * n + x] = s;\n}\n";
  const std::string candidate =
      "namespace { constexpr int kTile = 16; struct Pair { float a, b; }; using Row = float[kTile "
      "+ 1]; }\n"
      "__global__ void k(const float *a, const float *b, float *c, int n) {\n"
      "  __shared__ float ta[kTile][kTile + 1], tb[kTile][kTile];\n"
      "  int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;\n  float "
      "s = 0;\n"
      "  for (int t = 0; t < n; t += kTile) {\n"
      "    ta[threadIdx.y][threadIdx.x] = y < n && t + threadIdx.x < n ? a[y * n + t + "
      "threadIdx.x] : 0.0f;\n"
      "    tb[threadIdx.y][threadIdx.x] = x < n && t + threadIdx.y < n ? b[(t + threadIdx.y) * n + "
      "x] : 0.0f;\n"
      "    __syncthreads();\n#pragma unroll\n"
      "    for (int i = 0; i < kTile; ++i) s += ta[threadIdx.y][i] * tb[i][threadIdx.x];\n    "
      "__syncthreads();\n  }\n"
      "  if (x < n && y < n) c[y * n + x] = s;\n}\n";
  EXPECT_EQ(describe(screen(candidate, baseline)), "");
}

TEST(ScreenControls, ShuffleReduction) {
  const std::string baseline =
      "__global__ void k(const float *in, float *out, int n) {\n  __shared__ float s[256];\n"
      "  int i = blockIdx.x * 256 + threadIdx.x;\n  s[threadIdx.x] = i < n ? in[i] : 0;\n  "
      "__syncthreads();\n"
      "  for (int h = 128; h > 0; h /= 2) { if (threadIdx.x < h) s[threadIdx.x] += s[threadIdx.x + "
      "h]; __syncthreads(); }\n"
      "  if (threadIdx.x == 0) atomicAdd(out, s[0]);\n}\n";
  const std::string candidate =
      "__device__ __forceinline__ float warpSum(float v) {\n"
      "  for (int o = 16; o > 0; o /= 2) v += __shfl_down_sync(0xffffffffu, v, o);\n  return "
      "v;\n}\n"
      "__global__ void k(const float *in, float *out, int n) {\n  __shared__ float s[8];\n"
      "  int i = blockIdx.x * 256 + threadIdx.x;\n  float v = warpSum(i < n ? in[i] : 0);\n"
      "  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;\n  __syncthreads();\n"
      "  if (threadIdx.x < 32) { v = warpSum(threadIdx.x < 8 ? s[threadIdx.x] : 0); if "
      "(threadIdx.x == 0) atomicAdd(out, v); }\n}\n";
  expectNoReject(screen(candidate, baseline));
}

TEST(Screen, WhatFitsIsNoShortIndex) {
  for (const char *to : {"unsigned char lane = threadIdx.x % 32; int i = lane + blockIdx",
                         "const short t = threadIdx.x; int i = t + blockIdx"})
    for (const ScreenFinding &finding : screen(replaced(kBaseline, "int i = blockIdx", to)))
      EXPECT_NE(finding.id, "short-index") << to;
  const auto shared =
      screen(replaced(kBaseline, "atomicAdd(&out[0], v);", "$ atomicAdd_block(&tile[0], v);"));
  EXPECT_THAT(describe(shared), testing::Not(HasSubstr("atomic-scope")));
}

/// With `twice` and kBlock used by code outside, which calls soft(), max() and has a word
/// `spelled`.
std::vector<ScreenFinding> screenShared(const std::string &candidate, const std::string &own = "") {
  setenv("KOPT_CUDA_PATH", "none", 1);
  const std::string baseline = kBaseline;
  ScreenRequest request{baseline, candidate, "k", "k", "k", {}, "/tmp", {}};
  for (const char *text :
       {"constexpr int kBlock = 256;", "__device__ float twice(float x) { return x * 2; }"}) {
    const auto at = static_cast<unsigned>(baseline.find(text));
    const auto after = baseline.substr(at + strlen(text), 8);
    const auto newAt =
        text[0] == 'c'
            ? at
            : static_cast<unsigned>(candidate.find("struct Scale { float factor; };") + 32);
    const auto newEnd = candidate.find(after, newAt);
    request.shared.texts.push_back({text, "'level' (a.cu:12)", at,
                                    static_cast<unsigned>(at + strlen(text)), newAt,
                                    static_cast<unsigned>(newEnd)});
  }
  request.shared.names = {{"soft", "'level' (a.cu:12)", true},
                          {"spelled", "'level' (a.cu:12)", false},
                          {"twice", "'level' (a.cu:12)", true}};
  if (const auto at = candidate.find(own); !own.empty() && at != std::string::npos)
    request.shared.own = {{at, at + own.size()}};
  auto findings = screenCandidate(request);
  if (!findings) {
    ADD_FAILURE() << llvm::toString(findings.takeError());
    return {};
  }
  return *findings;
}

TEST(ScreenShared, WhatOthersUseStaysAsItIs) {
  for (const auto &[from, to] : std::vector<std::pair<std::string, std::string>>{
           {"return x * 2;", "return x + x;"},
           {"kBlock = 256", "kBlock = 512"},
           {"__device__ float twice", "static __device__ float twice"},
           {"__device__ float twice(float x) { return x * 2; }",
            "\n#if 0\n__device__ float twice(float x) { return x * 2; }\n#endif\n__device__ float "
            "twice(float x) { return x + x; }"},
           {"__device__ float twice(float x) { return x * 2; }",
            "namespace a { __device__ float twice(float x) { return x * 2; }\n}\n__device__ float "
            "twice(float x) { return x + x; }"}})
    EXPECT_THAT(describe(screenShared(replaced(kBaseline, from, to))),
                HasSubstr("reject shared-code"))
        << to;
}

TEST(ScreenShared, NamesThatOthersCallAreTaken) {
  for (const char *added :
       {"__device__ float soft(float v) { return v; }\n",
        "__device__ double twice(double v) { return v; }\n",
        "inline namespace fresh { __device__ float soft(float v) { return v; } }\n",
        "namespace fresh { __device__ float soft(float v) { return v; } }\nusing namespace "
        "fresh;\n",
        "struct soft { int i; };\n", "#define spelled 3\n", "#define soft(v) (v)\n"})
    EXPECT_THAT(describe(screenShared(replaced(kBaseline, kKernel, std::string(added) + "$"))),
                HasSubstr("reject shared-code"))
        << added;
}

TEST(ScreenShared, WhatTheUsersFilesHaveIsNoRival) {
  for (const std::string own :
       {"__device__ float soft(float v) { return v; }", "struct soft { int i; };",
        "#define spelled 3", "constexpr int soft = 32;"}) {
    const std::string candidate = replaced(kBaseline, kKernel, own + "\n\n$");
    EXPECT_EQ(describe(screenShared(candidate, own)), "") << own;
    const std::string more =
        replaced(candidate, kKernel, "__device__ double soft(double v) { return v; }\n$");
    EXPECT_THAT(describe(screenShared(more, own)),
                testing::AnyOf(HasSubstr("reject shared-code"),
                               HasSubstr("flag parse"))) // a variable of that name
        << own;
  }
}

TEST(ScreenShared, WhatOthersDoNotSeeIsFree) {
  for (const char *added :
       {"__device__ float spelled(float v) { return v; }\n",
        "namespace fresh { __device__ float soft(float v) { return v; } }\n", "#define OWN 3\n",
        "__device__ float own(float v) { float soft = v; return soft; }\n"})
    EXPECT_EQ(describe(screenShared(replaced(kBaseline, kKernel, std::string(added) + "$"))), "")
        << added;
  EXPECT_EQ(describe(screenShared(kBaseline)), "");
  EXPECT_EQ(
      describe(screenShared(replaced(
          kBaseline, "return x * 2; }",
          "return x  * 2; /* as ever */ }\n__device__ float halved(float x) { return x / 2; }"))),
      "");
}

} // namespace
} // namespace kopt::frontend
