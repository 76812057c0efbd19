// SPDX-License-Identifier: Apache-2.0
// The Evaluator's look at the user's own kernel: nothing is compared with a baseline that does not build, repeat, or
// tell right from wrong.
#include "driver/evaluate/Evaluator.h"

#include "driver/evaluate/Judge.h"
#include "driver/workload/WorkloadBuilder.h"

#include <chrono>
#include <fmt/format.h>

namespace kopt {
namespace {

std::string at(const KernelSpec &kernel) { return fmt::format("{}:{}", kernel.file, kernel.line); }

} // namespace

Result<Expected> Evaluator::expect(std::size_t launch, std::uint64_t inputSeed, std::uint64_t poisonSeed,
                                   const std::string &slot) {
  return bench_.expect(bench_.baseline().launches[launch],
                       bench_.options(inputSeed, poisonSeed, launch, fmt::format("{}-{}", slot, launch)));
}

Status Evaluator::buildBaseline(Trial &trial) {
  KOPT_TRY(const RenderedSlice rendered,
           renderSlice(subject().sliceText, subject().kernel, subject().specialization, trial.candidate));
  trial.sliceText = rendered.text;
  KOPT_TRY(const bool compiled, compile(trial.candidate, rendered, nextModule(), trial, bench_.baseline()));
  bool loaded = false;
  if (compiled) {
    KOPT_TRY(loaded, load(bench_.baseline(), trial));
  }
  if (!loaded)
    return makeError(ErrorCode::BaselineFailed,
                     fmt::format("kernel '{}' does not build as it is: {}", subject().kernel.name, trial.reason),
                     trial.buildLog.empty() ? "" : "compiler output:\n" + trial.buildLog, at(subject().kernel));
  isDuplicate(trial.candidate, bench_.baseline(), trial); // from here on the baseline's own code is known
  return {};
}

/// A buffer is a pure output where poison in place of its old contents changes nothing and nothing of it stays
/// unwritten. All others keep their drawn contents before each launch, so a partial write is compared in full too.
Status Evaluator::classifyBuffers() {
  for (std::size_t i = 0; i < bench_.baseline().launches.size(); ++i) {
    Launch &launch = bench_.baseline().launches[i];
    KOPT_TRY(const Expected reference, expect(i, options_.seed, kPoison, "second"));
    const auto waited = reference.stages.find("lock"); // another kopt's time
    bench_.baselineSeconds.push_back(reference.seconds - (waited == reference.stages.end() ? 0 : waited->second));
    bool writesAnything = false;
    for (std::size_t b = 0; b < launch.buffers.size(); ++b) {
      Buffer &buffer = launch.buffers[b];
      if (buffer.readOnly)
        continue;
      buffer.output = true;
      KOPT_TRY(const RunOutcome poisoned,
               services_.runner.run(bench_.baseline().module, launch, bench_.options(options_.seed, kOtherPoison, i, fmt::format("run-{}", i))));
      bool same = poisoned.status == RunStatus::Ok && b < poisoned.unwritten.size();
      const bool complete = same && poisoned.unwritten[b] == 0;
      for (std::size_t other = 0; same && other < launch.buffers.size(); ++other) {
        if (launch.buffers[other].readOnly || (other == b && !complete))
          continue;
        KOPT_TRY(const auto mismatch, compareBuffers(launch.buffers[other], subject().workload.tolerance,
                                                     reference.buffers[other], poisoned.buffers[other]));
        same = !mismatch;
      }
      // A read of old contents (same == false) shows that the buffer matters as much as a write does.
      writesAnything |= !same || complete || poisoned.unwritten[b] < buffer.bytes / elementBytes(buffer.scalar);
      buffer.output = same && complete;
    }
    if (!writesAnything)
      return makeError(ErrorCode::BaselineFailed,
                       fmt::format("kernel '{}' writes to none of its buffers in launch '{}'", subject().kernel.name,
                                   launch.name),
                       "give the launch arguments with which it has work to do", at(subject().kernel));
    bench_.subject().workload.launches[i].buffers = launch.buffers;
  }
  return {};
}

Status Evaluator::checkRepeatability() {
  for (std::size_t i = 0; i < bench_.baseline().launches.size(); ++i) {
    KOPT_TRY(Expected first, expect(i, options_.seed, kPoison, "expected"));
    KOPT_TRY(const Expected second, expect(i, options_.seed, kOtherPoison, "second"));
    for (std::size_t b = 0; b < first.buffers.size(); ++b) {
      const Buffer &buffer = bench_.baseline().launches[i].buffers[b];
      if (buffer.readOnly)
        continue; // found unchanged by the runner
      KOPT_TRY(const auto mismatch,
               compareBuffers(buffer, subject().workload.tolerance, first.buffers[b], second.buffers[b]));
      if (mismatch)
        return makeError(ErrorCode::BaselineFailed,
                         fmt::format("kernel '{}' does not repeat its own result in launch '{}': {}",
                                     subject().kernel.name, bench_.baseline().launches[i].name, mismatch->describe(buffer)),
                         "if its result is meant to vary, widen it with a 'tolerance relative=... absolute=...' clause",
                         at(subject().kernel));
    }
    bench_.expected.push_back(std::move(first));
  }
  return {};
}

/// Other inputs must give other outputs: where they do not, a wrong kernel could not be told from a right one.
Status Evaluator::checkSensitivity() {
  for (std::size_t i = 0; i < bench_.baseline().launches.size(); ++i) {
    const Launch &launch = bench_.baseline().launches[i];
    bool drawn = false, differs = false;
    for (const Buffer &buffer : launch.buffers)
      drawn |= !buffer.output && buffer.fill.kind == "uniform" && buffer.fill.low != buffer.fill.high;
    if (!drawn)
      continue; // nothing random goes in; the result is a function of the arguments alone
    KOPT_TRY(const Expected other, expect(i, options_.seed + 0x9e3779b9, kPoison, "second"));
    for (std::size_t b = 0; b < launch.buffers.size() && !differs; ++b)
      if (!launch.buffers[b].readOnly) {
        KOPT_TRY(const bool same, sameBytes(bench_.expected[i].buffers[b], other.buffers[b]));
        differs = !same;
      }
    if (!differs)
      return makeError(ErrorCode::BaselineFailed,
                       fmt::format("the outputs of kernel '{}' in launch '{}' are the same for different inputs, so a "
                                   "wrong kernel could pass",
                                   subject().kernel.name, launch.name),
                       "use other fills or arguments, so that the inputs reach the outputs", at(subject().kernel));
  }
  return {};
}

/// Names each input that the outputs do not depend on (a factor of zero, a branch never taken): what a candidate does
/// with it goes unseen. The user is told; a parameter the kernel ignores is no error.
Status Evaluator::findUnseenInputs(Trial &trial) {
  for (std::size_t i = 0; i < bench_.baseline().launches.size(); ++i) {
    Launch &launch = bench_.baseline().launches[i];
    for (std::size_t b = 0; b < launch.buffers.size(); ++b) {
      if (!launch.buffers[b].readOnly || launch.buffers[b].fill.kind != "uniform")
        continue;
      const Fill drawn = launch.buffers[b].fill;
      launch.buffers[b].fill = {"constant", drawn.low, drawn.low};
      const auto other = expect(i, options_.seed, kPoison, "second");
      launch.buffers[b].fill = drawn;
      if (!other)
        continue; // the kernel does not take that input; then it depends on it
      bool differs = false;
      for (std::size_t out = 0; out < launch.buffers.size() && !differs; ++out)
        if (!launch.buffers[out].readOnly) {
          KOPT_TRY(const bool same, sameBytes(bench_.expected[i].buffers[out], other->buffers[out]));
          differs = !same;
        }
      if (!differs)
        trial.findings.push_back({"unseen-input", "warning",
                                  fmt::format("the outputs of launch '{}' do not depend on '{}': a candidate that "
                                              "misreads it would pass; choose arguments with which it matters",
                                              launch.name, launch.buffers[b].name),
                                  at(subject().kernel)});
    }
  }
  return {};
}

Status Evaluator::timeBaseline(Trial &trial) {
  VerdictPolicy policy = options_.policy;
  policy.candidates = 1;
  KOPT_TRY(const bool timed, time(bench_.baseline(), policy, trial));
  if (!timed)
    return makeError(ErrorCode::BaselineFailed, fmt::format("kernel '{}': {}", subject().kernel.name, trial.reason), "",
                     at(subject().kernel));
  // The baseline against itself is the control: it must not win or lose.
  if (trial.verdict == Verdict::Faster || trial.verdict == Verdict::Slower)
    trial.findings.push_back({"control", "warning",
                              "the baseline measured against itself is not the same: " + trial.reason +
                                  "; this machine is too noisy for small differences",
                              ""});
  trial.verdict = Verdict::Same;
  // Weights given by the user count launches; what counts for the workload is their share of the time.
  double total = 0;
  for (std::size_t i = 0; i < trial.timings.size(); ++i)
    total += subject().workload.launches[i].weight * trial.timings[i].baselineSeconds;
  for (std::size_t i = 0; total > 0 && i < trial.timings.size(); ++i)
    bench_.subject().workload.launches[i].weight *= trial.timings[i].baselineSeconds / total;
  return {};
}

/// A hang on the emulated device ends after 20 times the baseline's own instructions: at the same point each time.
Status Evaluator::limitInstructions(const Trial &baseline) {
  if (!services_.runner.device().modelled)
    return {};
  for (std::size_t i = 0; i < bench_.baseline().launches.size(); ++i) {
    Counters counters = baseline.counters; // of the heaviest launch
    if (i != bench_.heaviest()) {
      KOPT_TRY(ProfileOutcome outcome, services_.profile(bench_.baseline().module, bench_.baseline().path, bench_.baseline().launches[i]));
      counters = std::move(outcome.counters);
    }
    const auto executed = counters.find("smsp__thread_inst_executed.sum");
    bench_.instructionLimits.push_back(executed == counters.end() ? 0 : std::uint64_t(20 * executed->second + 1e6));
  }
  return {};
}

Status Evaluator::learnGates(Trial &trial) {
  for (const std::unique_ptr<Gate> &gate : gates_)
    KOPT_CHECK(gate->learn(bench_, trial));
  return {};
}

/// Wrong versions of the kernel go through the same gates: where one passes, the workload proves little of a candidate.
Status Evaluator::testMutants(Trial &trial) {
  MutationSettings settings;
  settings.build = baselineRequest();
  settings.scratch = options_.scratch;
  settings.cache = options_.cache;
  settings.toolchain = services_.toolchain.name();
  settings.threads = std::max(1u, options_.buildThreads);
  auto report = testWorkload(bench_, gates_, services_.frontend, services_.toolchain, settings);
  if (!report && report.error().code != ErrorCode::Internal)
    return tl::unexpected(report.error());
  if (!report) {
    trial.findings.push_back({"mutants", "warning",
                              "whether the workload notices wrong kernels is not known: " + report.error().what,
                              at(subject().kernel)});
    return {};
  }
  mutations_ = std::move(*report);
  if (mutations_.survivors.empty())
    return {};
  const std::string remedy = mutations_.remedy();
  trial.findings.push_back({"mutants", mutations_.isTooWeak() ? "warning" : "note",
                            mutations_.inWords() + (remedy.empty() ? "" : "; what would notice: " + remedy),
                            at(subject().kernel)});
  return {};
}

Result<Trial> Evaluator::measureBaseline() {
  const auto start = std::chrono::steady_clock::now();
  Trial trial;
  trial.candidate.proposer = "baseline";
  trial.candidate.title = "baseline";
  trial.candidateHash = trial.candidate.contentHash();
  KOPT_CHECK(buildBaseline(trial));
  KOPT_CHECK(classifyBuffers());
  KOPT_CHECK(checkRepeatability());
  KOPT_CHECK(checkSensitivity());
  KOPT_CHECK(findUnseenInputs(trial));
  KOPT_CHECK(timeBaseline(trial));
  KOPT_CHECK(profile(bench_.baseline(), trial));
  KOPT_CHECK(limitInstructions(trial));
  KOPT_CHECK(learnGates(trial));
  if (options_.layers.on("mutants") && options_.testWorkload)
    KOPT_CHECK(testMutants(trial));
  trial.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return trial;
}

} // namespace kopt
