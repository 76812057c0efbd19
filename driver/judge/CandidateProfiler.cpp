// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/CandidateProfiler.h"

#include "driver/device/CudaToolkit.h"
#include "driver/judge/CandidateBuilder.h"
#include "driver/source/SliceLines.h"
#include "driver/support/FileSystem.h"

#include <chrono>

namespace kopt {
namespace {

/// The file names that modules record for the slice: emulated ones, and those of nvcc.
constexpr const char *kEmulatedSlice = "slice.cu", *kLinesModule = "kopt-lines.cubin",
                     *kLinesSlice = "kopt-lines.cubin.cu";

} // namespace

Status CandidateProfiler::count(const Built &built, Trial &trial) {
  // A modelled device has counted already, to compute the time.
  if (const Counters *counted = timer_.counted(built.module)) {
    trial.counters = *counted;
    trial.counterSource = toString(bench_.runner().device().kind);
    return {};
  }
  const auto start = std::chrono::steady_clock::now();
  KOPT_TRY(
      ProfileOutcome outcome,
      bench_.device.profile(built.module, built.path, built.launches[bench_.context.heaviest()]));
  addStages(trial, "profile", secondsSince(start), outcome.stages);
  if (outcome.status != RunStatus::Ok) {
    trial.findings.push_back({"profile", Severity::Note, "no counters: " + outcome.detail, ""});
    return {};
  }
  trial.counters = std::move(outcome.counters);
  trial.counterSource = outcome.source;
  if (!outcome.detail.empty())
    trial.findings.push_back({"profile", Severity::Note, outcome.detail, ""});
  return {};
}

Result<std::vector<LineCost>>
CandidateProfiler::linesOfCode(const RenderedSlice &slice, const std::string &candidateHash) const {
  const JudgeOptions &options = bench_.options;
  BuildRequest request =
      CandidateBuilder::requestOf(bench_.subject(), options.arch, slice,
                                  options.scratch / "lines" / candidateHash / kLinesModule);
  request.flags.push_back("-lineinfo"); // does not change the instructions
  KOPT_CHECK(createDirectories(request.output.parent_path()));
  KOPT_TRY(const BuildOutcome built, bench_.toolchain.build(request));
  if (!built.ok)
    return makeError(ErrorCode::Environment, "it does not build with -lineinfo: " +
                                                 built.log.substr(0, built.log.find('\n')));
  return bench_.device.lines(built.module);
}

CandidateProfiler::LineCosts CandidateProfiler::costLines(const RenderedCandidate &candidate,
                                                          const std::string &candidateHash) const {
  if (bench_.isModelled() || !bench_.options.counters || !bench_.device.lines ||
      bench_.options.depth == Depth::Trial) // no report shows the lines of `kopt trial`
    return {};
  if (bench_.left.isOver()) {
    std::promise<Result<std::vector<LineCost>>> none;
    none.set_value(makeError(ErrorCode::Environment, TimeLeft::kOver));
    return none.get_future();
  }
  return std::async(std::launch::async, [this, slice = candidate.slice, candidateHash] {
    return linesOfCode(slice, candidateHash);
  });
}

void CandidateProfiler::addHotLines(const RenderedCandidate &candidate, LineCosts costs,
                                    Trial &trial) const {
  const std::vector<LineCost> *counted = timer_.lines();
  const bool isModelled = bench_.isModelled();
  if (isModelled ? !counted : !costs.valid())
    return;
  const StageTimer timer(trial, "profile/lines");
  const auto known = isModelled ? Result<std::vector<LineCost>>(*counted) : costs.get();
  trial.hotLines = hottestLines(known.value_or(std::vector<LineCost>()),
                                isModelled ? LineSource::Emulated : LineSource::Code);
  if (!known)
    trial.hotLines.missing = inWords(known.error());
  if (isModelled)
    trial.hotLines.launch = bench_.context.baseline().launches[bench_.context.heaviest()].name;
  const Subject &subject = bench_.subject();
  const auto places = SliceLines::inPatchedFiles(candidate.slice, subject.kernel,
                                                 subject.specialization, candidate);
  // Without places, no line is the user's.
  places.value_or(SliceLines())
      .tell(trial.hotLines, candidate.slice.text, isModelled ? kEmulatedSlice : kLinesSlice);
}

} // namespace kopt
