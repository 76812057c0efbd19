// SPDX-License-Identifier: Apache-2.0
#include "driver/device/sass/CodeCounter.h"
#include "driver/device/CudaToolkit.h"
#include "tests/fakes/FakeProcessRunner.h"
#include "tests/fakes/Results.h"
#include "tests/unit/device/Fixtures.h"

namespace kopt {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::filesystem::path kTool = "/opt/cuda/bin/nvdisasm";
const Result<std::filesystem::path> kMissing =
    makeError(ErrorCode::Environment, "nvdisasm was not found", "name it in NVDISASM_PATH");

TEST(Disassembler, ListsAModuleWithItsLines) {
  fakes::FakeProcessRunner processes;
  processes.on({"nvdisasm", "-gi", "-c", "/build/k.cubin"}, 0,
               *readFile(KOPT_SOURCE_DIR "/tests/unit/device/fixtures/classes.sm_90.sass"));
  const auto listing = must(Disassembler(processes, kTool).list("/build/k.cubin"));
  EXPECT_TRUE(listing.find(kLoops));
}

TEST(Disassembler, AMissingProgramIsNamed) {
  fakes::FakeProcessRunner processes;
  EXPECT_THAT(Disassembler(processes, kMissing).list("/build/k.cubin"),
              fails({.code = ErrorCode::Environment,
                     .what = HasSubstr("nvdisasm was not found"),
                     .hint = HasSubstr("NVDISASM_PATH")}));
}

TEST(Disassembler, AModuleThatItDoesNotKnowIsSaid) {
  fakes::FakeProcessRunner processes;
  processes.on({"nvdisasm"}, 255, "", "nvdisasm error   : Unrecognized architecture sm_110\n");
  EXPECT_THAT(Disassembler(processes, kTool).list("/build/k.cubin"),
              fails({.what = AllOf(HasSubstr("exit code 255"), HasSubstr("sm_110"))}));
}

TEST(Disassembler, AListingThatIsCutIsNoListing) {
  fakes::FakeProcessRunner processes;
  processes.on({"nvdisasm"}, [](const ProcessSpec &) -> Result<ProcessResult> {
    ProcessResult result;
    result.out = "\t.section\t.text.k,\n/*0000*/ EXIT ;\n";
    result.truncated = true;
    return result;
  });
  EXPECT_FALSE(Disassembler(processes, kTool).list("/build/k.cubin"));
}

TEST(Disassembler, OneThatHangsIsSaid) {
  fakes::FakeProcessRunner processes;
  processes.on({"nvdisasm"}, [](const ProcessSpec &spec) -> Result<ProcessResult> {
    EXPECT_TRUE(spec.timeout);
    ProcessResult result;
    result.timedOut = true;
    return result;
  });
  EXPECT_THAT(Disassembler(processes, kTool).list("/build/k.cubin"),
              fails({.what = HasSubstr("did not end")}));
}

TEST(CodeCounter, AddsToWhatIsKnownOfTheLaunch) {
  fakes::FakeProcessRunner processes;
  processes.on({"nvdisasm"}, 0,
               *readFile(KOPT_SOURCE_DIR "/tests/unit/device/fixtures/classes.sm_90.sass"));
  CodeCounter code(Disassembler(processes, kTool));
  ProfileOutcome outcome;
  outcome.counters["launch__block_size"] = 128;
  code.addTo(outcome, code.begin("/build/k.cubin"), kAccidental);
  EXPECT_EQ(outcome.counters.at("launch__block_size"), 128);
  EXPECT_EQ(outcome.counters.at("sass__inst_fp64"), 1);
  EXPECT_TRUE(outcome.stages.contains("disassemble"));
  EXPECT_TRUE(outcome.detail.empty());
  ProfileOutcome other; // several kernels, none of that name
  code.addTo(other, code.begin("/build/k.cubin"), "_Z5otherv");
  EXPECT_TRUE(other.counters.empty());
  EXPECT_THAT(other.detail, HasSubstr("_Z5otherv"));
}

TEST(CodeCounter, TakesTheOnlyKernelUnderAnotherName) {
  fakes::FakeProcessRunner processes;
  processes.on({"nvdisasm"}, 0, "\t.section\t.text._Z5tiledILi16EEvv,\n/*0000*/ EXIT ;\n");
  ProfileOutcome outcome;
  CodeCounter code(Disassembler(processes, kTool));
  code.addTo(outcome, code.begin("/build/k.cubin"), "_Z5tiledILi8EEvv");
  EXPECT_EQ(outcome.counters.at("sass__inst"), 1);
}

TEST(CodeCounter, GivesTheInstructionsOfEachLine) {
  fakes::FakeProcessRunner processes;
  processes.on({"nvdisasm"}, 0,
               *readFile(KOPT_SOURCE_DIR "/tests/unit/device/fixtures/classes.sm_90.sass"));
  const CodeCounter code(Disassembler(processes, kTool));
  const auto lines = must(code.lines("/build/k.cubin", kLoops));
  EXPECT_TRUE(lines.at(0).line == 21 || lines.at(0).line == 22); // the inner loop
  double sum = 0;
  for (const LineCost &line : lines) {
    EXPECT_EQ(line.sectors, 0);
    sum += line.instructions;
  }
  ProfileOutcome outcome;
  CodeCounter counter(Disassembler(processes, kTool));
  counter.addTo(outcome, counter.begin("/build/k.cubin"), kLoops);
  EXPECT_EQ(sum, outcome.counters.at("sass__inst"));
  EXPECT_FALSE(code.lines("/build/k.cubin", "_Z5otherv"));
  EXPECT_FALSE(CodeCounter(Disassembler(processes, kMissing)).lines("/build/k.cubin", kLoops));
}

TEST(CodeCounter, AMissingProgramIsSaidOnceBesideOtherReasons) {
  fakes::FakeProcessRunner processes;
  CodeCounter code(Disassembler(processes, kMissing));
  ProfileOutcome first, second;
  first.detail = "counters are denied";
  code.addTo(first, code.begin("/build/k.cubin"), kAccidental);
  code.addTo(second, code.begin("/build/k.cubin"), kAccidental);
  EXPECT_TRUE(first.detail.starts_with("counters are denied; nvdisasm was not found"))
      << first.detail;
  EXPECT_TRUE(second.detail.empty());
  EXPECT_TRUE(second.counters.empty());
}

// With the real tools where they are: what they print today is still understood.
TEST(Disassembler, TheInstalledOneListsWhatTheInstalledNvccBuilds) {
  const CudaToolkit cuda = CudaToolkit::find();
  const auto &tool = cuda.nvdisasm, &nvcc = cuda.nvcc;
  if (!tool || !nvcc)
    GTEST_SKIP() << "needs nvdisasm and nvcc";
  const auto processes = makeProcessRunner();
  const auto scratch = must(TemporaryDirectory::create("kopt-sass"));
  const auto module = scratch.path() / "classes.cubin";
  ProcessSpec build;
  build.argv = {nvcc->string(),
                "-cubin",
                "-lineinfo",
                "-arch=sm_90",
                "-o",
                module.string(),
                KOPT_SOURCE_DIR "/tests/unit/device/fixtures/classes.cu"};
  const auto built = processes->run(build);
  ASSERT_TRUE(built && built->ok()) << (built ? built->err : built.error().what);
  const auto listing = must(Disassembler(*processes, tool).list(module));
  const Counters counters = sassCounters(listing, kAccidental);
  ASSERT_TRUE(counters.contains("sass__inst_fp64"));
  EXPECT_EQ(counters.at("sass__inst_fp64"), 1);
  bool own = false;
  for (const SassInstruction &instruction : listing.find(kLoops)->instructions)
    for (const SourceFrame &frame : instruction.frames)
      own |= frame.file.ends_with("fixtures/classes.cu") && frame.line == 22;
  EXPECT_TRUE(own);
}

} // namespace
} // namespace kopt
