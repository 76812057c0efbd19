// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/JudgeBench.h"

namespace kopt {

Result<bool> JudgeBench::load(Built &built, Trial &trial) {
  const StageTimer timer(trial, "load");
  auto loaded = runner().load(built.path, built.symbol);
  if (!loaded && loaded.error().code != ErrorCode::BaselineFailed)
    return tl::unexpected(loaded.error()); // not the module's fault
  if (!loaded) {
    trial.verdict = Verdict::RunFailed;
    trial.reason = loaded.error().what;
    return false;
  }
  trial.resources = *loaded;
  trial.resources->id = 0; // valid only in this process, so not part of the record
  built.module = loaded->id;
  return true;
}

void JudgeBench::prepareProcesses() {
  if (!isModelled() && options.times && options.processes > 1)
    runner().prepareRenewals(options.processes);
}

} // namespace kopt
