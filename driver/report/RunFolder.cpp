// SPDX-License-Identifier: Apache-2.0
#include "driver/report/RunFolder.h"

#include "driver/report/Report.h"
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

Status writeTrial(const fs::path &folder, const RunRecord &run, const Trial &trial) {
  if (!trial.sliceText.empty()) {
    KOPT_CHECK(writeFileAtomically(folder / "candidate.cu", trial.sliceText));
    const std::string diff = formatDiff(diffTexts("kernel.cu", run.sliceText, trial.sliceText));
    if (!diff.empty() && !run.sliceText.empty())
      KOPT_CHECK(writeFileAtomically(folder / "diff.patch", diff));
  }
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
                          run, trial));
  }
  // Write the patch last, so that it never exists without its evidence.
  if (!run.patchText.empty())
    KOPT_CHECK(writeFileAtomically(folder / "winner.patch", run.patchText));
  return {};
}

} // namespace kopt
