// SPDX-License-Identifier: Apache-2.0
// A trace as kopt reads it: the logs of all processes, and where their buffers are.
#pragma once

#include "driver/support/Result.h"
#include "runtime/trace/Trace.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

struct ObservedTrace {
  std::filesystem::path folder;
  std::vector<runtime::trace::ProcessTrace> processes; ///< by the names of their folders

  std::size_t launchCount() const;
  /// Of all processes, each once: what could not be recorded, and why.
  std::vector<std::string> notes() const;
};

/// Fails with Usage if the folder is not a trace, with StaleInput where a log cannot be read: the
/// message names file and offset.
Result<ObservedTrace> readTrace(const std::filesystem::path &folder);

/// Whether a captured launch can be run again by itself; otherwise why not.
std::optional<std::string> whyNotReplayable(const runtime::trace::Launch &launch);

} // namespace kopt
