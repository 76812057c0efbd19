// SPDX-License-Identifier: Apache-2.0
// What NVIDIA's compute-sanitizer says of one launch on a GPU: it watches a kopt-runner that
// executes a prepared script.
#pragma once

#include "driver/model/Device.h"
#include "driver/support/Process.h"

#include <optional>
#include <string_view>

namespace kopt {

/// Reads the output of compute-sanitizer (its lines begin with "========="). `tool` is memcheck,
/// racecheck, initcheck or synccheck; warnings of racecheck count as errors. Nothing of the text is
/// taken for a pass: without a summary the tool did not run.
SanitizerReport parseSanitizer(std::string_view text, const std::string &tool);

struct SanitizerRequest {
  std::string tool;
  std::vector<std::string> runner; ///< kopt-runner with its device, without a script
  std::string script;              ///< request lines
  std::filesystem::path folder;    ///< for the script and its replies
  Duration deadline{120};
};

class ComputeSanitizer {
public:
  /// `program` is compute-sanitizer, or why there is none, which the reports then say.
  ComputeSanitizer(ProcessRunner &processes, Result<std::filesystem::path> program)
      : processes_(processes), program_(std::move(program)) {}
  Result<SanitizerReport> check(const SanitizerRequest &request);
  /// The request by each of these tools instead of its own, all at once, each in a folder of its
  /// own. A report for each.
  Result<std::vector<SanitizerReport>> checkWith(const std::vector<std::string> &tools,
                                                 const SanitizerRequest &request);

private:
  ProcessRunner &processes_;
  Result<std::filesystem::path> program_;
};

} // namespace kopt
