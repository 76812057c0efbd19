// SPDX-License-Identifier: Apache-2.0
#include "driver/app/tune/TuneResults.h"

#include "driver/integrate/patch/Patch.h"
#include "driver/judge/Statistics.h"
#include "driver/model/CheckList.h"
#include "driver/source/RenderSlice.h"
#include "driver/source/SliceLines.h"
#include "driver/source/Subjects.h"
#include "driver/support/Text.h"
#include "driver/workload/WorkloadBuilder.h"

#include <fmt/format.h>
#include <regex>
#include <set>

namespace kopt {

/// The approximate functions and instructions that a text has and the original has not.
static std::string approximationsIn(const std::string &text, const std::string &original) {
  static const std::regex kApproximate(
      R"(\b__(?:exp10f|expf|log10f|log2f|logf|powf|sinf|cosf|sincosf|tanf|fdividef)\b|\w+\.approx\b)");
  std::set<std::string> names;
  for (std::sregex_iterator it(text.begin(), text.end(), kApproximate), end; it != end; ++it)
    if (original.find(it->str()) == original.npos)
      names.insert(it->str());
  return join({names.begin(), names.end()}, ", ");
}

std::vector<Event> verificationOf(const SearchedKernel &searched) {
  std::vector<Event> events;
  const auto add = [&](bool shown, std::string text, CheckId check = CheckId::None) {
    Event event;
    event.what = Checked{check, shown, std::move(text)};
    events.push_back(std::move(event));
  };
  const auto &winner = searched.winner;
  add(true, fmt::format("every element of every output of {} compared with the user's own "
                        "kernel, on fixed inputs with two poisons and on inputs drawn after the "
                        "candidate was frozen; guard zones and read-only inputs checked after each "
                        "launch",
                        counted(searched.workload.launches.size(), "launch", "launches")));
  if (winner)
    for (const CheckRecord &record : winner->checks)
      if (record.check != CheckId::Screen && // a refused candidate would not have been built
          record.state != CheckState::NotApplicable)
        add(record.state != CheckState::NotRun,
            fmt::format("{}: {}{}{}", toString(record.check),
                        kChecks[std::size_t(record.check)].purpose,
                        record.detail.empty() ? "" : ": ", record.detail),
            record.check);
  if (searched.device.modelled) {
    add(true, "bounds, races, barriers and uninitialised reads, by the emulated device");
    add(false, fmt::format("speed on a real {}: times are modelled; tune on a GPU to measure",
                           searched.device.name));
    const std::string names =
        approximationsIn(winner ? winner->sliceText : "", searched.subject.sliceText);
    if (!names.empty())
      add(false, "the error of " + names + " on a GPU: the emulated device computes it otherwise");
  } else {
    const Specialization &specialization = searched.subject.specialization;
    if (specialization.route == Route::Slice && !specialization.reason.empty())
      add(false, "that the timed baseline has the machine code of the program's own build: " +
                     specialization.reason);
    const auto others = searched.device.facts.find(kOtherLoadFact);
    const std::string known = others == searched.device.facts.end() ? "not known" : others->second;
    if (known != "watched")
      add(false, "whether others computed on the GPU while it was timed: " + known);
    if (winner && !(winner->passed(CheckId::Emulated) && winner->passed(CheckId::Sanitizer)))
      add(false, "races and uninitialised shared memory on the GPU: the checks 'emulated' and "
                 "'sanitizer' did not both run; run compute-sanitizer on the patched program");
  }
  for (const std::string &place :
       sitesNotRun(searched.subject.kernel, searched.subject.specialization, searched.workload))
    add(false, fmt::format("the kernel as it is launched at {}: no launch of the workload has that "
                           "geometry; --run takes the program's own launches",
                           place));
  for (const ExtractionNote &note : searched.extraction.notes)
    add(false, note.text);
  return events;
}

Result<std::vector<SourceEdit>> addWinnerPatch(const SearchedKernel &searched, RunRecord &run) {
  const Trial &winner = *searched.winner;
  const TuneSubject &subject = searched.subject;
  KOPT_TRY(std::vector<SourceEdit> edits,
           writeBackEdits(subject.kernel, subject.specialization, winner.candidate));
  std::vector<std::filesystem::path> files;
  for (const SourceEdit &edit : edits)
    files.emplace_back(edit.range.file);
  KOPT_TRY(const Patch patch,
           makePatch(edits, searched.extraction.fileHashes, patchRoot(files, searched.build),
                     filesBehind(searched.extraction, subject.kernel, subject.specialization),
                     flagsOf(subject.kernel, winner.candidate)));
  const Speedup &speedup = *winner.speedup;
  PatchMessage message;
  message.subject =
      fmt::format("{}: {} {:.2f}x on {}", subject.label, speedup.modelled ? "modelled" : "measured",
                  speedup.estimate, searched.device.name);
  message.body = fmt::format("{}\n\n{}", winner.candidate.title, winner.reason);
  for (const LaunchTiming &timing : winner.timings)
    message.body += fmt::format("\n  launch {}: {} -> {}", timing.launch,
                                formatDuration(timing.baselineSeconds),
                                formatDuration(timing.candidateSeconds));
  if (winner.assurance.level == AssuranceLevel::Partial) {
    message.body += "\n\nNot shown by these checks:";
    // Use lines of the user's current files, because users do not know the slice.
    KOPT_TRY(const RenderedSlice rendered, renderSlice(subject, winner.candidate));
    const auto lines = SliceLines::make(rendered.text, rendered.chunks, subject.specialization);
    Assurance told = winner.assurance;
    for (AssuranceGap &gap : told.gaps)
      gap.what = lines ? lines->tell(gap.what) : gap.what;
    for (const std::string &gap : inLines(told, 160))
      message.body += "\n  " + gap;
  }
  message.kernel = subject.label;
  message.device = searched.device.name + (speedup.modelled ? " (modelled)" : "");
  message.speedup = inWords(speedup);
  message.verifiedBy = fmt::format("kopt on {}", searched.device.modelled ? "the emulated device"
                                                                          : searched.device.name);
  run.edits = patch.files;
  run.edits.insert(run.edits.end(), patch.others.begin(), patch.others.end());
  run.patchText = formatMail(patch, message);
  return edits;
}

double baselineSeconds(const Baseline &baseline) {
  std::vector<double> counts, seconds;
  for (std::size_t i = 0; i < baseline.trial.timings.size(); ++i) {
    seconds.push_back(baseline.trial.timings[i].baselineSeconds);
    counts.push_back(baseline.workload.launches[i].weight / seconds.back());
  }
  return objectiveSeconds(baseline.workload.objective, counts, seconds);
}

Status recordOnce(Store &store, std::int64_t run, const Trial &trial) {
  KOPT_TRY(const std::vector<Trial> known, store.trials(run));
  for (const Trial &other : known)
    if (other.candidateHash == trial.candidateHash && other.purpose == trial.purpose)
      return {};
  KOPT_TRY(const Trial stored, store.recordTrial(run, trial));
  static_cast<void>(stored);
  return {};
}

} // namespace kopt
