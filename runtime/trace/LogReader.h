// SPDX-License-Identifier: Apache-2.0
// Reads logs. A log of a killed program ends where it ends; anything that no writer writes is an
// error that names the file and the offset, never a crash: a trace may come from anyone.
#pragma once

#include "runtime/trace/Trace.h"

#include <string>
#include <string_view>

namespace kopt::runtime::trace {

/// Launches a log may hold, the nodes of its launched graphs counted each time.
inline constexpr std::size_t kMostLaunches = 8'000'000;

/// Reads the bytes of a log; `name` is for messages. The trace points into `bytes`. False with
/// `why`.
bool readLog(std::string_view bytes, const std::string &name, ProcessTrace &out, std::string &why);

/// Maps the file and reads it; the trace keeps the mapping.
bool readLogFile(const std::string &path, ProcessTrace &out, std::string &why);

} // namespace kopt::runtime::trace
