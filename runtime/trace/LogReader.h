// SPDX-License-Identifier: Apache-2.0
// Reads logs. The log of a killed program may end anywhere. Logs are not trusted: anything that no
// writer writes is an error that names the file and the offset, never a crash.
#pragma once

#include "runtime/trace/Trace.h"

#include <string>
#include <string_view>

namespace kopt::runtime::trace {

/// The most launches that a log may hold. The nodes of a graph count at each launch of the graph.
inline constexpr std::size_t kMostLaunches = 8'000'000;

/// Reads the bytes of a log; `name` is for messages. The trace points into `bytes`. On failure
/// returns false and gives the reason in `why`.
bool readLog(std::string_view bytes, const std::string &name, ProcessTrace &out, std::string &why);

/// Maps the file and reads it; the trace keeps the mapping.
bool readLogFile(const std::string &path, ProcessTrace &out, std::string &why);

} // namespace kopt::runtime::trace
