// SPDX-License-Identifier: Apache-2.0
// Whether verdicts on times are true, on a GPU. Usage: timing_truth PATH/TO/kopt-runner [--aa N]
// [--differences N]
// [--min-gain G] [--check].
//
// Identical machine code against itself (A/A), over kernels from 3 us to 10 ms: each verdict of
// Faster or Slower is false. Then true differences of 2% and 1%, made by a calibrated amount of
// work: each verdict but Faster misses one. Every comparison is what an evaluation does:
// PairedTiming in kopt-runner, pairedSpeedup() and decideVerdict() here.
//
// Prints a Markdown table with shares and their 95% Wilson intervals, and the time a verdict takes.
// With --check the exit status is 1 where false verdicts are more than 1%, or fewer than 95% of the
// 2% and 70% of the 1% differences are found, those of them that are more than the smallest gain.
// 77: there is no GPU or no nvcc.
#include "driver/device/Toolchain.h"
#include "driver/device/build/Toolchains.h"
#include "driver/device/runner/RunnerClient.h"
#include "driver/device/runner/RunnerSandbox.h"
#include "driver/judge/Statistics.h"
#include "driver/support/FileSystem.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <fmt/format.h>

namespace {

using namespace kopt;

constexpr int kSkip = 77;

// Each block's work is in proportion to `amount`, so that a difference can be made as small as one
// likes.
constexpr const char *kKernels = R"(
// Bound by latency of dependent arithmetic: the same on every multiprocessor.
extern "C" __global__ void compute(const float *in, float *out, unsigned amount) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i];
  for (unsigned k = 0; k < amount; ++k) x = x * 0.999f + 0.001f;
  out[i] = x;
}
// Bound by device memory.
extern "C" __global__ void copy(const float *in, float *out, unsigned amount) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < amount; i += gridDim.x * blockDim.x) out[i] = 2 * in[i];
}
// Bound by shared memory and barriers.
extern "C" __global__ void exchange(const float *in, float *out, unsigned amount) {
  __shared__ float tile[256];
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i];
  for (unsigned k = 0; k < amount; ++k) {
    tile[threadIdx.x] = x;
    __syncthreads();
    x = 0.5f * (x + tile[threadIdx.x ^ 1]);
    __syncthreads();
  }
  out[i] = x;
}
)";

struct Kernel {
  const char *name;
  std::uint32_t blocks;
  std::uint64_t elements; ///< of each buffer
  std::uint32_t amount;
};

/// From about 3 us to 10 ms on a GPU of Hopper's size.
constexpr Kernel kAll[] = {
    {"compute", 132, 132 * 256, 100},      {"compute", 132, 132 * 256, 2000},
    {"compute", 1056, 1056 * 256, 4000},   {"compute", 1056, 1056 * 256, 20000},
    {"compute", 1056, 1056 * 256, 100000}, {"compute", 1056, 1056 * 256, 1000000},
    {"copy", 264, 1u << 16, 1u << 16},     {"copy", 1056, 1u << 20, 1u << 20},
    {"copy", 1056, 1u << 22, 1u << 22},    {"copy", 1056, 1u << 24, 1u << 24},
    {"copy", 1056, 1u << 26, 1u << 26},    {"exchange", 264, 264 * 256, 200},
    {"exchange", 1056, 1056 * 256, 2000},  {"exchange", 1056, 1056 * 256, 20000},
};

struct Tally {
  int comparisons = 0, faster = 0, slower = 0, same = 0, ambiguous = 0;
  double seconds = 0;
  void add(Verdict verdict, double took) {
    ++comparisons;
    faster += verdict == Verdict::Faster;
    slower += verdict == Verdict::Slower;
    same += verdict == Verdict::Same;
    ambiguous += verdict == Verdict::Ambiguous;
    seconds += took;
  }
  void add(const Tally &other) {
    comparisons += other.comparisons;
    faster += other.faster;
    slower += other.slower;
    same += other.same;
    ambiguous += other.ambiguous;
    seconds += other.seconds;
  }
};

/// Wilson's 95% interval of a share, in percent.
std::string share(int count, int of) {
  if (of == 0)
    return "-";
  constexpr double z = 1.96;
  const double p = double(count) / of, n = of;
  const double centre = (p + z * z / (2 * n)) / (1 + z * z / n);
  const double reach = z / (1 + z * z / n) * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
  return fmt::format("{:.1f}% [{:.1f}, {:.1f}]", 100 * p, 100 * std::max(0.0, centre - reach),
                     100 * std::min(1.0, centre + reach));
}

class Truth {
public:
  Truth(Runner &runner, std::filesystem::path cubin, double minGain)
      : runner_(runner), cubin_(std::move(cubin)) {
    policy_.minGain = minGain - 1;
  }

  struct Comparison {
    Speedup speedup;
    Verdict verdict = Verdict::Ambiguous;
    double baselineSeconds = 0, took = 0;
  };

  /// `amount` is the candidate's; the baseline's is the kernel's own.
  Result<Comparison> compare(const Kernel &kernel, std::uint32_t amount,
                             const TimeOptions &options) {
    KOPT_TRY(const ModuleInfo a, runner_.load(cubin_, kernel.name));
    KOPT_TRY(const ModuleInfo b, runner_.load(cubin_, kernel.name));
    const auto start = std::chrono::steady_clock::now();
    KOPT_TRY(const TimingOutcome outcome, runner_.time(a.id, launch(kernel, kernel.amount), b.id,
                                                       launch(kernel, amount), options));
    runner_.unload(a.id);
    runner_.unload(b.id);
    if (outcome.status != RunStatus::Ok)
      return makeError(ErrorCode::Internal,
                       fmt::format("{} does not run: {}", kernel.name, outcome.detail));
    Comparison made;
    made.speedup = pairedSpeedup(outcome.samples, policy_.confidence, outcome.modelled);
    LaunchTiming timing;
    timing.speedup = made.speedup;
    made.verdict = decideVerdict(made.speedup, {timing}, policy_).verdict;
    made.took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::vector<double> baseline;
    for (const TimingSample &sample : outcome.samples)
      baseline.push_back(sample.a);
    made.baselineSeconds = median(baseline);
    return made;
  }

  /// The amount that takes 1 / (1 + gain) of the kernel's own time: by the slope between it and
  /// half as much again.
  Result<std::uint32_t> amountFor(const Kernel &kernel, double gain) {
    TimeOptions thorough;
    thorough.minSamples = 400;
    thorough.maxSamples = 2000;
    thorough.budget = Duration(3);
    KOPT_TRY(const Comparison less, compare(kernel, kernel.amount / 2, thorough));
    const double whole = less.baselineSeconds, half = whole / less.speedup.estimate;
    const double perAmount = (whole - half) / (kernel.amount - kernel.amount / 2);
    const double change = (whole - whole / (1 + gain)) / perAmount;
    if (!(perAmount > 0) || change < 1 || change >= kernel.amount)
      return makeError(ErrorCode::Internal,
                       fmt::format("{} cannot be made {:.0f}% faster", kernel.name, 100 * gain));
    return kernel.amount - std::uint32_t(std::lround(change));
  }

  const VerdictPolicy &policy() const { return policy_; }

private:
  static Launch launch(const Kernel &kernel, std::uint32_t amount) {
    Launch made;
    made.name = kernel.name;
    made.grid = {kernel.blocks, 1, 1};
    made.block = {256, 1, 1};
    made.buffers = {Buffer{"in", 4 * kernel.elements, "f32", {}, true, false},
                    Buffer{"out", 4 * kernel.elements, "f32", {}, false, false}};
    made.arguments = {BufferArg{0, 0}, BufferArg{1, 0},
                      ValueArg{std::string(reinterpret_cast<const char *>(&amount), 4)}};
    return made;
  }

  Runner &runner_;
  std::filesystem::path cubin_;
  VerdictPolicy policy_;
};

/// Comparisons take turns over the kernels, so that drift of the machine is in all of them.
Result<Tally> identical(Truth &truth, int comparisons) {
  std::vector<Tally> tallies(std::size(kAll));
  std::vector<double> medians(std::size(kAll));
  Tally all;
  for (int i = 0; i < comparisons; ++i) {
    const std::size_t k = std::size_t(i) % std::size(kAll);
    TimeOptions options;
    options.inputSeed = std::uint64_t(i) + 1;
    KOPT_TRY(const Truth::Comparison made, truth.compare(kAll[k], kAll[k].amount, options));
    tallies[k].add(made.verdict, made.took);
    medians[k] = made.baselineSeconds;
  }
  fmt::print("| identical code | time | comparisons | false Faster | false Slower | Same | "
             "Ambiguous | s each |\n"
             "|---|---|---|---|---|---|---|---|\n");
  for (std::size_t k = 0; k < std::size(kAll); ++k) {
    const Tally &tally = tallies[k];
    if (tally.comparisons == 0)
      continue;
    fmt::print("| {} | {:.1f} us | {} | {} | {} | {} | {} | {:.2f} |\n", kAll[k].name,
               1e6 * medians[k], tally.comparisons, tally.faster, tally.slower, tally.same,
               tally.ambiguous, tally.seconds / tally.comparisons);
    all.add(tally);
  }
  fmt::print("| all | | {} | {} | {} | {} | {} | {:.2f} |\n\nfalse verdicts: {}\n\n",
             all.comparisons, all.faster, all.slower, all.same, all.ambiguous,
             all.seconds / std::max(1, all.comparisons),
             share(all.faster + all.slower, all.comparisons));
  return all;
}

Result<Tally> different(Truth &truth, double gain, int comparisons) {
  // Where a launch takes long enough for the difference to be more than a timer's tick.
  std::vector<Kernel> kernels;
  for (const Kernel &kernel : kAll)
    if ((kernel.elements == 1056 * 256 && kernel.amount >= 2000) || kernel.elements >= (1u << 24))
      kernels.push_back(kernel);
  std::vector<std::uint32_t> amounts;
  for (const Kernel &kernel : kernels) {
    KOPT_TRY(const std::uint32_t amount, truth.amountFor(kernel, gain));
    amounts.push_back(amount);
  }
  std::vector<Tally> tallies(kernels.size());
  std::vector<std::vector<double>> estimates(kernels.size());
  std::vector<double> medians(kernels.size());
  Tally all;
  for (int i = 0; i < comparisons; ++i) {
    const std::size_t k = std::size_t(i) % kernels.size();
    TimeOptions options;
    options.inputSeed = std::uint64_t(i) + 1;
    KOPT_TRY(const Truth::Comparison made, truth.compare(kernels[k], amounts[k], options));
    tallies[k].add(made.verdict, made.took);
    estimates[k].push_back(made.speedup.estimate);
    medians[k] = made.baselineSeconds;
  }
  fmt::print("| {:.0f}% less time | time | median measured | comparisons | found Faster | "
             "Ambiguous | Same | Slower | s each |\n"
             "|---|---|---|---|---|---|---|---|---|\n",
             100 * gain);
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const Tally &tally = tallies[k];
    if (tally.comparisons == 0)
      continue;
    fmt::print("| {} | {:.1f} us | {:.4f}x | {} | {} | {} | {} | {} | {:.2f} |\n", kernels[k].name,
               1e6 * medians[k], median(estimates[k]), tally.comparisons, tally.faster,
               tally.ambiguous, tally.same, tally.slower, tally.seconds / tally.comparisons);
    all.add(tally);
  }
  fmt::print("\nfound: {}\n\n", share(all.faster, all.comparisons));
  return all;
}

Result<int> run(const std::filesystem::path &program, int aa, int differences, double minGain,
                bool check) {
  const auto processes = makeProcessRunner();
  const auto toolchain = makeNvccToolchain(*processes, CudaToolkit::find());
  if (gpuNodes().empty() || !toolchain) { // a GPU that kopt cannot use is no reason to skip
    fmt::print("skipped: there is {}\n", toolchain ? "no GPU" : "no nvcc");
    return kSkip;
  }
  KOPT_TRY(const TemporaryDirectory folder, TemporaryDirectory::create("kopt-truth"));
  KOPT_TRY(const auto runner, startRunner(*processes, program, {DeviceKind::Cuda, 0, ""},
                                          folder.path() / "buffers", ""));
  BuildRequest request;
  request.sliceText = kKernels;
  request.symbol = "copy";
  request.arch = runner->device().arch;
  request.output = folder.path() / "kernels.cubin";
  KOPT_TRY(const BuildOutcome built, (*toolchain)->build(request));
  if (!built.ok)
    return makeError(ErrorCode::Internal, "the kernels do not build: " + built.log);
  Truth truth(*runner, built.module, minGain);
  fmt::print("{}, {}, {}; intervals at {:.0f}%, gains from {:.1f}% on\n\n", runner->device().name,
             runner->device().driver, (*toolchain)->name(), 100 * truth.policy().confidence,
             100 * truth.policy().minGain);
  bool holds = true;
  if (aa > 0) {
    KOPT_TRY(const Tally tally, identical(truth, aa));
    holds &= tally.faster + tally.slower <= 0.01 * tally.comparisons;
  }
  for (const auto &[gain, found] : {std::pair(0.02, 0.95), std::pair(0.01, 0.7)}) {
    if (differences == 0 || gain <= truth.policy().minGain)
      continue; // smaller gains are not Faster
    KOPT_TRY(const Tally tally, different(truth, gain, differences));
    holds &= tally.faster >= found * tally.comparisons;
  }
  return check && !holds ? 1 : 0;
}

} // namespace

int main(int count, char **arguments) {
  CLI::App app("Whether verdicts on times are true, on a GPU");
  std::string program;
  int aa = 504, differences = 200;
  double minGain = 1.005;
  bool check = false;
  app.add_option("runner", program, "kopt-runner")->required();
  app.add_option("--aa", aa, "comparisons of identical code");
  app.add_option("--differences", differences, "comparisons of each true difference");
  app.add_option("--min-gain", minGain, "the smallest gain that is Faster");
  app.add_flag("--check", check, "exit 1 where a limit is missed");
  CLI11_PARSE(app, count, arguments);
  const auto done = run(program, aa, differences, minGain, check);
  if (done)
    return *done;
  fmt::print(stderr, "timing_truth: {}{}{}\n", done.error().what,
             done.error().hint.empty() ? "" : "; ", done.error().hint);
  return 1;
}
