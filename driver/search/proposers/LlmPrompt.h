// SPDX-License-Identifier: Apache-2.0
// Makes the prompts for a language model from knowledge/prompts/*.md and records alone: the same
// records give the same text, so that a resumed run finds its stored replies. Prompts contain
// source and figures, never the contents of buffers.
#pragma once

#include "driver/llm/contract/Contract.h"
#include "driver/search/Proposer.h"

#include <map>
#include <string>
#include <string_view>

namespace kopt {

/// Replaces each {{name}} by its value; braces inside a value are not replaced. Fails with Internal
/// if a name has no value or a value is never used.
Result<std::string> fillTemplate(std::string_view text,
                                 const std::map<std::string, std::string> &values);

/// The text as a fenced block, with fences that the text cannot close.
std::string fenced(std::string_view text, std::string_view info = "text");

/// The task for a model: the chunks and constants of one candidate that it may change, as they
/// would be compiled.
struct CodeTask {
  CodeContract contract;
  std::map<std::string, std::size_t> chunkOfLabel;
  std::string context; ///< the read-only chunks, in order
};

/// The task to change `base` (the incumbent, or a failed attempt).
Result<CodeTask> makeCodeTask(const ProposalContext &context, const Candidate &base);

/// The system prompt, which is the same for every call of every run.
Result<std::string> systemPrompt();
Result<std::string> coderPrompt(const ProposalContext &context, const CodeTask &task);
Result<std::string> fixerPrompt(const ProposalContext &context, const CodeTask &task,
                                const Trial &failed);
/// Asks again for the candidates that broke the contract, and for those alone.
Result<std::string> retryPrompt(const CodeReply &reply);

} // namespace kopt
