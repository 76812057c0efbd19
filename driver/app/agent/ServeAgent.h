// SPDX-License-Identifier: Apache-2.0
// `kopt mcp`: serves an agent that works on the project in the current folder.
#pragma once

#include "driver/app/agent/AgentTools.h"

namespace kopt {

/// Reads messages of the Model Context Protocol from one file descriptor, a line each, and writes
/// to the other, until the first ends, the second is closed or the user interrupts: then what is
/// under way is cancelled. Fails as AgentTools::make().
Status serveAgent(const Services &services, const KernelRequest &request,
                  const JudgeOptions &options, const AgentSettings &settings, int in, int out);

/// The text of SKILL.md, for agents that run commands.
std::string skillText();

} // namespace kopt
