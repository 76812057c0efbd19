// SPDX-License-Identifier: Apache-2.0
// What bounds the kernel: rules, utilisation of the parts of the GPU, counters before and after,
// hot lines.
#include "driver/diagnose/Contrast.h"
#include "driver/diagnose/CounterTable.h"
#include "driver/diagnose/States.h"
#include "driver/report/facts/HotLineTable.h"
#include "driver/report/facts/Reproduce.h"
#include "driver/report/facts/Roofline.h"
#include "driver/report/html/Drawings.h"
#include "driver/report/sections/Sections.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {
namespace {

/// The state of a rule of the baseline on the winner, and its CSS class.
Cell stateOnWinner(const Trial &winner, const std::string &rule) {
  if (winner.counters.empty())
    return {"unknown on the winner", "calm"};
  switch (stateOf(winner.diagnosis, rule)) {
  case RuleState::Fires:
    return {"still fires on the winner", "doubt"};
  case RuleState::Silent:
    return {"no longer fires on the winner", "gone"};
  case RuleState::NotJudged:
    break;
  }
  return {"not judged on the winner: a counter is missing", "calm"};
}

void addState(Section &section, const char *name, const Trial &trial) {
  const Diagnosis &diagnosis = trial.diagnosis;
  if (diagnosis.state.empty())
    return;
  section.add(Paragraph{
      Words{fmt::format("{}: ", name),
            {Span::Code, diagnosis.state},
            fmt::format(": {}. Bound: {}.", diagnosis.finding, boundInWords(diagnosis))}});
  if (!diagnosis.unjudged.empty())
    section.add(
        Paragraph{"States that come before it were not judged, because a counter is missing: " +
                      join(diagnosis.unjudged, "; ") + ".",
                  "small"});
}

void addRules(Section &section, const RunFacts &facts) {
  const Diagnosis &before = facts.baseline->diagnosis;
  Table table{"Rules that fired", "", {{"severity"}, {"rule", "nw"}, {"finding", "wide"}}};
  const auto add = [&](const RuleHit &hit, const Cell &state) {
    table.rows.push_back(
        {{{Span(Span::Tag, hit.severity, hit.severity)},
          {Span(Span::Code, hit.id)},
          {Words{hit.finding + ". ",
                 {Span::Small, hit.action.empty() ? "" : "What helps: " + hit.action + "."}}}}});
    if (facts.winner)
      table.rows.back().cells.push_back(state);
  };
  for (const RuleHit &hit : before.hits)
    add(hit, facts.winner ? stateOnWinner(*facts.winner, hit.id) : Cell());
  if (facts.winner) {
    table.columns.push_back({"state"});
    for (const RuleHit &hit : facts.winner->diagnosis.hits)
      if (stateOf(before, hit.id) != RuleState::Fires)
        add(hit, {"on the winner only", "doubt"});
  }
  section.add(Subheading{"Rules that fired"});
  if (table.rows.empty())
    section.note(facts.baseline->counters.empty()
                     ? "No counters of the baseline were read, so no rule could fire."
                     : "No rule fires on the baseline's counters.");
  else
    section.add(std::move(table));
  if (!before.skipped.empty())
    section.add(Paragraph{
        "Not judged, because a counter is missing: " + join(before.skipped, "; ") + ".", "small"});
}

/// Two bars in each row, one above the other, on a common scale.
Table barTable(const char *label, const std::vector<PartUse> &rows, double most, bool hasAfter,
               std::string (*inWords)(double)) {
  Table table{label, "narrow", {{"of"}, {"baseline", "n"}}};
  if (hasAfter)
    table.columns.push_back({"winner", "n"});
  table.columns.push_back(
      {.name = hasAfter ? "grey: baseline, blue: winner" : "", .isDrawn = true});
  const auto words = [&](std::optional<double> value) {
    return value ? inWords(*value) : std::string("unknown");
  };
  const auto share = [&](std::optional<double> value) {
    return value && most > 0 ? std::optional(*value / most) : std::nullopt;
  };
  for (const PartUse &each : rows) {
    Row &row = table.rows.emplace_back();
    row.cells = {{each.part}, {words(each.before)}};
    if (hasAfter)
      row.cells.push_back({words(each.after)});
    const std::vector<html::Bar> bars = {{"before", share(each.before)},
                                         {"after", share(each.after)}};
    row.cells.push_back(
        {.words = "", .drawing = [bars](auto &writer) { html::writeBars(writer, 240, bars); }});
  }
  return table;
}

void addUtilisation(Section &section, const RunFacts &facts) {
  const std::vector<PartUse> shares = utilisationOf(*facts.baseline, facts.winner);
  const std::vector<PartUse> times = resourceTimesOf(*facts.baseline, facts.winner);
  double longest = 0;
  for (const PartUse &row : times)
    longest = std::max({longest, row.before.value_or(0), row.after.value_or(0)});
  Pair pair;
  if (!shares.empty())
    pair.left = {Subheading{"How busy each part is, of its peak"},
                 barTable("How busy each part is", shares, 100, facts.winner,
                          [](double value) { return fmt::format("{:.1f}%", value); })};
  if (!times.empty())
    pair.right = {Subheading{"What the model says each resource needs alone"},
                  barTable("What each resource needs", times, longest, facts.winner,
                           [](double value) { return formatDuration(value); })};
  section.add(std::move(pair));
}

void addCounters(Section &section, const RunFacts &facts) {
  if (!facts.winner)
    return;
  section.add(Subheading{"Counters before and after"});
  const Trial &before = *facts.baseline, &after = *facts.winner;
  const std::string &source = after.counterSource;
  Table table{"Counters before and after",
              "narrow",
              {{fmt::format("counter ({})", source)}, {"baseline", "n"}, {"winner", "n"}}};
  const Contrast contrast = contrastOf({{"baseline", before.counters, before.diagnosis},
                                        {"winner", after.counters, after.diagnosis}});
  for (const ContrastRow &row : contrast.rows)
    if (const std::string label = labelOfCounter(row.counter); label != row.counter)
      table.rows.push_back({{{row.binds ? label + " *" : label},
                             {textOfCounter(row.counter, row.values[0])},
                             {textOfCounter(row.counter, row.values[1])}}});
  if (table.rows.empty())
    return section.note(
        fmt::format("No counter that could explain it differs; the counters come from {}.",
                    source.empty() ? "nowhere: none could be read" : source));
  section.add(std::move(table));
  section.add(Paragraph{"Only those that differ by more than they do from run to run, and those "
                        "that a rule rests on (*).",
                        "small"});
}

void addLineTable(Section &section, const RunFacts &facts, const char *title, const HotLines &hot,
                  html::Literal style) {
  section.add(Subheading{title});
  const HotLineTable lines = hotLineTable(facts.history.run, hot);
  if (lines.rows.empty()) {
    section.note(fmt::format("There are no hot lines: {}.", lines.missing));
    return;
  }
  Table table{std::string("Hot lines: ") + title,
              "",
              {{"line"},
               {"instructions", "n"},
               {.name = "", .isDrawn = true},
               {"sectors", "n"},
               {"text", "wide"}}};
  const auto add = [&](std::string place, double instructions, std::optional<double> sectors,
                       Words text) {
    const std::vector<html::Bar> bar = {{style, instructions}};
    table.rows.push_back(
        {{{std::move(place), "code"},
          {formatPercent(instructions)},
          {.words = "", .drawing = [bar](auto &writer) { html::writeBars(writer, 90, bar); }},
          {sectors ? formatPercent(*sectors) : "not counted"},
          {std::move(text)}}});
  };
  for (const HotLineRow &each : lines.rows)
    add(each.place.empty() ? "not in your files" : each.place, each.instructions, each.sectors,
        Span(Span::Code, each.text));
  add("all other lines", lines.otherInstructions, lines.otherSectors, "");
  section.add(std::move(table));
}

} // namespace

Section causesSection(const RunFacts &facts) {
  if (!facts.baseline)
    return {};
  Section section{"causes", "What bounds the kernel"};
  addState(section, "The baseline", *facts.baseline);
  if (facts.winner)
    addState(section, "The winner", *facts.winner);
  addRules(section, facts);
  addUtilisation(section, facts);
  addCounters(section, facts);
  return section;
}

Section hotLinesSection(const RunFacts &facts) {
  if (!facts.baseline)
    return {};
  Section section{"lines", "Hot lines"};
  const HotLines &before = facts.baseline->hotLines;
  if (const std::string how = howCounted(before); !how.empty())
    section.add(Paragraph{how, "small"});
  addLineTable(section, facts, "Baseline", before, "before");
  if (facts.measured)
    addLineTable(section, facts, "Winner, in the file as its patch leaves it",
                 facts.measured->hotLines, "after");
  section.note("This shows the lines of one launch, with their machine code; on a GPU, --ncu adds "
               "what each line executed and waited for:");
  section.add(CodeBlock{profileCommand(facts.history.run)});
  return section;
}

} // namespace kopt
