// SPDX-License-Identifier: Apache-2.0
// Runs NVIDIA's compute-sanitizer over one launch on a GPU: it watches a kopt-runner that executes
// a prepared script.
#pragma once

#include "driver/device/profile/WatchedRunner.h"
#include "driver/model/Device.h"

#include <string_view>

namespace kopt {

/// Reads the output of compute-sanitizer (its lines begin with "========="). `tool` is memcheck,
/// racecheck, initcheck or synccheck; warnings of racecheck count as errors, too. Without a summary
/// the tool counts as not run.
SanitizerReport parseSanitizer(std::string_view text, const std::string &tool);

class ComputeSanitizer {
public:
  /// `program` is compute-sanitizer, or why there is none; the reports then give that reason.
  ComputeSanitizer(ProcessRunner &processes, Result<std::filesystem::path> program)
      : processes_(processes), program_(std::move(program)) {}
  /// Checks with one of the tools that parseSanitizer() knows.
  Result<SanitizerReport> check(const std::string &tool, const WatchRequest &request);
  /// Checks with each of these tools, all at the same time, each in its own folder. Returns one
  /// report for each tool.
  Result<std::vector<SanitizerReport>> checkWith(const std::vector<std::string> &tools,
                                                 const WatchRequest &request);

private:
  ProcessRunner &processes_;
  Result<std::filesystem::path> program_;
};

} // namespace kopt
