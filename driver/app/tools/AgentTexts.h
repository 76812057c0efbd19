// SPDX-License-Identifier: Apache-2.0
// Results as a model reads them: short, the verdict first. What users, compilers and devices wrote
// stands in texts alone.
#pragma once

#include "driver/app/tools/AgentBench.h"

namespace kopt {

/// The tools of knowledge/tools.json, as they stand there.
std::vector<Tool> agentTools();

ToolResult described(const std::vector<AgentKernel> &kernels);
ToolResult described(const KernelView &view);
/// A trial, or a look that ended before it was timed.
ToolResult described(const TrialOutcome &outcome);
ToolResult described(const ProfileReport &report);
/// Instructions number `from` (from 1) to that of `most` later.
ToolResult described(const MachineCode &code, std::size_t from, std::size_t most);
/// What compile() adds: registers, spills and shared memory.
std::string factsOf(const MachineCode &code);
ToolResult described(const std::vector<Passage> &passages);
/// What was tried in this session, and the memos of earlier runs.
ToolResult describedHistory(const nlohmann::json &attempts, const nlohmann::json &memos);
/// What a child kopt printed (cli/Envelope.h).
ToolResult described(const nlohmann::json &envelope);

} // namespace kopt
