// SPDX-License-Identifier: Apache-2.0
// Runs NVIDIA's compute-sanitizer over one launch on a GPU: it watches a kopt-runner that executes
// a prepared script.
#pragma once

#include "driver/model/Device.h"
#include "driver/support/Process.h"

#include <string_view>

namespace kopt {

/// Reads the output of compute-sanitizer (its lines begin with "========="). `tool` is memcheck,
/// racecheck, initcheck or synccheck; warnings of racecheck count as errors, too. Without a summary
/// the tool counts as not run.
SanitizerReport parseSanitizer(std::string_view text, const std::string &tool);

struct SanitizerRequest {
  std::string tool;
  std::vector<std::string> runner; ///< the command of kopt-runner with its device, without a script
  std::string script;              ///< lines of requests
  std::filesystem::path folder;    ///< folder for the script and its replies
  Duration deadline{120};
};

class ComputeSanitizer {
public:
  /// `program` is compute-sanitizer, or why there is none; the reports then give that reason.
  ComputeSanitizer(ProcessRunner &processes, Result<std::filesystem::path> program)
      : processes_(processes), program_(std::move(program)) {}
  Result<SanitizerReport> check(const SanitizerRequest &request);
  /// Checks the request with each of these tools in place of its own, all at the same time, each in
  /// its own folder. Returns one report for each tool.
  Result<std::vector<SanitizerReport>> checkWith(const std::vector<std::string> &tools,
                                                 const SanitizerRequest &request);

private:
  ProcessRunner &processes_;
  Result<std::filesystem::path> program_;
};

} // namespace kopt
