// SPDX-License-Identifier: Apache-2.0
// Why the search went as it did, where the time went, and how to apply and reproduce the result.
#include "driver/judge/Statistics.h"
#include "driver/report/facts/Explain.h"
#include "driver/report/facts/Reproduce.h"
#include "driver/report/sections/Sections.h"
#include "driver/support/JsonText.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {
namespace {

/// A titled table of texts; nothing if there are no rows.
Blocks tableOf(const char *title, std::vector<Column> columns,
               const std::vector<std::vector<std::string>> &lines, const std::string &note = {}) {
  if (lines.empty())
    return {};
  Table table{title, "narrow", std::move(columns)};
  for (const auto &line : lines) {
    Row &row = table.rows.emplace_back();
    for (const std::string &text : line)
      row.cells.push_back({text});
  }
  Blocks blocks = {Subheading{title}, std::move(table)};
  if (!note.empty())
    blocks.push_back(Paragraph{note, "small"});
  return blocks;
}

Blocks times(const RunFacts &facts) {
  const Spent spent = timeSpent(facts.history);
  std::vector<std::vector<std::string>> rows;
  for (const auto &[stages, of] :
       {std::pair(&spent.session, "all kernels"), std::pair(&spent.kernel, "this kernel")})
    for (const auto &[name, seconds] : *stages)
      rows.push_back({name, fmt::format("{:.1f}", seconds), of});
  return tableOf("Where the time went", {{"stage"}, {"seconds", "n"}, {"of"}}, rows,
                 spent.limit > 0 ? fmt::format("The kernel might take {:.0f} s of the time budget.",
                                               spent.limit)
                                 : "");
}

Blocks costs(const RunFacts &facts) {
  const std::vector<double> whole = evaluationSeconds(facts.history);
  if (whole.empty())
    return {};
  return tableOf(
      "What the evaluations cost",
      {{"stage"}, {"candidates", "n"}, {"median", "n"}, {"longest", "n"}, {"total", "n"}},
      evaluationCosts(facts.history),
      fmt::format("{} candidates: median {} each, longest {}. Builds may run while other "
                  "candidates are measured; 'wait' is the time spent waiting for a build.",
                  whole.size(), formatDuration(median(whole)),
                  formatDuration(*std::ranges::max_element(whole))));
}

Blocks models(const RunFacts &facts) {
  return tableOf("Language model",
                 {{"purpose"},
                  {"model"},
                  {"calls", "n"},
                  {"input tokens", "n"},
                  {"output tokens", "n"},
                  {"from cache", "n"},
                  {"dollars", "n"}},
                 modelCosts(facts.history));
}

} // namespace

Section storySection(const RunFacts &facts) {
  Section section{"story", "Why it went this way"};
  section.note("Each decision in order, with the time that evaluations had taken by then. "
               "'kopt explain' prints the same.");
  List story{{}, "story"};
  for (const Explanation &entry : explainRun(facts.history))
    // Every candidate is in the table above, every check in the section above.
    if (entry.kind != "trial" && entry.kind != "checked" && entry.kind != "unchecked")
      story.items.push_back({entry.text, entry.details, formatDuration(entry.seconds)});
  section.add(std::move(story));
  Pair pair{times(facts), costs(facts)};
  for (Block &block : models(facts))
    pair.left.push_back(std::move(block));
  section.add(std::move(pair));
  return section;
}

Section provenanceSection(const RunFacts &facts) {
  Section section{"provenance", "Apply and reproduce"};
  const RunRecord &run = facts.history.run;
  if (!run.patchText.empty()) {
    section.blocks = {Subheading{"How to apply it"}, CodeBlock{applyCommand(facts.history)},
                      Paragraph{"Or, from the top of the repository, 'git apply' with the "
                                "winner.patch of this folder. It changes the kernel and its launch "
                                "sites, nothing else.",
                                "note"}};
  }
  section.add(Subheading{"How to reproduce it"});
  section.add(CodeBlock{reproduceCommand(run)});
  List list;
  addFact(list, "inputs", run.inputsHash);
  addFact(list, "device",
          fmt::format("{} ({})", deviceName(facts.device), textIn(facts.device, "kind")));
  addFact(list, "driver", textIn(facts.device, "driver"));
  addFact(list, "compiler", textIn(facts.device, "toolchain"));
  addFact(list, "sandbox of the candidates", sandboxLayers(facts.device, true));
  addFact(list, "missing sandbox layers", sandboxLayers(facts.device, false));
  addFact(list, "started", run.startedUtc);
  addFact(list, "finished", run.finishedUtc.empty() ? "not finished" : run.finishedUtc);
  addFact(list, "every sample and every candidate's source",
          ".kopt/kopt.db, and this run's folder");
  section.add(std::move(list));
  return section;
}

} // namespace kopt
