// SPDX-License-Identifier: Apache-2.0
#include "driver/search/proposers/ControlsProposer.h"
#include "driver/device/build/PtxasInfo.h"
#include "driver/device/build/Toolchains.h"
#include "driver/judge/CandidateBuilder.h"
#include "fakes/OffersOf.h"
#include "fakes/Results.h"
#include "fakes/ScaleKernel.h"

#include <gmock/gmock.h>

using namespace kopt;
using namespace kopt::fakes;

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr const char *kNvcc = "nvcc 13.0.88";

class ControlsProposerTest : public ScaleKernel {
protected:
  ControlsProposerTest() { kernel_.unit = path_; }
  /// The parent's counters say that 80 registers leave room for 3 blocks of 256 threads, and warps
  /// for 8.
  static Trial profiled(const Candidate &candidate = {}) {
    Trial trial;
    trial.candidate = candidate;
    trial.candidateHash = candidate.contentHash();
    trial.counters = {
        {"launch__registers_per_thread", 80},       {"launch__block_size", 256},
        {"launch__occupancy_limit_registers", 3},   {"launch__occupancy_limit_warps", 8},
        {"launch__occupancy_limit_shared_mem", 16}, {"launch__occupancy_limit_blocks", 32}};
    return trial;
  }
  std::vector<Candidate> propose(std::vector<std::string> controls,
                                 const Trial &parent = profiled(),
                                 const std::string &toolchain = kNvcc) {
    const Workload work = workload();
    const DeviceInfo device;
    const SearchProblem problem{kernel_, specialization_, work, slice_, device};
    ControlsProposer proposer(std::move(controls), toolchain);
    return must(offersOf(proposer, problem, {parent}, 0, 10));
  }
  static std::vector<std::string> titles(const std::vector<Candidate> &candidates) {
    std::vector<std::string> titles;
    for (const Candidate &candidate : candidates)
      titles.push_back(candidate.title);
    return titles;
  }
};

TEST_F(ControlsProposerTest, RegistersAreLimitedForOneBlockMoreBeforeTheKernelItself) {
  const auto offers = propose({"registers"});
  // 65536 / (4 * 8 warps) is 2048 for a warp, and 65536 / (5 * 8) in units of 256 is 1536.
  EXPECT_THAT(titles(offers), ElementsAre("__maxnreg__(64)", "__maxnreg__(48)"));
  EXPECT_FALSE(offers[0].options);
  EXPECT_THAT(offers[0].chunks.at(1), StartsWith("__global__ __maxnreg__(64) void scale("));
  EXPECT_EQ(offers[0].technique, "register-limit");
}

TEST_F(ControlsProposerTest, AnOlderToolkitLimitsRegistersForTheFile) {
  const auto offers = propose({"registers"}, profiled(), "nvcc 12.3.52");
  EXPECT_THAT(titles(offers), ElementsAre("-maxrregcount=64", "-maxrregcount=48"));
  EXPECT_THAT(offers[0].chunks, IsEmpty());
}

TEST_F(ControlsProposerTest, WhatLimitsRegistersAlreadyIsLeftAlone) {
  Candidate bounded;
  bounded.chunks[1] =
      "__global__ void __launch_bounds__(32) scale(float *x, int n) { x[TILE] = n; }";
  EXPECT_THAT(propose({"registers"}, profiled(bounded)), IsEmpty());
  kernel_.compileFlags = {"--maxrregcount=32"};
  EXPECT_THAT(propose({"registers"}), IsEmpty());
  kernel_.compileFlags.clear();
  Trial full = profiled(); // more blocks do not fit for another reason
  full.counters["launch__occupancy_limit_shared_mem"] = 3;
  EXPECT_THAT(propose({"registers"}, full), IsEmpty());
  full.counters.clear(); // nothing is known
  EXPECT_THAT(propose({"registers"}, full), IsEmpty());
}

TEST_F(ControlsProposerTest, OptionsAreAddedToThoseOfTheParent) {
  const auto first = propose({"load-cache", "fast-math"});
  EXPECT_THAT(titles(first), ElementsAre("-Xptxas=-dlcm=cg", "-Xptxas=-dlcm=ca", "-use_fast_math"));
  const auto second = propose({"load-cache", "fast-math"}, profiled(first[0]));
  ASSERT_EQ(second.size(), 2u);
  EXPECT_THAT(second[1].options->flags(), ElementsAre("-Xptxas=-dlcm=cg", "-use_fast_math"));
  EXPECT_EQ(second[1].title, "-use_fast_math"); // what is new
  kernel_.compileFlags = {"-Xptxas", "-v,-dlcm=ca", "--use_fast_math"};
  EXPECT_THAT(propose({"load-cache", "fast-math"}), IsEmpty()); // what the user says stands
}

TEST_F(ControlsProposerTest, NothingIsTriedThatTheUserDoesNotAllow) {
  EXPECT_THAT(propose({"none"}), IsEmpty());
  for (const Candidate &candidate : propose({"registers", "load-cache"}))
    EXPECT_FALSE(candidate.options && candidate.options->fastMath);
}

TEST_F(ControlsProposerTest, OptionsAreForAFileThatIsCompiled) {
  kernel_.unit = (folder_.path() / "other.cu").string(); // the kernel is in a header of it
  EXPECT_THAT(propose({"load-cache"}), IsEmpty());
  EXPECT_EQ(propose({"registers"}).size(), 2u); // in the kernel's own text
}

TEST_F(ControlsProposerTest, AFileOfControlsNeedsAToolkitThatTakesIt) {
  const std::string file = (folder_.path() / "controls.acf").string();
  EXPECT_TRUE(checkControls({"registers", "fast-math"}, kNvcc));
  EXPECT_THAT(checkControls({"file:" + file}, kNvcc),
              fails({.code = ErrorCode::Usage,
                     .what = HasSubstr("has no --apply-controls"),
                     .hint = HasSubstr("CUDA 13.3")}));
  EXPECT_THAT(checkControls({"file:" + file}, "emulated (clang 19)"),
              fails({.code = ErrorCode::Usage}));
  EXPECT_THAT(checkControls({"file:" + file}, "nvcc 13.3.10"),
              fails({.code = ErrorCode::Environment, .what = HasSubstr(file)}));
  ASSERT_TRUE(writeFileAtomically(file, "one"));
  EXPECT_TRUE(checkControls({"file:" + file}, "nvcc 13.3.10"));
  const auto one = propose({"file:" + file}, profiled(), "nvcc 13.3.10");
  EXPECT_THAT(titles(one), ElementsAre("--apply-controls=" + file));
  ASSERT_TRUE(writeFileAtomically(file, "another"));
  EXPECT_NE(propose({"file:" + file}, profiled(), "nvcc 13.3.10").at(0).contentHash(),
            one.at(0).contentHash());
}

TEST_F(ControlsProposerTest, NvccBuildsWhatIsProposed) {
  const std::unique_ptr<ProcessRunner> processes = makeProcessRunner();
  const auto nvcc = makeNvccToolchain(*processes, CudaToolkit::find());
  if (!nvcc)
    GTEST_SKIP() << nvcc.error().what;
  kernel_.compileFlags = {"-Xptxas=-v"};
  specialization_.symbol = "_Z5scalePfi";
  // Loads, a function that fast math replaces, and many values at a time.
  const std::string body = "  float s[48];\n#pragma unroll\n  for (int i = 0; i < 48; ++i) s[i] = "
                           "x[i * n];\n  __syncthreads();\n#pragma unroll\n  for (int i = 0; i < "
                           "48; ++i) x[i * n + TILE] = sinf(s[i]) * s[47 - i];\n";
  const std::size_t open = slice_.find('{', slice_.find("__global__")) + 1;
  slice_.replace(open, slice_.find('}', open) - open, body);
  specialization_.chunks[1].sliceEnd = slice_.find('}', slice_.rfind("s[47")) + 1;
  SlicedKernel sliced{kernel_, specialization_, slice_};
  std::set<std::string> hashes;
  int number = 0;
  const auto build = [&](const Candidate &candidate) {
    const RenderedSlice rendered = must(renderSlice(sliced, candidate));
    const BuildOutcome outcome = must((*nvcc)->build(CandidateBuilder::requestOf(
        sliced, "sm_90", rendered, folder_.path() / std::to_string(number++) / "module")));
    EXPECT_TRUE(outcome.ok) << outcome.log;
    hashes.insert(outcome.hash);
    return parsePtxasInfo(outcome.log, "_Z5scalePfi")["ptxas__registers"];
  };
  const double before = build({});
  EXPECT_GT(before, 40);
  const auto limited = propose({"registers"});
  ASSERT_EQ(limited.size(), 2u);
  EXPECT_LE(build(limited[1]), 48);
  CompilerOptions older;
  older.maxRegisters = 32;
  Candidate whole;
  whole.options = older;
  EXPECT_LE(build(whole), 32);
  for (const Candidate &candidate : propose({"load-cache", "fast-math"}))
    build(candidate);
  EXPECT_GE(hashes.size(), 5u); // -dlcm=ca is the default of this architecture
}

} // namespace
