// SPDX-License-Identifier: Apache-2.0
#include "driver/search/model/Prompts.h"

#include "driver/diagnose/RuleBook.h"
#include "driver/diagnose/Techniques.h"
#include "driver/support/Text.h"
#include "knowledge/PromptFiles.h"

#include <fmt/format.h>
#include <ranges>

namespace kopt {
namespace {

constexpr std::size_t kMostBreaches = 12; ///< of a reply that are sent back

Result<std::string> promptFile(std::string_view name) {
  for (const auto &[path, text] : knowledge::prompts::kFiles)
    if (path == name)
      return std::string(text);
  return makeError(ErrorCode::Internal,
                   fmt::format("there is no prompt knowledge/prompts/{}", name));
}

/// The prompt of these sections and the task of that file.
Result<Prompt> withTask(std::vector<PromptSection> sections, std::string_view file,
                        const PromptOptions &options) {
  KOPT_TRY(std::string task, promptFile(file));
  sections.push_back({"task", std::move(task), ""});
  return fit(std::move(sections), options.budget, options.without);
}

} // namespace

Result<Prompt> systemPrompt(const PromptOptions &options) {
  KOPT_TRY(std::string contract, promptFile("system.md"));
  KOPT_TRY(const Techniques techniques, Techniques::load());
  std::vector<std::string> names;
  for (const Technique &technique : techniques.all())
    names.push_back(technique.id);
  return fit(
      {{"contract", std::move(contract), ""},
       {"techniques", "Their names: " + join(names, ", ") + ".\n", ""},
       {"catalogue",
        "kopt's documents. The task quotes those that bear on it.\n\n" + RuleBook::skillCatalogue(),
        ""}},
      options.budget, options.without);
}

Result<Prompt> taskPrompt(const ProposalContext &context, const CodeTask &task,
                          const PromptOptions &options) {
  const SearchProblem &problem = context.problem;
  const Trial &present = context.parentTrial();
  KOPT_TRY(std::string skills, skillsText(present.diagnosis));
  return withTask({{"subject", subjectText(problem)},
                   {"launches", launchesText(problem)},
                   {"device", deviceText(problem.device)},
                   {"context", task.context, "cuda"},
                   {"kernel", kernelText(context, task, present.candidate), ""},
                   {"bound", boundText(present)},
                   {"rules", rulesText(present.diagnosis)},
                   {"skills", std::move(skills), "markdown"},
                   {"contrast", contrastText(context, {})},
                   {"attempts", attemptsText(context)},
                   {"differences", differencesText(context), "diff"}},
                  "coder.md", options);
}

Result<Prompt> continuationPrompt(const ProposalContext &context,
                                  const std::vector<const Trial *> &judged,
                                  const std::string &known, const PromptOptions &options) {
  std::vector<PromptSection> sections{{"evidence", evidenceText(context, judged)},
                                      {"contrast", contrastText(context, judged)}};
  if (const Trial &present = context.parentTrial(); present.candidateHash != known) {
    KOPT_TRY(const CodeTask task, makeCodeTask(context, present.candidate));
    sections.push_back({"kernel", kernelText(context, task, present.candidate), ""});
    sections.push_back({"bound", boundText(present)});
    sections.push_back({"rules", rulesText(present.diagnosis)});
  }
  return withTask(std::move(sections), "continue.md", options);
}

Result<std::string> retryPrompt(const CodeReply &reply) {
  KOPT_TRY(const std::string text, promptFile("retry.md"));
  std::string breaches, taken;
  for (const auto &[candidate, where, what] : reply.breaches | std::views::take(kMostBreaches))
    breaches += "- " + (candidate.empty() ? "" : "candidate " + quoted(candidate, 40) + ", ") +
                quoted(where, 120) + ": " + quoted(what, 600) + "\n";
  for (const ReplyCandidate &candidate : reply.candidates)
    taken += (taken.empty() ? "" : ", ") + quoted(candidate.id, 40);
  return fmt::format("Not all of your reply can be used:\n\n{}\nCandidates that were taken as they "
                     "are: {}. {}",
                     breaches, taken.empty() ? "none" : taken, text);
}

} // namespace kopt
