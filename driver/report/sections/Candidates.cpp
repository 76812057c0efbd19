// SPDX-License-Identifier: Apache-2.0
// Every trial with its verdict and reason; the page's script sorts the table.
#include "driver/report/facts/TrialNames.h"
#include "driver/report/sections/Sections.h"
#include "driver/support/Text.h"

#include <fmt/format.h>
#include <set>

namespace kopt {
namespace {

constexpr std::size_t kLongestReason = 600, kLongestTitle = 240;

const char *styleOf(Verdict verdict) {
  switch (verdict) {
  case Verdict::Faster:
    return "faster";
  case Verdict::WrongResult:
  case Verdict::RunFailed:
  case Verdict::BuildFailed:
  case Verdict::TimedOut:
  case Verdict::Rejected:
    return "wrong";
  case Verdict::Suspect:
  case Verdict::Ambiguous:
    return "doubt";
  case Verdict::Same:
  case Verdict::Slower:
  case Verdict::Duplicate:
    return "calm";
  }
  return "calm";
}

Words titleOf(const RunFacts &facts, const Trial &trial) {
  const std::string title = oneLine(trial.candidate.title, kLongestTitle);
  if (&trial == facts.baseline)
    return "your own kernel";
  if (trial.purpose == Purpose::Confirmation)
    return "confirmation of: " + title;
  if (trial.purpose == Purpose::HeldOut)
    return "on held-out launches: " + title;
  Words words = title;
  const std::string &technique = trial.candidate.technique;
  if (!technique.empty() && technique != trial.candidate.proposer)
    words.spans.emplace_back(Span::Small, ", " + technique);
  if (&trial == facts.winner)
    words.spans.insert(words.spans.end(), {" ", {Span::Tag, "winner", "faster"}});
  else if (facts.accepted.contains(trial.candidateHash))
    words.spans.insert(words.spans.end(), {" ", {Span::Tag, "incumbent", "calm"}});
  return words;
}

} // namespace

Section candidatesSection(const RunFacts &facts) {
  Section section{"candidates", "Every candidate"};
  if (facts.history.trials.empty()) {
    section.note("No trial was recorded.");
    return section;
  }
  std::vector<Speedup> speedups;
  std::set<std::string> gpus;
  for (const Trial &trial : facts.history.trials) {
    if (trial.speedup)
      speedups.push_back(*trial.speedup);
    if (!trial.gpu.empty())
      gpus.insert(trial.gpu);
  }
  const bool isPool = gpus.size() > 1;
  Table table{"Every trial", "sortable", {{"#", "n"}, {"verdict", "nw"}}};
  table.hasRowHeads = false;
  addSpeedupColumns(table, "speedup", speedups);
  for (Column column : {Column{"candidate", "wide"}, {"by"}, {"round", "n"}, {"decided at", "nw"}})
    table.columns.push_back(std::move(column));
  if (isPool)
    table.columns.push_back({"on GPU", "nw"});
  table.columns.push_back({"took", "n"});
  table.columns.push_back({"reason", "wide small"});
  for (std::size_t i = 0; i < facts.history.trials.size(); ++i) {
    const Trial &trial = facts.history.trials[i];
    const bool isBaseline = &trial == facts.baseline;
    Row &row = table.rows.emplace_back();
    row.style = &trial == facts.winner ? "winner" : "";
    row.cells = {{std::to_string(i)},
                 {isBaseline ? "baseline" : verdictInWords(trial.verdict),
                  isBaseline ? "calm" : styleOf(trial.verdict)}};
    if (trial.speedup && !isBaseline) {
      addSpeedupCells(row, speedups, *trial.speedup);
    } else {
      row.cells.push_back({.words = "", .sortKey = "0"}); // below all others
      row.cells.push_back({""});
    }
    row.cells.push_back({titleOf(facts, trial)});
    row.cells.push_back({Span(Span::Proposer, isBaseline ? "" : trial.candidate.proposer)});
    const auto round = facts.story.roundOf[i];
    row.cells.push_back({round ? std::to_string(facts.story.rounds[*round].number + 1) : ""});
    row.cells.push_back({toString(trial.stage)});
    if (isPool)
      row.cells.push_back({trial.gpu});
    row.cells.push_back(
        {.words = formatDuration(trial.seconds), .sortKey = fmt::format("{:.6g}", trial.seconds)});
    row.cells.push_back({oneLine(trial.reason, kLongestReason)});
  }
  section.blocks = {Paragraph{"Numbers are those of the folders below trials/, which have each "
                              "candidate's source and compiler output. 'kopt explain' says more of "
                              "each.",
                              "note"},
                    std::move(table)};
  return section;
}

} // namespace kopt
