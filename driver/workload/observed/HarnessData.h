// SPDX-License-Identifier: Apache-2.0
// Writes captured launches as files that a harness reads
// (clang_plugin/output/harness/HarnessLaunch.h).
#pragma once

#include "driver/workload/observed/TraceWorkload.h"

#include <filesystem>

namespace kopt {

/// Writes one launch to `folder`: launch-INDEX.txt, for people as well, and a file with each
/// content of its buffers before and after, named by its hash, unless it is there already. Fails
/// with StaleInput if a content of the trace is damaged.
Status writeHarnessLaunch(const CapturedLaunch &captured, const Specialization &specialization,
                          const Tolerance &tolerance, std::size_t index,
                          const std::filesystem::path &folder);

} // namespace kopt
