// SPDX-License-Identifier: Apache-2.0
// `kopt replay`: repeats the launches of a trace with the kernel of a source file, and compares the
// results with those of the program.
#pragma once

#include "driver/app/Workbench.h"

namespace kopt {

struct ReplayRequest : KernelRequest {
  std::filesystem::path trace{};
};

enum class ReplayMatch { Identical, Varies, Differs, Failed };
constexpr auto spellings(ReplayMatch) {
  return std::to_array<std::string_view>({"identical", "varies", "differs", "failed"});
}

struct ReplayedLaunch {
  std::string name;
  ReplayMatch match = ReplayMatch::Failed;
  /// Differs: which buffer differs, and by how much. Varies: the same, but two replays differ from
  /// each other too. Failed: how it ended.
  std::string detail;
  std::uint64_t bytes = 0; ///< bytes of memory that the launch can reach
};

struct ReplayOutcome {
  std::string label;
  DeviceInfo device;
  std::vector<ReplayedLaunch> launches;
  /// Share of the kernel's time in the program that the captured kinds of launches have.
  double coverage = 0;
  std::vector<std::string> notes;
};

/// Returns one outcome for each selected kernel. Fails with StaleInput if the trace is of another
/// program or the kernel has another signature there.
Result<std::vector<ReplayOutcome>> replayTrace(Services services, const ReplayRequest &request);

} // namespace kopt
