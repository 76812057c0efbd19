// SPDX-License-Identifier: Apache-2.0
#include "strategies/WarmStart.h"

#include "driver/app/tune/Lessons.h"

namespace kopt::fakes {
namespace {

constexpr std::size_t kMostRecalled = 6, kMostAlike = 8; // as in driver/app/tune/Recall.cpp

TuneSubject subjectOf(const RecordedKernel &kernel) {
  TuneSubject subject;
  subject.label = kernel.kernel;
  subject.sliceText = kernel.program;
  return subject;
}

} // namespace

RecordedRun wholeRecording(const RecordedKernel &kernel) {
  RecordedRun all{kernel, {}};
  for (std::size_t i = 1; i < kernel.trials.size(); ++i)
    all.judged.push_back(i);
  return all;
}

std::vector<Lesson> lessonsOfRun(const RecordedRun &run) {
  const TuneSubject subject = subjectOf(run.kernel);
  RunRecord record;
  record.name = run.kernel.program;
  DeviceInfo device;
  device.arch = run.kernel.arch;
  std::vector<Trial> trials = {trialOf(run.kernel, 0)};
  for (const std::size_t number : run.judged) {
    Trial trial = trialOf(run.kernel, number);
    if (trial.speedup) // the outputs are checked before
      trial.checks = {{CheckId::Outputs, CheckState::Passed, ""}};
    if (trial.verdict == Verdict::Duplicate) // a recording does not say of what
      trial.duplicateOf = trial.candidate.parents.front();
    trials.push_back(std::move(trial));
  }
  return lessonsOf({subject, record, device, "nvcc", run.kernel.program, {}}, trials);
}

std::map<std::string, double> featuresOf(const RecordedKernel &kernel) {
  return printOf(subjectOf(kernel), kernel.trials.front().counters, {}).features;
}

Result<Taught> taughtBy(const std::vector<RecordedRun> &runs, const RecordedKernel &kernel,
                        bool asThis) {
  KOPT_TRY(ExperienceBase base, ExperienceBase::open(":memory:"));
  const KernelPrint print = printOf(subjectOf(kernel), kernel.trials.front().counters, {});
  for (const RecordedRun &run : runs) {
    std::vector<Lesson> lessons = lessonsOfRun(run);
    if (asThis)
      for (Lesson &each : lessons)
        each.experience.kernel.features = print.features;
    KOPT_TRY(const std::size_t added, base.add(lessons));
    static_cast<void>(added);
  }
  KOPT_TRY(const std::int64_t now, base.last());
  KOPT_TRY(const std::vector<TechniqueOutcomes> known, base.outcomes(now, false));
  Taught taught;
  KOPT_TRY(std::vector<Remembered> same, base.ofKernels(now, kernel.kernel));
  std::erase_if(same,
                [&](const Remembered &row) { return row.experience.kernel.text != print.text; });
  taught.precedents.ofText = triedIn(same, kernel.arch, trialOf(kernel, 0).candidateHash);
  auto &ofAKind = taught.precedents.ofAKind;
  KOPT_TRY(ofAKind, base.ofAKind(now, print.features, false, kMostAlike));
  KOPT_TRY(taught.edits, base.recall(now, print.text, kernel.arch, kMostRecalled));
  taught.priors = priorsFrom(known, kernel.trials.front().diagnosis.state, kernel.arch, ofAKind);
  return taught;
}

Result<Taught> seededBy(const std::vector<RecordedRun> &runs, const RecordedKernel &kernel) {
  KOPT_TRY(ExperienceBase base, ExperienceBase::open(":memory:"));
  for (const RecordedRun &run : runs)
    KOPT_CHECK(base.add(lessonsOfRun(run)).map([](std::size_t) {}));
  KOPT_TRY(const std::int64_t now, base.last());
  KOPT_TRY(const std::vector<TechniqueOutcomes> seed, base.outcomes(now, false));
  Taught taught;
  taught.priors = priorsFrom(seed, kernel.trials.front().diagnosis.state, kernel.arch);
  return taught;
}

} // namespace kopt::fakes
