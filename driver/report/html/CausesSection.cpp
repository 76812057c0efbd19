// SPDX-License-Identifier: Apache-2.0
// What bounds the kernel: rules, utilisation of the parts of the GPU, counters before and after,
// hot lines.
#include "driver/report/html/Sections.h"

#include "driver/report/facts/CounterTable.h"
#include "driver/report/facts/HotLineTable.h"
#include "driver/report/facts/Reproduce.h"
#include "driver/report/facts/Roofline.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt::html {
namespace {

/// A rule's result for the winner in words, and their CSS class; empty: no winner.
struct RuleWords {
  std::string words, style;
};

RuleWords stateOnWinner(const PageFacts &facts, const std::string &rule) {
  if (facts.winner->counters.empty())
    return {"unknown", "calm"};
  switch (stateOf(facts.diagnosis.after, rule)) {
  case RuleState::Fires:
    return {"still fires", "doubt"};
  case RuleState::Silent:
    return {"no longer fires", "gone"};
  case RuleState::NotJudged:
    break;
  }
  return {"not judged", "calm"};
}

void writeRule(Writer &writer, const RuleHit &hit, const RuleWords &state) {
  const auto row = writer.open("tr");
  {
    const auto cell = writer.open("td");
    writer.element("span", {{"class", "tag " + hit.severity}}, hit.severity);
  }
  {
    const auto cell = writer.open("th", {{"scope", "row"}, {"class", "nw"}});
    writer.element("code", hit.id);
  }
  {
    const auto cell = writer.open("td", {{"class", "wide"}});
    writer.text(hit.finding);
    if (!hit.action.empty())
      writer.element("div", {{"class", "small"}}, "What helps: " + hit.action);
  }
  if (!state.words.empty())
    writer.element("td", {{"class", "nw " + state.style}}, state.words);
}

void writeRules(Writer &writer, const PageFacts &facts) {
  const Diagnosis &before = facts.diagnosis.before, &after = facts.diagnosis.after;
  writer.element("h3", "Rules that fired");
  if (before.hits.empty() && after.hits.empty())
    writeNote(writer, facts.baseline->counters.empty()
                          ? "No counters of the baseline were read, so no rule could fire."
                          : "No rule fires on the baseline's counters.");
  else {
    const Table table(writer, "rules", "Rules that fired");
    std::vector<Column> columns = {{"severity"}, {"rule"}, {"finding"}};
    if (facts.winner)
      columns.push_back({"on the winner", "nw"});
    writeTableHead(writer, columns);
    const auto body = writer.open("tbody");
    for (const RuleHit &hit : before.hits)
      writeRule(writer, hit, facts.winner ? stateOnWinner(facts, hit.id) : RuleWords{});
    for (const RuleHit &hit : after.hits)
      if (stateOf(before, hit.id) != RuleState::Fires)
        writeRule(writer, hit, {"only there", "doubt"});
  }
  if (before.skipped.empty())
    return;
  const auto details = writer.open("details");
  writer.element("summary", fmt::format("{} rules were not judged, because a counter is missing",
                                        before.skipped.size()));
  writer.element("p", {{"class", "small"}}, join(before.skipped, "; ") + ".");
}

/// Writes two bars, one above the other, on a common scale.
void writeBars(Writer &writer, std::optional<double> before, std::optional<double> after,
               double most) {
  constexpr double kWidth = 240, kHeight = 18;
  const auto svg = openStrip(writer, "strip", kWidth, kHeight);
  const auto bar = [&](Literal style, std::optional<double> value, double y) {
    if (value && most > 0)
      writer.leaf("rect",
                  {{"class", style.text()},
                   {"x", "0.5"},
                   {"y", coordinate(y)},
                   {"width", coordinate(std::clamp(*value / most, 0.0, 1.0) * (kWidth - 1))},
                   {"height", "6"}});
  };
  bar("before", before, 2);
  bar("after", after, 10);
}

struct BarRow {
  std::string name;
  std::optional<double> before, after;
};

void writeBarTable(Writer &writer, Literal label, const std::vector<BarRow> &rows, double most,
                   bool hasAfter, std::string (*inWords)(double)) {
  const Table table(writer, "narrow", label.text());
  if (hasAfter)
    writeTableHead(writer,
                   {{""}, {"baseline", "n"}, {"winner", "n"}, {"grey: baseline, blue: winner"}});
  else
    writeTableHead(writer, {{""}, {"baseline", "n"}, {""}});
  const auto body = writer.open("tbody");
  for (const BarRow &each : rows) {
    const auto row = writer.open("tr");
    writer.element("th", {{"scope", "row"}}, each.name);
    writer.element("td", {{"class", "n"}}, each.before ? inWords(*each.before) : "unknown");
    if (hasAfter)
      writer.element("td", {{"class", "n"}}, each.after ? inWords(*each.after) : "unknown");
    const auto cell = writer.open("td");
    writeBars(writer, each.before, each.after, most);
  }
}

void writeUtilisation(Writer &writer, const PageFacts &facts) {
  std::vector<BarRow> shares, times;
  double longest = 0;
  for (const Utilisation &row : utilisationOf(*facts.baseline, facts.winner))
    shares.push_back({row.part, row.before, row.after});
  for (const ResourceTime &row : resourceTimesOf(*facts.baseline, facts.winner)) {
    times.push_back({row.resource, row.before, row.after});
    longest = std::max({longest, row.before.value_or(0), row.after.value_or(0)});
  }
  if (shares.empty() && times.empty())
    return;
  const auto pair = writer.open("div", {{"class", "pair"}});
  if (!shares.empty()) {
    const auto side = writer.open("div");
    writer.element("h3", "How busy each part is, of its peak");
    writeBarTable(writer, "How busy each part is", shares, 100, facts.winner,
                  [](double value) { return fmt::format("{:.1f}%", value); });
  }
  if (!times.empty()) {
    const auto side = writer.open("div");
    writer.element("h3", "What the model says each resource needs alone");
    writeBarTable(writer, "What each resource needs", times, longest, facts.winner,
                  [](double value) { return formatDuration(value); });
  }
}

void writeCounters(Writer &writer, const PageFacts &facts) {
  if (!facts.winner)
    return;
  writer.element("h3", "Counters before and after");
  const CounterComparison comparison = compareCounters(*facts.baseline, *facts.winner);
  if (comparison.changed.empty()) {
    writeNote(writer,
              fmt::format("No counter that could explain it differs; the counters come "
                          "from {}.",
                          facts.winner->counterSource.empty() ? "nowhere: none could be read"
                                                              : facts.winner->counterSource));
    return;
  }
  {
    const Table table(writer, "narrow", "Counters before and after");
    writeTableHead(writer, {{fmt::format("counter ({})", facts.winner->counterSource)},
                            {"baseline", "n"},
                            {"winner", "n"}});
    const auto body = writer.open("tbody");
    for (const CounterChange &change : comparison.changed) {
      const auto row = writer.open("tr");
      writer.element("th", {{"scope", "row"}}, change.label);
      writer.element("td", {{"class", "n"}}, change.before);
      writer.element("td", {{"class", "n"}}, change.after);
    }
  }
  if (!comparison.unchanged.empty())
    writer.element("p", {{"class", "small"}},
                   "Unchanged: " + join(comparison.unchanged, "; ") + ".");
}

/// Draws a share as a bar. The number beside it says the same.
void writeShare(Writer &writer, double share, Literal style) {
  constexpr double kWidth = 90, kHeight = 10;
  const auto svg = openStrip(writer, "strip", kWidth, kHeight);
  writer.leaf("rect", {{"class", style.text()},
                       {"x", "0.5"},
                       {"y", "2"},
                       {"width", coordinate(std::clamp(share, 0.0, 1.0) * (kWidth - 1))},
                       {"height", "6"}});
}

void writeLineShares(Writer &writer, double instructions, std::optional<double> sectors,
                     Literal style) {
  writer.element("td", {{"class", "n"}}, formatPercent(instructions));
  {
    const auto cell = writer.open("td");
    writeShare(writer, instructions, style);
  }
  writer.element("td", {{"class", "n"}}, sectors ? formatPercent(*sectors) : "not counted");
}

void writeLineTable(Writer &writer, const PageFacts &facts, Literal title, const HotLines &hot,
                    Literal style) {
  writer.element("h3", title.text());
  const HotLineTable lines = hotLineTable(facts.history.run, hot);
  if (lines.rows.empty()) {
    writeNote(writer, fmt::format("There are no hot lines: {}.", lines.missing));
    return;
  }
  const Table table(writer, "lines", std::string("Hot lines: ") + title.text());
  {
    const auto head = writer.open("thead");
    const auto row = writer.open("tr");
    writer.element("th", {{"scope", "col"}, {"class", "n"}, {"colspan", "2"}},
                   "share of instructions");
    writer.element("th", {{"scope", "col"}, {"class", "n"}}, "of sectors");
    writer.element("th", {{"scope", "col"}}, "line");
    writer.element("th", {{"scope", "col"}}, "text");
  }
  const auto body = writer.open("tbody");
  for (const HotLineRow &each : lines.rows) {
    const auto row = writer.open("tr");
    writeLineShares(writer, each.instructions, each.sectors, style);
    writer.element("th", {{"scope", "row"}, {"class", "code"}},
                   each.place.empty() ? "not in your files" : each.place);
    const auto cell = writer.open("td", {{"class", "wide"}});
    writer.element("code", each.text);
  }
  const auto row = writer.open("tr");
  writeLineShares(writer, lines.otherInstructions, lines.otherSectors, style);
  writer.element("th", {{"scope", "row"}}, "all other lines");
  writer.element("td", "");
}

} // namespace

void writeCauses(Writer &writer, const PageFacts &facts) {
  if (!facts.baseline)
    return;
  const Section section(writer, "causes", "What bounds the kernel");
  writeRules(writer, facts);
  writeUtilisation(writer, facts);
  writeCounters(writer, facts);
}

void writeHotLines(Writer &writer, const PageFacts &facts) {
  if (!facts.baseline)
    return;
  const Section section(writer, "lines", "Hot lines");
  const HotLines &before = facts.baseline->hotLines;
  const HotLines *after = winnersHotLines(facts.history);
  if (const std::string how = howCounted(before); !how.empty())
    writer.element("p", {{"class", "small"}}, how);
  writeLineTable(writer, facts, "Baseline", before, "before");
  if (after)
    writeLineTable(writer, facts, "Winner, in the file as its patch leaves it", *after, "after");
  writeNote(writer, "This shows the lines of one launch, with their machine code; on a GPU, --ncu "
                    "adds what each line executed and waited for:");
  writer.element("pre", profileCommand(facts.history.run));
}

} // namespace kopt::html
