// SPDX-License-Identifier: Apache-2.0
// Counters of one launch on a GPU through Nsight Compute, which watches a kopt-runner that executes
// a prepared script.
#pragma once

#include "driver/model/Device.h"
#include "driver/support/Process.h"

#include <optional>
#include <string_view>
#include <vector>

namespace kopt {

struct NcuRequest {
  std::vector<std::string> runner; ///< kopt-runner with its device, without a script
  std::string script; ///< request lines; the first kernel launched is the one that is counted
  std::filesystem::path folder; ///< for the script and its replies
  Duration deadline{120};
};

class NcuProfiler {
public:
  /// `program` is ncu, or why there is none.
  NcuProfiler(ProcessRunner &processes, Result<std::filesystem::path> program)
      : processes_(processes), program_(std::move(program)) {}

  /// Counters, source "ncu". Where there can be none (no ncu, counters denied) they are empty, with
  /// the reason and its remedy in `detail` the first time and nothing tried later. Clocks are left
  /// as they are.
  Result<ProfileOutcome> profile(const NcuRequest &request);

private:
  ProcessRunner &processes_;
  Result<std::filesystem::path> program_;
  std::vector<std::string> unknownMetrics_; ///< that this ncu refused for this GPU
  bool unavailable_ = false;
};

struct NcuKernel {
  std::string name;
  Counters counters;
};

/// The command that counts the first `launches` launches of the program whose arguments follow: a
/// table on standard output, caches emptied before each pass, clocks left as they are.
std::vector<std::string> ncuCommand(const std::filesystem::path &ncu,
                                    const std::vector<std::string> &metrics, int launches);

/// The kernels in the output of `ncu --csv --page raw`, in order. Base units: bytes, nanoseconds,
/// hertz, and rates of these per second; a metric without a value, or with a unit that is not
/// understood, is absent. Fails with Internal where the text holds no such table.
Result<std::vector<NcuKernel>> parseNcuCsv(std::string_view text);

/// The first line of what ncu says is wrong; empty where it says nothing.
std::string ncuErrorLine(const ProcessResult &result);

/// Where ncu may not count: that, and the remedy.
std::optional<std::string> deniedCounters(const ProcessResult &result);

} // namespace kopt
