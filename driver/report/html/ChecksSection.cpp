// SPDX-License-Identifier: Apache-2.0
// What was checked for the winner, and what was not.
#include "driver/report/html/Sections.h"

#include "driver/report/facts/TrialNames.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <set>

namespace kopt::html {
namespace {

std::string styleOf(CheckState state) { return slug(toString(state)); }

/// The checks of the winner's confirmation, and those that ran only in the search.
void writeCheckTable(Writer &writer, const PageFacts &facts) {
  const Trial &trial = *facts.measured;
  const bool isConfirmed = facts.measured != facts.winner;
  const Table table(writer, "checks", "Checks of the winner");
  writeTableHead(writer, {{"check"}, {"state"}, {"what was done"}});
  const auto body = writer.open("tbody");
  const auto add = [&](const CheckRecord &record, Literal note) {
    const auto row = writer.open("tr");
    {
      const auto cell = writer.open("th", {{"scope", "row"}, {"class", "nw"}});
      writer.element("code", toString(record.check));
    }
    writer.element("td", {{"class", "nw " + styleOf(record.state)}}, toString(record.state));
    const auto cell = writer.open("td", {{"class", "wide"}});
    writer.text(oneLine(record.detail, 1500));
    if (*note.text() != 0)
      writer.element("span", {{"class", "small"}}, note.text());
  };
  for (const CheckRecord &record : trial.checks)
    add(record, "");
  if (!isConfirmed)
    return;
  for (const CheckRecord &record : facts.winner->checks)
    if (std::ranges::none_of(trial.checks,
                             [&](const CheckRecord &other) { return other.check == record.check; }))
      add(record, " (in the search)");
}

/// What the run recorded in addition to the records of the checks.
std::vector<std::string> otherChecked(const PageFacts &facts, bool shown) {
  std::set<CheckId> known;
  if (facts.measured)
    for (const Trial *trial : {facts.measured, facts.winner})
      for (const CheckRecord &record : trial->checks)
        known.insert(record.check);
  std::vector<std::string> lines;
  for (const Event &event : facts.history.events)
    if (const auto *checked = std::get_if<Checked>(&event.what);
        checked && checked->shown == shown && !known.contains(checked->check) &&
        !(facts.measured &&
          std::ranges::any_of(facts.measured->assurance.gaps,
                              [&](const AssuranceGap &gap) { return gap.what == checked->text; })))
      lines.push_back(checked->text);
  return lines;
}

void writeList(Writer &writer, const std::vector<std::string> &lines) {
  const auto list = writer.open("ul", {{"class", "plain"}});
  for (const std::string &line : lines)
    writer.element("li", oneLine(line, 1500));
}

} // namespace

void writeChecks(Writer &writer, const PageFacts &facts) {
  const Section section(writer, "checks", "What was checked, and what was not");
  std::vector<std::string> missing = otherChecked(facts, false);
  writer.element("h3", "Not shown");
  if (facts.measured) {
    const Assurance &assurance = facts.measured->assurance;
    const auto line = writer.open("p");
    writer.text("Assurance: ");
    writer.element("b", {{"class", toString(assurance.level)}}, toString(assurance.level));
    writer.text(assurance.gaps.empty() ? "." : ". Read this before you apply the patch.");
    const std::vector<std::string> gaps = inLines(assurance, 1500);
    missing.insert(missing.begin(), gaps.begin(), gaps.end());
  }
  if (missing.empty())
    writeNote(writer, "Nothing was recorded as not shown.");
  else
    writeList(writer, missing);
  writer.element("h3", "Checked");
  const std::vector<std::string> others = otherChecked(facts, true);
  const bool hasRecords = facts.measured && !facts.measured->checks.empty();
  if (hasRecords)
    writeCheckTable(writer, facts);
  if (!others.empty())
    writeList(writer, others);
  if (!hasRecords && others.empty())
    writeNote(writer, "No verification was recorded.");
  if (const auto remarks = remarksOf(facts.history); !remarks.empty()) {
    writer.element("h3", "Remarks on the winner");
    writeList(writer, remarks);
  }
}

} // namespace kopt::html
