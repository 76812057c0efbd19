// SPDX-License-Identifier: Apache-2.0
// Nsight Compute's own view of a launch: its sections, what its rules advise, and its counters by
// instruction.
#pragma once

#include "driver/device/profile/NcuProfiler.h"
#include "driver/support/Process.h"

namespace kopt {

/// `ncu --import FILE --page details --csv`: a row a metric, and a row for each thing that a rule
/// says (columns "Rule Name", "Rule Type", "Rule Description", and since 2022 "Estimated Speedup
/// Type" and "Estimated Speedup"). Of the first kernel. Fails with Internal where there is no such
/// table.
Result<NcuReport> parseNcuDetails(std::string_view text);

/// `ncu --import FILE --page source --csv`: a row an instruction (columns "Address", "Source",
/// "Warp Stall Sampling (All ...", "Instructions Executed"). Of the first kernel; offsets are from
/// its lowest address. Fails with Internal where there is no such table or nothing in it was
/// counted.
Result<InstructionCounts> parseNcuSource(std::string_view text);

/// Lets ncu watch the runner of `request` once, into a report, and reads that. Where ncu gives
/// nothing the report says why; an error is kopt's own. `sections` are names as `ncu
/// --list-sections` prints them; none: the set "detailed".
Result<NcuReport> inspectLaunch(ProcessRunner &processes, const Result<std::filesystem::path> &ncu,
                                const NcuRequest &request,
                                const std::vector<std::string> &sections);

} // namespace kopt
