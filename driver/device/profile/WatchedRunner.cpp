// SPDX-License-Identifier: Apache-2.0
#include "driver/device/profile/WatchedRunner.h"

#include "driver/device/build/ChildEnvironment.h"
#include "driver/support/FileSystem.h"

namespace kopt {

Result<ProcessResult> watchRunner(ProcessRunner &processes, std::vector<std::string> tool,
                                  const WatchRequest &request) {
  KOPT_CHECK(createDirectories(request.folder));
  const std::filesystem::path script = request.folder / "requests";
  KOPT_CHECK(writeFileAtomically(script, request.script));
  ProcessSpec spec;
  spec.argv = std::move(tool);
  spec.argv.insert(spec.argv.end(), request.runner.begin(), request.runner.end());
  spec.argv.insert(spec.argv.end(),
                   {"--script", script.string(), "--replies", request.replies().string()});
  spec.unsetEnv = secretVariableNames();
  spec.timeout = request.deadline;
  return processes.run(spec);
}

} // namespace kopt
