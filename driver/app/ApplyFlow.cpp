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
  KOPT_TRY(const Patch patch, parsePatch(run.patchText, patchRoot(run.file)));
  return applyPatch(patch, checkOnly);
}

} // namespace kopt
