// SPDX-License-Identifier: Apache-2.0
#include "driver/report/RunFolder.h"

#include "driver/diagnose/CounterTable.h"
#include "driver/diagnose/States.h"
#include "driver/report/Report.h"
#include "driver/report/facts/TrialNames.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Text.h"
#include "driver/support/UnifiedDiff.h"

#include <fmt/format.h>

namespace kopt {
namespace {

namespace fs = std::filesystem;

/// "012-faster-pad-tile": sorts in the order of the trials and contains the outcome.
std::string folderName(std::size_t index, const Trial &trial, bool baseline) {
  if (baseline)
    return fmt::format("{:03}-baseline", index);
  const std::string kind = trial.purpose == Purpose::Confirmation ? "confirm"
                           : trial.purpose == Purpose::HeldOut    ? "held-out"
                                                                  : verdictInWords(trial.verdict);
  std::string name = fmt::format("{:03}-{}", index, slug(kind));
  if (const std::string title = slug(trial.candidate.title); !title.empty())
    name += "-" + title;
  return name;
}

/// What became of a trial, why it was made, what bounds it, and its counters.
std::string memoOf(const RunHistory &history, std::size_t index) {
  const Trial &trial = history.trials[index];
  const Diagnosis &diagnosis = trial.diagnosis;
  std::string memo = outcomeOf(history, index) + "\n";
  if (!trial.candidate.rationale.empty())
    memo += fmt::format("because: {}\n", oneLine(trial.candidate.rationale));
  if (!diagnosis.state.empty())
    memo += fmt::format("state {}: {}\nbound: {}\n", diagnosis.state, diagnosis.finding,
                        boundInWords(diagnosis));
  for (const RuleHit &hit : diagnosis.hits)
    memo += fmt::format("{} ({}): {}\n", hit.id, hit.severity, hit.finding);
  for (const auto &[label, value] : describeCounters(trial.counters))
    memo += fmt::format("  {:<44} {:>12}\n", label, value);
  return memo;
}

/// Writes how the trial's code differs from another's, unless it is the same or not recorded.
Status writeDiff(const fs::path &file, const std::string &before, const Trial &trial) {
  if (before.empty() || before == trial.sliceText)
    return {};
  return writeFileAtomically(file, formatDiff(diffTexts("kernel.cu", before, trial.sliceText)));
}

Status writeTrial(const fs::path &folder, const RunHistory &history, std::size_t index) {
  const Trial &trial = history.trials[index];
  if (!trial.sliceText.empty()) {
    KOPT_CHECK(writeFileAtomically(folder / "candidate.cu", trial.sliceText));
    KOPT_CHECK(writeDiff(folder / "diff.patch", history.run.sliceText, trial));
    const std::vector<std::string> &parents = trial.candidate.parents;
    const auto parent = parents.empty() ? std::nullopt : history.indexOf(parents.front());
    if (parent && &history.trials[*parent] != history.baseline())
      KOPT_CHECK(writeDiff(folder / "parent.patch", history.trials[*parent].sliceText, trial));
  }
  KOPT_CHECK(writeFileAtomically(folder / "memo.txt", memoOf(history, index)));
  if (!trial.buildLog.empty())
    KOPT_CHECK(writeFileAtomically(folder / "build.log", trial.buildLog));
  return writeFileAtomically(folder / "trial.json", renderTrialJson(trial));
}

/// Removes the folders of trials from an earlier call, because a trial whose outcome has changed
/// now has another folder name.
void removeStaleTrials(const fs::path &folder) {
  std::error_code ignored;
  if (isThere(folder / "run.json")) // only in a folder that an earlier call wrote
    fs::remove_all(folder / "trials", ignored);
  fs::remove(folder / "winner.patch", ignored);
}

} // namespace

Status writeRunFolder(Store &store, const RunRecord &run, const fs::path &folder) {
  KOPT_TRY(const RunHistory history, loadRun(store, run));
  removeStaleTrials(folder);
  KOPT_CHECK(writeFileAtomically(folder / "run.json", renderJson(history)));
  KOPT_CHECK(writeFileAtomically(folder / "report.md", renderMarkdown(history)));
  KOPT_CHECK(writeFileAtomically(folder / "report.html", renderHtml(history)));
  if (!run.sliceText.empty())
    KOPT_CHECK(writeFileAtomically(folder / "kernel.cu", run.sliceText));
  for (std::size_t i = 0; i < history.trials.size(); ++i) {
    const Trial &trial = history.trials[i];
    KOPT_CHECK(writeTrial(folder / "trials" / folderName(i, trial, &trial == history.baseline()),
                          history, i));
  }
  // Write the patch last, so that it never exists without its evidence.
  if (!run.patchText.empty())
    KOPT_CHECK(writeFileAtomically(folder / "winner.patch", run.patchText));
  return {};
}

Status writeTranscripts(const RunHistory &history, const fs::path &folder) {
  std::size_t number = 0;
  for (const ModelCall &call : history.modelCalls) {
    const fs::path file = folder / "calls" / fmt::format("{:03}-{}", ++number, slug(call.purpose));
    KOPT_CHECK(writeFileAtomically(file.string() + ".request", call.request));
    KOPT_CHECK(writeFileAtomically(file.string() + ".reply", call.reply));
  }
  return {};
}

} // namespace kopt
