// SPDX-License-Identifier: Apache-2.0
#include "driver/app/ApplyFlow.h"

#include "driver/app/ReportFlow.h"

#include <fmt/format.h>

namespace kopt {

Result<std::vector<AppliedFile>> applyRun(const std::filesystem::path &root,
                                          const std::string &name, bool checkOnly) {
  KOPT_TRY(const RunHistory history, findRun(root, name));
  const RunRecord &run = history.run;
  if (run.patchText.empty())
    return makeError(ErrorCode::Usage, fmt::format("run '{}' has no winner to apply", run.name),
                     fmt::format("'kopt report --run-id {}' lists what was tried", run.name));
  if (run.edits.empty())
    return makeError(
        ErrorCode::StaleInput,
        fmt::format("run '{}' was recorded by an older kopt, which did not store its edits",
                    run.name),
        "run kopt tune again, or use git apply with the winner.patch of the run's folder");
  return applyPatch(run.edits, patchRoot(run.file), checkOnly);
}

} // namespace kopt
