// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/app/services/Sources.h"
#include "driver/config/ExecutorChoice.h"
#include "driver/sandbox/Sandbox.h"

#include <filesystem>
#include <string>

namespace kopt {

/// What a command is asked for: which kernels, and where they run.
struct KernelRequest {
  SourceSettings sources{};     ///< of the baseline
  SelectionRequest selection{}; ///< with clauses of kopt.toml
  DeviceConfig device{};
  HostSettings executor{}; ///< where candidates are judged
  SandboxMode sandbox = SandboxMode::Auto;
  std::string arch{};          ///< empty: the device's
  std::int64_t buildCache = 0; ///< MiB of builds that are kept for later runs; 0: none
  /// Command whose launches are the workload; empty: the declared launches are the workload.
  std::string program{};
  std::filesystem::path root{}; ///< .kopt/ lives here
};

} // namespace kopt
