// SPDX-License-Identifier: Apache-2.0
#include "driver/app/ReplayFlow.h"
#include "driver/source/CompilerMessages.h"
#include "driver/source/RenderSlice.h"

#include "driver/judge/CandidateBuilder.h"
#include "driver/judge/context/CompareBuffers.h"
#include "driver/support/MappedFile.h"
#include "driver/workload/observed/TraceWorkload.h"

#include <fmt/format.h>

namespace kopt {

namespace {

const Tolerance kBitwise{TolerancePolicy::Strict, 0, 0};

class Replayer {
public:
  Replayer(Workbench &bench, const TuneSubject &subject)
      : runner_(bench.runner()), subject_(subject) {}

  Status build(Workbench &bench, const std::string &arch) {
    KOPT_TRY(const RenderedSlice rendered, renderSlice(subject_, Candidate{}));
    const BuildRequest request = CandidateBuilder::requestOf(
        subject_, arch.empty() ? bench.device().arch : arch, rendered,
        bench.scratch() / "evaluate" /
            fmt::format("replay-{}", subject_.specialization.symbol.substr(0, 100)) / "module");
    KOPT_TRY(const BuildOutcome outcome, bench.compiler().build(request));
    if (!outcome.ok)
      return makeError(ErrorCode::BaselineFailed,
                       fmt::format("kernel '{}' does not build as it is", subject_.label),
                       compilerHint(outcome.log, nullptr), placeOf(subject_.kernel));
    KOPT_TRY(const ModuleInfo module, runner_.load(outcome.module, request.symbol));
    module_ = module.id;
    return {};
  }

  Result<ReplayedLaunch> replay(const CapturedLaunch &captured) {
    ReplayedLaunch replayed;
    replayed.name = captured.launch.name;
    for (const Buffer &buffer : captured.launch.buffers)
      replayed.bytes += buffer.bytes;
    RunOptions options;
    options.deadline = Duration(120);
    options.slot = "first";
    KOPT_TRY(const RunOutcome first, runner_.run(module_, captured.launch, options));
    if (first.status != RunStatus::Ok) {
      replayed.detail = first.detail;
      return replayed;
    }
    std::string difference;
    for (std::size_t i = 0; i < captured.launch.buffers.size() && difference.empty(); ++i) {
      const Buffer &buffer = captured.launch.buffers[i];
      if (buffer.readOnly)
        continue; // the runner and the capture both found it unchanged
      if (captured.after[i].empty()) {
        replayed.detail = fmt::format("what '{}' held after the launch is not stored: {}",
                                      buffer.name, captured.notAfter[i]);
        return replayed;
      }
      KOPT_TRY(const std::string wanted, capturedBytes(captured.after[i]));
      KOPT_TRY(const MappedFile found, MappedFile::open(first.buffers[i]));
      if (found.bytes() == wanted)
        continue;
      const auto mismatch = compareContents(buffer, kBitwise, wanted, found.bytes());
      difference =
          mismatch ? mismatch->describe(buffer)
                   : fmt::format("'{}' differs in the bits of its NaNs or zeros only", buffer.name);
    }
    replayed.match = difference.empty() ? ReplayMatch::Identical : ReplayMatch::Differs;
    replayed.detail = difference;
    if (difference.empty())
      return replayed;
    options.slot = "second";
    KOPT_TRY(const RunOutcome second, runner_.run(module_, captured.launch, options));
    for (std::size_t i = 0; second.status == RunStatus::Ok && i < captured.launch.buffers.size();
         ++i)
      if (!captured.launch.buffers[i].readOnly) {
        KOPT_TRY(const bool same, sameBytes(first.buffers[i], second.buffers[i]));
        if (!same)
          replayed.match = ReplayMatch::Varies;
      }
    return replayed;
  }

private:
  Runner &runner_;
  const TuneSubject &subject_;
  ModuleId module_ = 0;
};

} // namespace

Result<std::vector<ReplayOutcome>> replayTrace(Services services, const ReplayRequest &request) {
  KOPT_TRY(const ObservedTrace trace, readTrace(request.trace));
  std::string note;
  KOPT_CHECK(checkPrograms(trace, note));
  KOPT_TRY(const std::unique_ptr<Workbench> bench, Workbench::open(services, request));
  std::vector<ReplayOutcome> outcomes;
  for (const TuneSubject &subject : bench->subjects()) {
    ReplayOutcome outcome;
    outcome.label = subject.label;
    outcome.device = bench->device();
    KOPT_TRY(const TraceWorkload made,
             workloadFromTrace(trace, subject.kernel, subject.specialization, subject.declaration,
                               bench->device().kind, kKindsOfLaunches));
    outcome.coverage = made.coverage;
    outcome.notes = made.notes;
    if (!note.empty())
      outcome.notes.push_back(note);
    Replayer replayer(*bench, subject);
    KOPT_CHECK(replayer.build(*bench, request.arch));
    for (const CapturedLaunch &captured : made.captured) {
      services.terminal.status(
          fmt::format("{}: replaying {}", subject.label, captured.launch.name));
      KOPT_TRY(const ReplayedLaunch replayed, replayer.replay(captured));
      outcome.launches.push_back(replayed);
    }
    outcomes.push_back(std::move(outcome));
  }
  services.terminal.clear();
  return outcomes;
}

} // namespace kopt
