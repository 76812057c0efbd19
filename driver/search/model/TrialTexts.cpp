// SPDX-License-Identifier: Apache-2.0
#include "driver/diagnose/Contrast.h"
#include "driver/diagnose/CounterTable.h"
#include "driver/judge/Statistics.h"
#include "driver/model/Json.h"
#include "driver/search/model/PromptSections.h"
#include "driver/search/model/SectionTexts.h"
#include "driver/search/policy/Arms.h"
#include "driver/source/RenderSlice.h"
#include "driver/support/Text.h"
#include "driver/support/UnifiedDiff.h"

#include <algorithm>
#include <fmt/format.h>
#include <ranges>
#include <regex>

namespace kopt {
namespace {

constexpr std::size_t kSaidLimit = 8u << 10; ///< bytes of what a compiler or a check said
constexpr std::size_t kLastDifferences = 3, kBestDifferences = 2, kDifferenceLimit = 2500;

/// "title (technique)"
std::string nameOfTrial(const Trial &trial) {
  return fmt::format("{} ({})", quoted(trial.candidate.title, 120),
                     quoted(trial.candidate.technique, 40));
}

/// What kopt did not write, in lines that are told from its own, with lines of the slice as the
/// model knows them.
std::string said(const std::string &text, const std::vector<std::string> &places) {
  static const std::regex kPlace("slice\\.cu(:([0-9]{1,6})|\\(([0-9]{1,6})\\))");
  std::string rest = head(std::string(trim(text)), kSaidLimit), told;
  for (std::smatch found; std::regex_search(rest, found, kPlace); rest = found.suffix()) {
    const std::size_t line = std::stoul(found[found[2].matched ? 2 : 3]) - 1;
    const bool isKnown = line < places.size() && !places[line].empty();
    told += found.prefix().str() + (isKnown ? places[line] : found.str());
  }
  return "| " + replaceAll(told + rest, "\n", "\n| ") + "\n";
}

const Trial *originOf(const SearchHistory &history, const Trial &trial) {
  const std::vector<std::string> &parents = trial.candidate.parents;
  return parents.empty() ? &history.trials.front() : history.find(parents.front());
}

/// What the trial's candidate changed, without the names of files; empty if that is not known.
std::string differenceOf(const ProposalContext &context, const Trial &trial) {
  const SearchProblem &problem = context.problem;
  const Trial *origin = originOf(context.history, trial);
  if (!origin)
    return {};
  const auto render = [&](const Candidate &candidate) {
    const auto slice =
        renderSlice(problem.sliceText, problem.kernel, problem.specialization, candidate);
    return slice ? slice->text : "";
  };
  const std::string diff =
      formatDiff(diffTexts("slice.cu", render(origin->candidate), render(trial.candidate)));
  const LaunchOverride &launch = trial.candidate.launch;
  return (launch == origin->candidate.launch ? "" : "launch: " + canonicalJson(launch) + "\n") +
         diff.substr(std::min(diff.find("@@"), diff.size()));
}

/// A candidate's evidence, after its heading.
std::string findingsText(const ProposalContext &context, const Trial &trial) {
  const auto task = makeCodeTask(context, trial.candidate);
  const std::vector<std::string> places = task ? task->places : std::vector<std::string>();
  std::string text;
  if (!trial.reason.empty())
    text += "Reason:\n" + said(trial.reason, places);
  if (trial.speedup)
    text += fmt::format("Speed: {} of the original\n", inWords(*trial.speedup));
  if (trial.timings.size() > 1)
    for (const LaunchTiming &timing : trial.timings)
      text += fmt::format("- {}: {}\n", timing.launch, inWords(timing.speedup));
  if (trial.resources)
    text += "Resources: " + resourcesText(*trial.resources) + "\n";
  std::string more;
  for (const CheckRecord &check : trial.checks)
    if (check.state == CheckState::Failed && check.detail != trial.reason)
      more += fmt::format("check {}: {}\n", toString(check.check), check.detail);
  for (const Finding &finding : trial.findings)
    more += fmt::format("{} [{}] {} {}\n", toString(finding.severity), finding.id, finding.message,
                        finding.where);
  if (!more.empty())
    text += "Findings:\n" + said(more, places);
  if (trial.verdict == Verdict::BuildFailed && !trial.buildLog.empty())
    text += "The compiler:\n" + said(trial.buildLog, places);
  return text;
}

/// What was expected of counters beside what was measured.
std::string effectsText(const ProposalContext &context, const Trial &trial) {
  const Trial *origin = originOf(context.history, trial);
  std::string text;
  for (const ExpectedEffect &effect :
       trial.candidate.expects.value_or(std::vector<ExpectedEffect>())) {
    const auto before = origin ? origin->counters.find(effect.metric) : trial.counters.end();
    const auto after = trial.counters.find(effect.metric);
    const bool isKnown = origin && before != origin->counters.end() && before->second != 0 &&
                         after != trial.counters.end();
    text += fmt::format("You expected {} to be {} of what it was; {}.\n",
                        quoted(labelOfCounter(effect.metric), 80), formatPercent(effect.factor),
                        isKnown ? "it is " + formatPercent(after->second / before->second)
                                : "it was not measured");
  }
  return text;
}

bool isOfModel(const Trial &trial) { return trial.candidate.proposer == kModelRole; }

} // namespace

std::string contrastText(const ProposalContext &context,
                         const std::vector<const Trial *> &attempts) {
  const Trial &present = context.parentTrial();
  std::vector<ContrastVersion> versions;
  const auto add = [&](std::string name, const Trial *trial) {
    if (trial && !trial->counters.empty())
      versions.push_back({std::move(name), trial->counters, trial->diagnosis});
  };
  if (attempts.empty()) {
    add("present", &present);
    const auto &trials = context.history.trials;
    if (&present != &trials.front())
      add("parent", originOf(context.history, present));
    const auto last = std::find_if(trials.rbegin(), trials.rend(), [&](const Trial &trial) {
      return !trial.counters.empty() && !trial.candidate.parents.empty() &&
             trial.candidate.parents.front() == present.candidateHash;
    });
    add("attempt", last == trials.rend() ? nullptr : &*last);
  } else {
    add("before", originOf(context.history, *attempts.front()));
  }
  for (std::size_t i = 0; i < attempts.size(); ++i)
    add(fmt::format("candidate {}", i + 1), attempts[i]);
  const std::string table = inText(contrastOf(versions));
  return table.empty() || (versions.size() == 1 && !attempts.empty())
             ? ""
             : fmt::format("Source: {}\n{}", present.counterSource, table);
}

std::string attemptsText(const ProposalContext &context) {
  const std::vector<Trial> &trials = context.history.trials;
  std::string text;
  for (std::size_t i = 1; i < trials.size(); ++i) {
    const Trial &trial = trials[i], *origin = originOf(context.history, trial);
    if (!isOfModel(trial))
      continue;
    text += fmt::format("- {}. {}: {}", i, nameOfTrial(trial), toString(trial.verdict));
    if (trial.speedup)
      text += fmt::format(", {:.3f}x", trial.speedup->estimate);
    if (origin && isOfModel(*origin))
      text += fmt::format(", made of {}", origin - trials.data());
    if (&trial == &context.parentTrial())
      text += ", the present version";
    text += (trial.reason.empty() ? "" : ". " + quoted(trial.reason, 300)) + "\n";
  }
  return text;
}

std::string differencesText(const ProposalContext &context) {
  const std::vector<Trial> &trials = context.history.trials;
  std::vector<std::size_t> chosen;
  for (std::size_t i = trials.size(); --i > 0;)
    if (isOfModel(trials[i]) && trials[i].verdict != Verdict::Duplicate)
      chosen.push_back(i);
  std::ranges::stable_sort(
      chosen | std::views::drop(kLastDifferences), std::greater(), [&](std::size_t i) {
        return isRight(trials[i]) && trials[i].speedup ? trials[i].speedup->estimate : 0;
      });
  chosen.resize(std::min(chosen.size(), kLastDifferences + kBestDifferences));
  std::ranges::sort(chosen);
  std::string text;
  for (const std::size_t i : chosen)
    if (const std::string difference = differenceOf(context, trials[i]); !difference.empty())
      text += fmt::format("{}. {}\n{}\n", i, nameOfTrial(trials[i]),
                          head(difference, kDifferenceLimit));
  return text;
}

std::string evidenceText(const ProposalContext &context, const std::vector<const Trial *> &judged) {
  std::string text;
  for (std::size_t i = 0; i < judged.size(); ++i)
    text += fmt::format("Candidate {}: {}: {}\n{}{}\n", i + 1, nameOfTrial(*judged[i]),
                        toString(judged[i]->verdict), findingsText(context, *judged[i]),
                        effectsText(context, *judged[i]));
  if (const auto &speedup = context.parentTrial().speedup)
    text += fmt::format("The present version: {} of the original\n", inWords(*speedup));
  return text;
}

} // namespace kopt
