// SPDX-License-Identifier: Apache-2.0
// What the winner changes, what was checked of it, and what was not.
#include "driver/report/facts/TrialNames.h"
#include "driver/report/sections/Sections.h"
#include "driver/support/Text.h"
#include "driver/support/UnifiedDiff.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace kopt {
namespace {

constexpr std::size_t kLongestDetail = 1500;

/// The checks of the winner's confirmation, and those that ran only in the search.
Table checkTable(const RunFacts &facts) {
  const Trial &trial = *facts.measured;
  Table table{
      "Checks of the winner", "", {{"check", "nw"}, {"state", "nw"}, {"what was done", "wide"}}};
  const auto add = [&](const CheckRecord &record, const char *note) {
    table.rows.push_back({{{Span(Span::Code, toString(record.check))},
                           {toString(record.state), slug(toString(record.state))},
                           {Words{oneLine(record.detail, kLongestDetail), {Span::Small, note}}}}});
  };
  for (const CheckRecord &record : trial.checks)
    add(record, "");
  if (facts.measured == facts.winner)
    return table;
  for (const CheckRecord &record : facts.winner->checks)
    if (std::ranges::none_of(trial.checks,
                             [&](const CheckRecord &other) { return other.check == record.check; }))
      add(record, " (in the search)");
  return table;
}

/// What the run recorded in addition to the records of the checks.
std::vector<std::string> otherChecked(const RunFacts &facts, bool shown) {
  std::set<CheckId> known;
  std::set<std::string> gaps;
  if (facts.measured) {
    for (const Trial *trial : {facts.measured, facts.winner})
      for (const CheckRecord &record : trial->checks)
        known.insert(record.check);
    for (const AssuranceGap &gap : facts.measured->assurance.gaps)
      gaps.insert(gap.what);
  }
  std::vector<std::string> lines;
  for (const Event &event : facts.history.events)
    if (const auto *checked = std::get_if<Checked>(&event.what);
        checked && checked->shown == shown && !known.contains(checked->check) &&
        !gaps.contains(checked->text))
      lines.push_back(checked->text);
  return lines;
}

void addList(Section &section, const std::vector<std::string> &lines) {
  List list;
  for (const std::string &line : lines)
    list.items.push_back({oneLine(line, kLongestDetail)});
  if (!list.items.empty())
    section.add(std::move(list));
}

} // namespace

Section changeSection(const RunFacts &facts) {
  if (!facts.winner)
    return {};
  Section section{"change", "What changed"};
  const Candidate &candidate = facts.winner->candidate;
  section.add(Paragraph{
      {{Span::Strong, oneLine(candidate.title)},
       " (by " + candidate.proposer +
           (candidate.technique.empty() ? "" : ", technique " + candidate.technique) + ")"}});
  if (!candidate.rationale.empty())
    section.add(Paragraph{"Why it was tried: " + oneLine(candidate.rationale, 2000)});
  if (const auto parts = partsOf(candidate); !parts.empty())
    section.add(Paragraph{"Launch and constants: " + join(parts, "; ") + "."});
  const RunRecord &run = facts.history.run;
  // Without the mail around it.
  if (const std::size_t at = run.patchText.find("diff --git "); at != std::string::npos) {
    section.add(Diff{run.patchText.substr(at)});
  } else if (!facts.winner->sliceText.empty()) {
    section.note("Of the kernel's slice: no patch of your files was recorded.");
    section.add(Diff{formatDiff(diffTexts("kernel.cu", run.sliceText, facts.winner->sliceText))});
  }
  return section;
}

Section checksSection(const RunFacts &facts) {
  Section section{"checks", "What was checked, and what was not"};
  section.add(Subheading{"What was not shown"});
  std::vector<std::string> missing = otherChecked(facts, false);
  if (facts.measured) {
    const Assurance &assurance = facts.measured->assurance;
    section.add(Paragraph{
        fmt::format("Assurance: {}.{}", toString(assurance.level),
                    assurance.gaps.empty() ? "" : " Read this before you apply the patch.")});
    const std::vector<std::string> gaps = inLines(assurance, kLongestDetail);
    missing.insert(missing.begin(), gaps.begin(), gaps.end());
  }
  if (missing.empty())
    section.note("Nothing was recorded as not shown.");
  addList(section, missing);
  section.add(Subheading{"How it was verified"});
  const std::vector<std::string> others = otherChecked(facts, true);
  const bool hasRecords = facts.measured && !facts.measured->checks.empty();
  if (hasRecords)
    section.add(checkTable(facts));
  addList(section, others);
  if (!hasRecords && others.empty())
    section.note("No verification was recorded.");
  if (const auto remarks = remarksOf(facts.history); !remarks.empty()) {
    section.add(Subheading{"Remarks on the winner"});
    addList(section, remarks);
  }
  return section;
}

} // namespace kopt
