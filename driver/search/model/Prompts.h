// SPDX-License-Identifier: Apache-2.0
// The prompts for a language model, made from knowledge/prompts/*.md and records alone: the same
// records give the same text, so that a resumed run finds its stored replies. What stays the same
// comes first, so that a service may keep it.
#pragma once

#include "driver/search/model/PromptSections.h"
#include "driver/search/model/SectionTexts.h"

#include <set>
#include <string>
#include <vector>

namespace kopt {

inline constexpr std::size_t kPromptBudget = 60u << 10; ///< bytes of a task

struct PromptOptions {
  std::size_t budget = kPromptBudget;
  std::set<std::string> without{}; ///< sections that are left out, to see what they are worth
};

/// The same for every call of every run with these options.
Result<Prompt> systemPrompt(const PromptOptions &options = {});
/// Asks for changes of the present version, of which `task` is.
Result<Prompt> taskPrompt(const ProposalContext &context, const CodeTask &task,
                          const PromptOptions &options = {});
/// What came of candidates, for the conversation that proposed them, in its order. It shows the
/// present version unless that is the candidate `known`, by its hash.
Result<Prompt> continuationPrompt(const ProposalContext &context,
                                  const std::vector<const Trial *> &judged,
                                  const std::string &known, const PromptOptions &options = {});
/// Asks again for the candidates that broke the contract, and for those alone.
Result<std::string> retryPrompt(const CodeReply &reply);

} // namespace kopt
