// SPDX-License-Identifier: Apache-2.0
// Takes counters of one launch on a GPU with Nsight Compute, which watches a kopt-runner that
// executes a prepared script.
#pragma once

#include "driver/device/profile/WatchedRunner.h"
#include "driver/model/Device.h"

#include <optional>
#include <string_view>
#include <vector>

namespace kopt {

class NcuProfiler {
public:
  /// `program` is ncu, or why there is none.
  NcuProfiler(ProcessRunner &processes, Result<std::filesystem::path> program)
      : processes_(processes), program_(std::move(program)) {}

  /// Takes counters of the first kernel that is launched, with source "ncu". If there can be none
  /// (no ncu, counters denied) they are empty, the first time with the reason and its remedy in
  /// `detail`, and nothing is tried later. Clocks are left as they are.
  Result<ProfileOutcome> profile(const WatchRequest &request);

private:
  ProcessRunner &processes_;
  Result<std::filesystem::path> program_;
  std::vector<std::string> unknownMetrics_; ///< metrics that this ncu refused for this GPU
  bool unavailable_ = false;
};

struct NcuKernel {
  std::string name;
  Counters counters;
};

/// The command that counts the first `launches` launches of the program whose command line is
/// appended: it prints a table on standard output, flushes caches before each pass, and leaves
/// clocks as they are.
std::vector<std::string> ncuCommand(const std::filesystem::path &ncu,
                                    const std::vector<std::string> &metrics, int launches);

/// The kernels in the output of `ncu --csv --page raw`, in order. Values are in base units: bytes,
/// nanoseconds, hertz, and rates per second. A metric without a value or with an unknown unit is
/// absent. Fails with Internal if the text has no such table.
Result<std::vector<NcuKernel>> parseNcuCsv(std::string_view text);

/// The first error line of ncu; empty if there is none.
std::string ncuErrorLine(const ProcessResult &result);

/// If ncu has no permission to count: says so, with the remedy. Nothing otherwise.
std::optional<std::string> deniedCounters(const ProcessResult &result);

} // namespace kopt
