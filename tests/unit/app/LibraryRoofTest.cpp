// SPDX-License-Identifier: Apache-2.0
// A row sum whose library call is compiled and run by processes that are played: when it is
// claimed, and when it is not.
#include "driver/app/library/LibraryRoof.h"

#include "fakes/FakeBench.h"
#include "fakes/FakeProcessRunner.h"
#include "fakes/Results.h"

#include <cstdlib>

namespace kopt {
namespace library_roof_cases {
namespace {

using namespace kopt::fakes;
using testing::AllOf;
using testing::HasSubstr;

constexpr std::size_t kRows = 8, kColumns = 16;
using Floats = std::vector<float>;

Floats floatsOf(const std::filesystem::path &file) {
  const std::string bytes = must(readFile(file));
  Floats values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}
Status writeFloats(const std::filesystem::path &file, const Floats &values) {
  return writeFileAtomically(
      file, {reinterpret_cast<const char *>(values.data()), values.size() * sizeof(float)});
}
void sumRows(const Floats &in, Floats &out) {
  for (std::size_t row = 0; row < kRows; ++row) {
    out[row] = 0;
    for (std::size_t i = 0; i < kColumns; ++i)
      out[row] += in[row * kColumns + i];
  }
}

/// A GPU that runs a function on the two buffers of a launch, or leaves them as they are.
class SumsRunner : public FakeRunner {
public:
  using Kernel = std::function<void(const Floats &, Floats &)>;
  SumsRunner(const std::filesystem::path &folder, Kernel kernel)
      : FakeRunner(folder), folder_(folder), kernel_(std::move(kernel)) {
    device().uuid = "GPU-00112233-4455-6677-8899-aabbccddeeff";
  }
  Result<ModuleInfo> load(const std::filesystem::path &module, const std::string &symbol) override {
    KOPT_TRY(const ModuleInfo info, FakeRunner::load(module, symbol));
    if (symbol == "kopt_nothing")
      nothing_ = info.id;
    return info;
  }
  Result<RunOutcome> run(ModuleId module, const Launch &launch,
                         const RunOptions &options) override {
    ++runs;
    EXPECT_EQ(launch.arguments.empty(), module == nothing_);
    std::mt19937 random(3);
    std::vector<Floats> contents;
    for (const Buffer &buffer : launch.buffers) {
      contents.emplace_back(buffer.bytes / sizeof(float), float(buffer.fill.low));
      if (buffer.fill.kind == FillKind::Uniform)
        for (float &value : contents.back())
          value = float(random() % 1000) / 1000;
    }
    if (module != nothing_ || (repeats && launch.buffers[1].fill.kind != FillKind::Uniform))
      kernel_(contents[0], contents[1]);
    RunOutcome outcome;
    for (std::size_t b = 0; b < contents.size(); ++b) {
      outcome.buffers.emplace_back(launch.buffers[b].readOnly
                                       ? std::filesystem::path()
                                       : folder_ / fmt::format("{}{}", options.slot, b));
      if (!launch.buffers[b].readOnly)
        KOPT_CHECK(writeFloats(outcome.buffers.back(), contents[b]));
    }
    return outcome;
  }

  bool repeats = false; ///< the launch was captured after the same one

private:
  std::filesystem::path folder_;
  Kernel kernel_;
  ModuleId nothing_ = 0;
};

class LibraryRoofTest : public testing::Test {
protected:
  LibraryRoofTest() {
    setenv("KOPT_LOCK_DIR", folder_.path().c_str(), 1);
    cuda_.nvcc = std::filesystem::path("/cuda/bin/nvcc");
    cuda_.root.folder = "/cuda";
    Launch &launch = subject_.workload.launches[0];
    launch.name = "rows";
    launch.buffers[0].bytes = kRows * kColumns * sizeof(float);
    launch.buffers[1].bytes = kRows * sizeof(float);
    KernelParam pointer;
    pointer.kind = ParamKind::Pointer;
    pointer.scalar = "f32";
    subject_.specialization.params = {pointer, pointer};
    trial_.candidate.proposer = "baseline";
    LaunchTiming timing;
    timing.launch = "rows";
    timing.cacheMode = CacheMode::Cold;
    timing.baselineSeconds = 34e-6;
    timing.candidateSeconds = 5e-6;
    trial_.timings = {timing};
    trial_.diagnosis.headroom = 1.5;
  }
  ~LibraryRoofTest() override { unsetenv("KOPT_LOCK_DIR"); }

  /// The library's program, which computes `call` from the files that it is given.
  void play(SumsRunner::Kernel call) {
    processes_.on({"/cuda/bin/nvcc"}, 0, "");
    processes_.on(
        {"/program", "00112233445566778899aabbccddeeff"},
        [call](const ProcessSpec &spec) -> Result<ProcessResult> {
          const auto in = std::ranges::find(spec.argv, "in"),
                     out = std::ranges::find(spec.argv, "out");
          EXPECT_EQ(std::vector(spec.argv.begin() + 2, in), (std::vector<std::string>{"8", "16"}));
          Floats result = floatsOf(out[1]);
          call(floatsOf(in[1]), result);
          KOPT_CHECK(writeFloats(out[3], result));
          ProcessResult done;
          done.out = R"({"warm": {"seconds": 4e-6, "low": 3.9e-6, "high": 4.1e-6, "samples": 200},)"
                     R"( "cold": {"seconds": 1e-5, "low": 9e-6, "high": 1.1e-5, "samples": 90}})";
          return done;
        });
  }
  /// Everything up to the trial's finding, of a kernel that computes this.
  LibraryRoof &judge(SumsRunner::Kernel kernel) {
    auto runner = std::make_unique<SumsRunner>(folder_.path(), std::move(kernel));
    runner->repeats = repeats_;
    device_.runner = std::move(runner);
    roof_.emplace(LibraryTools{device_, toolchain_, processes_, cuda_, folder_.path() / "library"},
                  subject_);
    roof_->recognise(subject_.workload);
    roof_->finish(trial_, subject_.workload);
    return *roof_;
  }
  std::size_t started(const std::string &program) const {
    return std::size_t(std::ranges::count_if(processes_.calls, [&](const ProcessSpec &spec) {
      return spec.argv[0].ends_with(program);
    }));
  }

  TemporaryDirectory folder_ = must(TemporaryDirectory::create("library"));
  PooledRunner device_;
  FakeToolchain toolchain_;
  FakeProcessRunner processes_;
  CudaToolkit cuda_;
  Subject subject_ = makeSubject();
  Trial trial_;
  bool repeats_ = false;
  std::optional<LibraryRoof> roof_;
};

TEST_F(LibraryRoofTest, TheSameOutputIsClaimedWithItsTimeAndAsWhatIsLeft) {
  play(sumRows);
  EXPECT_EQ(judge(sumRows).why(), "");
  ASSERT_EQ(trial_.diagnosis.hits.size(), 1u);
  const RuleHit &hit = trial_.diagnosis.hits[0];
  EXPECT_EQ(hit.id, LibraryRoof::kId);
  EXPECT_EQ(hit.severity, "high");
  EXPECT_EQ(hit.finding,
            "cub::DeviceSegmentedReduce::Sum computes launch rows in 10 us [9 us, 11 us] (the "
            "same output within the tolerance): it is 3.40x as fast");
  EXPECT_THAT(hit.skills, testing::ElementsAre("library-calls"));
  EXPECT_DOUBLE_EQ(trial_.diagnosis.headroom, 3.4);
  const std::vector<std::string> &nvcc = processes_.calls.at(0).argv;
  EXPECT_THAT(nvcc, testing::IsSupersetOf(
                        {"-arch=sm_90", "reduction.cu", "-DIN=f32", "-DOUT=f32", "-DCALL=Sum"}));
  EXPECT_THAT(must(readFile(folder_.path() / "library" / "reduction.cu")),
              HasSubstr("DeviceSegmentedReduce"));
}

// As programs that time a kernel launch it again and again.
TEST_F(LibraryRoofTest, ALaunchThatFindsItsOwnResultsIsRecognised) {
  repeats_ = true;
  play(sumRows);
  EXPECT_EQ(judge(sumRows).why(), "");
  EXPECT_EQ(trial_.diagnosis.hits.size(), 1u);
}

TEST_F(LibraryRoofTest, AWinnerIsComparedToo) {
  play(sumRows);
  judge(sumRows);
  Trial winner = trial_;
  winner.candidate.proposer = "transform";
  winner.diagnosis = {};
  roof_->finish(winner, subject_.workload);
  EXPECT_TRUE(winner.diagnosis.hits.empty()); // it stands for its parent's
  winner.purpose = Purpose::Confirmation;
  roof_->finish(winner, subject_.workload);
  EXPECT_THAT(winner.diagnosis.hits.at(0).finding, HasSubstr(": this kernel is 2.00x as fast"));
  EXPECT_EQ(winner.diagnosis.hits.at(0).severity, "low");
  winner.timings[0].cacheMode = CacheMode::Warm;
  winner.diagnosis = {};
  roof_->finish(winner, subject_.workload);
  EXPECT_THAT(winner.diagnosis.hits.at(0).finding,
              AllOf(HasSubstr("in 4 us"), HasSubstr("it is 1.25x as fast")));
}

TEST_F(LibraryRoofTest, AnotherOutputIsNotClaimed) {
  play([](const Floats &in, Floats &out) {
    sumRows(in, out);
    out[5] *= 1.001f; // the judge's tolerance is far less
  });
  EXPECT_THAT(judge(sumRows).why(),
              AllOf(HasSubstr("gives another output for launch rows"), HasSubstr("[5]")));
  EXPECT_TRUE(trial_.diagnosis.hits.empty());
  EXPECT_EQ(trial_.diagnosis.headroom, 1.5);
}

TEST_F(LibraryRoofTest, ResultsThatVaryProveNothing) {
  play(sumRows);
  subject_.workload.launches[0].buffers[1].varies = true;
  EXPECT_THAT(judge(sumRows).why(), HasSubstr("the results in 'out' vary"));
  EXPECT_TRUE(trial_.diagnosis.hits.empty());
}

TEST_F(LibraryRoofTest, NothingIsBuiltForAnotherKernel) {
  play(sumRows);
  EXPECT_THAT(judge([](const Floats &in, Floats &out) { out[0] = in[0] * in[1] + 3; }).why(),
              HasSubstr("no call of cuBLAS or CUB"));
  EXPECT_TRUE(processes_.calls.empty());
}

TEST_F(LibraryRoofTest, ContentsThatFitByChanceAreFoundOut) {
  play(sumRows);
  Fill ones;
  ones.kind = FillKind::Constant;
  ones.low = ones.high = 1;
  subject_.workload.launches[0].buffers[0].fill = ones;
  EXPECT_THAT(
      judge([](const Floats &in, Floats &out) { std::ranges::fill(out, 16 * in[0]); }).why(),
      HasSubstr("but only from its own contents"));
  EXPECT_TRUE(processes_.calls.empty());
  EXPECT_EQ(judge(sumRows).why(), ""); // a sum of ones is one all the same
}

TEST_F(LibraryRoofTest, SaysWhatIsMissing) {
  cuda_.nvcc = makeError(ErrorCode::Environment, "nvcc was not found");
  EXPECT_THAT(judge(sumRows).why(), AllOf(HasSubstr("DeviceSegmentedReduce::Sum computes"),
                                          HasSubstr("nvcc was not found")));
  cuda_.nvcc = std::filesystem::path("/cuda/bin/nvcc");
  processes_.on(
      {"nvcc"}, 1, "",
      "reduction.cu(5): fatal error: cub/device/device_reduce.cuh: No such file or directory\n");
  EXPECT_THAT(judge(sumRows).why(),
              AllOf(HasSubstr("is not built"), HasSubstr("device_reduce.cuh: No such file")));
  EXPECT_EQ(started("program"), 0u);
}

TEST_F(LibraryRoofTest, AProgramThatFailsIsNamed) {
  processes_.on({"nvcc"}, 0, "");
  processes_.on({"program"}, 1, "", "error: cublasCreate: CUBLAS_STATUS_NOT_INITIALIZED\n");
  EXPECT_THAT(judge(sumRows).why(), HasSubstr("CUBLAS_STATUS_NOT_INITIALIZED"));
}

TEST_F(LibraryRoofTest, NeedsAGpu) {
  device_.runner = std::make_unique<FakeRunner>(folder_.path(), true);
  LibraryRoof roof({device_, toolchain_, processes_, cuda_, folder_.path()}, subject_);
  roof.recognise(subject_.workload);
  EXPECT_THAT(roof.why(), HasSubstr("only on a GPU"));
}

} // namespace
} // namespace library_roof_cases
} // namespace kopt
