// SPDX-License-Identifier: Apache-2.0
// `kopt replay`: the launches of a trace once more, with the kernel of a source file, and what came
// out compared with what the program had.
#pragma once

#include "driver/app/Workbench.h"

namespace kopt {

struct ReplayRequest {
  std::filesystem::path trace;
  SourceSettings sources;
  SelectionRequest selection;
  DeviceConfig device;
  SandboxMode sandbox = SandboxMode::Auto;
  std::string arch; ///< empty: the device's
};

enum class ReplayMatch { Identical, Varies, Differs, Failed };
const char *toString(ReplayMatch match);

struct ReplayedLaunch {
  std::string name;
  ReplayMatch match = ReplayMatch::Failed;
  /// Differs: which buffer and how far it is off. Varies: it differs, but two runs of it here do so
  /// too. Failed: how it ended.
  std::string detail;
  std::uint64_t bytes = 0; ///< of memory that the launch can reach
};

struct ReplayOutcome {
  std::string label;
  DeviceInfo device;
  std::vector<ReplayedLaunch> launches;
  double coverage =
      0; ///< of the kernel's time in the program, by kinds of launches that were captured
  std::vector<std::string> notes;
};

/// One outcome per selected kernel. Fails with StaleInput where the trace is of another program or
/// signature.
Result<std::vector<ReplayOutcome>> replayTrace(Services services, const ReplayRequest &request);

} // namespace kopt
