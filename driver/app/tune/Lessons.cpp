// SPDX-License-Identifier: Apache-2.0
#include "driver/app/tune/Lessons.h"

#include "driver/knowledge/Kind.h"
#include "driver/model/Version.h"
#include "driver/search/policy/Arms.h"
#include "driver/support/Hash.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace kopt {
namespace {

const Trial *findTrial(const std::vector<Trial> &trials, const std::string &candidate) {
  const auto found = std::ranges::find_if(trials, [&](const Trial &trial) {
    return trial.candidateHash == candidate && trial.purpose == Purpose::Search;
  });
  return found == trials.end() ? nullptr : &*found;
}

/// Nothing if the trial shows neither that the candidate is right nor how fast it is.
std::optional<LogGain> verifiedGain(const Trial &trial, const std::vector<Trial> &trials) {
  if (trial.candidateHash == trials.front().candidateHash)
    return LogGain();
  if (trial.verdict == Verdict::Duplicate) {
    const Trial *twin = findTrial(trials, trial.duplicateOf);
    return twin && twin->verdict != Verdict::Duplicate ? verifiedGain(*twin, trials) : std::nullopt;
  }
  if (!isRight(trial) || !trial.passed(CheckId::Outputs) || !trial.speedup ||
      trial.speedup->low <= 0)
    return std::nullopt;
  const auto &[estimate, low, high, confidence, pairs, modelled, processes, of] = *trial.speedup;
  return LogGain{std::log(estimate), std::log(std::min(low, estimate)),
                 std::log(std::max(high, estimate)), pairs};
}

LogGain minus(const LogGain &gain, const LogGain &parent) {
  LogGain over{gain.estimate - parent.estimate};
  over.low = over.estimate - std::hypot(gain.estimate - gain.low, parent.high - parent.estimate);
  over.high = over.estimate + std::hypot(gain.high - gain.estimate, parent.estimate - parent.low);
  over.pairs = parent.pairs == 0 ? gain.pairs : std::min(gain.pairs, parent.pairs);
  return over;
}

/// The rewrite's parameter. Other proposers' titles may name what is the user's.
std::optional<std::string> variantIn(const Trial &trial, const std::string &parentTitle) {
  const Candidate &candidate = trial.candidate;
  if (candidate.proposer != "transform")
    return std::nullopt;
  return variantOf(candidate.title, parentTitle);
}

std::string decidedBy(const Trial &trial) {
  return trial.check == CheckId::None ? toString(trial.stage) : toString(trial.check);
}

} // namespace

std::map<std::string, double> codeCounts(Workbench &bench, const TuneSubject &subject) {
  const auto model = bench.frontend().modelOf(subject.sliceText, subject.specialization.expression,
                                              subject.kernel, {});
  return model ? model->counts : std::map<std::string, double>();
}

KernelPrint printOf(const TuneSubject &subject, const Counters &counters,
                    const std::map<std::string, double> &code) {
  const Specialization &one = subject.specialization;
  KernelPrint print{withoutControls(validUtf8(subject.label)), one.fileLocal ? "" : one.symbol,
                    hashHex(subject.sliceText)};
  for (const auto &[name, value] : counters)
    if (std::isfinite(value) && (name.starts_with("launch__") || name.starts_with("sass__") ||
                                 name.find("pct") != name.npos || name.ends_with(".ratio")))
      print.features[name] = value;
  for (const auto &[what, count] : code)
    print.features["code: " + what] = count;
  for (const KernelParam &param : one.params) {
    print.features[fmt::format("{} parameters", toString(param.kind))] += 1;
    if (!param.scalar.empty())
      print.features[param.scalar + " parameters"] += 1;
  }
  for (const SliceChunk &chunk : one.chunks)
    print.features[fmt::format("{} chunks", toString(chunk.role))] += 1;
  return print;
}

std::string experienceArch(const DeviceInfo &device) {
  return device.modelled ? kEmulatedArch : device.arch;
}

std::vector<Lesson> lessonsOf(const LearntRun &learnt, const std::vector<Trial> &trials) {
  if (trials.empty())
    return {};
  const Trial &baseline = trials.front();
  const RunRecord &run = learnt.run;
  Experience common;
  common.kernel = printOf(learnt.subject, baseline.counters, learnt.code);
  common.arch = experienceArch(learnt.device);
  common.toolchain = learnt.toolchain;
  common.from = {run.name + "-" + hashFields(run.inputsHash, run.startedUtc, run.name).substr(0, 8),
                 withoutControls(validUtf8(learnt.program)), koptVersion(), run.startedUtc};
  std::vector<Lesson> lessons;
  for (const Trial &trial : trials) {
    const Candidate &candidate = trial.candidate;
    if (trial.candidateHash == baseline.candidateHash || trial.purpose == Purpose::HeldOut ||
        trial.verdict == Verdict::Suspect || candidate.technique.empty())
      continue;
    const Trial *parent =
        candidate.parents.empty() ? &baseline : findTrial(trials, candidate.parents.front());
    const auto gain = verifiedGain(trial, trials);
    const auto before = parent ? verifiedGain(*parent, trials) : std::nullopt;
    if (isRight(trial) && (!gain || !before))
      continue; // not verified
    Experience one = common;
    one.proposer = candidate.proposer;
    one.technique = candidate.technique;
    // That of what was changed; counters are only read of the baseline and of incumbents.
    const bool isKnown = parent && !parent->diagnosis.state.empty();
    one.state = (isKnown ? *parent : baseline).diagnosis.state;
    one.purpose = trial.purpose;
    one.verdict = trial.verdict;
    if (gain) {
      one.overParent = minus(*gain, *before);
      one.overBaseline = gain;
    }
    one.seconds = trial.seconds;
    one.candidate = trial.candidateHash;
    one.variant = variantIn(trial, parent && parent != &baseline ? parent->candidate.title : "");
    if (!isRight(trial))
      one.decidedBy = decidedBy(trial);
    one.parent = parent && parent != &baseline ? parent->candidateHash : "";
    lessons.push_back({std::move(one), candidate});
  }
  return lessons;
}

} // namespace kopt
