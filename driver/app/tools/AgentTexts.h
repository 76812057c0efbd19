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
/// The instructions that the arguments of `sass` ask for. Fails as nvdisasm did.
Result<ToolResult> listed(const MachineCode &code, const nlohmann::json &arguments);
/// What compile() adds: registers, spills and shared memory, or why they are not known.
std::string factsOf(const Result<MachineCode> &code);
/// The lines of a file that the arguments of `read` ask for. Fails as projectLines().
Result<ToolResult> linesOf(const std::filesystem::path &project, const nlohmann::json &arguments);
ToolResult described(const std::vector<Passage> &passages);
/// What was tried in this session, and the memos of earlier runs.
ToolResult describedHistory(const nlohmann::json &attempts, const nlohmann::json &memos);
/// Why a tool did not do what it was asked for.
ToolResult failed(const Error &error);
/// What a child kopt printed (cli/Envelope.h).
ToolResult described(const nlohmann::json &envelope);

} // namespace kopt
