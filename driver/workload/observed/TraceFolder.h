// SPDX-License-Identifier: Apache-2.0
// Reads a trace: the logs of all processes of a program.
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
  std::vector<runtime::trace::ProcessTrace> processes; ///< in the order of their folders' names

  std::size_t launchCount() const;
  /// What could not be recorded, and why, for all processes; each note once.
  std::vector<std::string> notes() const;
};

/// What one of the user's commands launched.
struct ObservedRun {
  std::string command;
  ObservedTrace trace;
};

/// Fails with Usage if the folder is not a trace, and with StaleInput if a log cannot be read; the
/// message names the file and the offset.
Result<ObservedTrace> readTrace(const std::filesystem::path &folder);

/// The contents of a buffer that a trace stores in this file. Fails with StaleInput if it is
/// damaged.
Result<std::string> capturedBytes(const std::string &path);

/// Why a captured launch cannot be repeated by itself; nothing if it can.
std::optional<std::string> whyNotReplayable(const runtime::trace::Launch &launch);

} // namespace kopt
