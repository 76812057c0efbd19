// SPDX-License-Identifier: Apache-2.0
// Nsight Compute's report about a launch: its sections, the advice of its rules, and its counters
// by instruction.
#pragma once

#include "driver/device/profile/NcuProfiler.h"
#include "driver/support/Process.h"

namespace kopt {

/// Reads the output of `ncu --import FILE --page details --csv` for the first kernel: one row for
/// each metric, and one for each message of a rule (columns "Rule Name", "Rule Type", "Rule
/// Description", and since 2022 "Estimated Speedup Type" and "Estimated Speedup"). A message
/// that a rule gives again is left out. Fails with Internal if there is no such table.
Result<NcuReport> parseNcuDetails(std::string_view text);

/// Reads the output of `ncu --import FILE --page source --csv` for the first kernel: one row for
/// each instruction (columns "Address", "Source", "Warp Stall Sampling (All ...", "Instructions
/// Executed"). Offsets are from its lowest address. Fails with Internal if there is no such table
/// or it has no counts.
Result<InstructionCounts> parseNcuSource(std::string_view text);

/// Lets ncu watch the runner of `request` once, and reads its report. If ncu gives nothing, the
/// result says why; an Error is kopt's own. `sections` are names as printed by `ncu
/// --list-sections`; if empty, the set "detailed" is used.
Result<NcuReport> inspectLaunch(ProcessRunner &processes, const Result<std::filesystem::path> &ncu,
                                const WatchRequest &request,
                                const std::vector<std::string> &sections);

} // namespace kopt
