// SPDX-License-Identifier: Apache-2.0
#include "driver/app/agent/KoptChild.h"

#include "driver/support/CommandWords.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Log.h"
#include "driver/support/Text.h"

#include <fmt/format.h>

namespace kopt {

Result<nlohmann::json> runKopt(ProcessRunner &processes, const std::vector<std::string> &arguments,
                               const ToolCall &call) {
  KOPT_TRY(const TemporaryDirectory scratch, TemporaryDirectory::create("kopt-child"));
  const std::filesystem::path result = scratch.path() / "result.json";
  std::error_code ignored;
  ProcessSpec spec;
  // What it says of its progress is read as it comes, so its result goes to a file.
  spec.argv = {"/bin/sh",
               "-c",
               "result=$1; shift; exec \"$@\" 2>&1 >\"$result\"",
               "sh",
               result.string(),
               std::filesystem::read_symlink("/proc/self/exe", ignored).string()};
  spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
  logLine("kopt: " + joinCommand(arguments));
  KOPT_TRY(const auto child, processes.start(spec));
  std::string last;
  for (double lines = 0;;) {
    if (call.cancelled) {
      child->kill();
      return makeError(ErrorCode::Interrupted, "cancelled");
    }
    const Result<std::string> line = child->readLine(Duration(0.2));
    if (line) {
      last = withoutControls(*line);
      call.progress(++lines, 0, last);
    } else if (line.error().code != ErrorCode::BudgetEnded) {
      break; // it has ended
    }
  }
  child->wait();
  const nlohmann::json printed =
      nlohmann::json::parse(readFile(result).value_or(""), nullptr, /*allow_exceptions=*/false);
  if (!printed.is_object())
    return makeError(ErrorCode::Environment,
                     fmt::format("kopt {} ended without a result: {}", arguments.front(), last));
  return printed;
}

} // namespace kopt
