// SPDX-License-Identifier: Apache-2.0
// The texts a language model is sent, made of knowledge/prompts/*.md and of records alone: the same
// records give the same text, so that a resumed run finds its answers. They hold source and
// figures, never the contents of buffers.
#pragma once

#include "driver/llm/CodeReply.h"
#include "driver/search/proposers/Proposer.h"

#include <map>
#include <string>
#include <string_view>

namespace kopt {

/// Puts values in place of {{name}}, once: braces inside a value stay as they are. Fails with
/// Internal on a name that has no value or is never used.
Result<std::string> fillTemplate(std::string_view text,
                                 const std::map<std::string, std::string> &values);

/// The text as a block between fences that it cannot close itself.
std::string fenced(std::string_view text, std::string_view info = "text");

/// What a model is asked to change: the chunks and constants of one candidate, as they would be
/// compiled.
struct CodeTask {
  CodeContract contract;
  std::map<std::string, std::size_t> chunkOfLabel;
  std::string context; ///< read-only chunks, in order
};

/// The task over `base` (the incumbent, or an attempt to repair).
Result<CodeTask> makeCodeTask(const ProposalContext &context, const Candidate &base);

/// The stable prefix: the same for every call of every run.
Result<std::string> systemPrompt();
Result<std::string> coderPrompt(const ProposalContext &context, const CodeTask &task);
Result<std::string> fixerPrompt(const ProposalContext &context, const CodeTask &task,
                                const Trial &failed);
Result<std::string> retryPrompt(const std::string &breach);

} // namespace kopt
