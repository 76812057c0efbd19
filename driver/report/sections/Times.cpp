// SPDX-License-Identifier: Apache-2.0
// Times by launch, and gains in isolation and in the program.
#include "driver/report/facts/SessionFacts.h"
#include "driver/report/facts/TrialNames.h"
#include "driver/report/html/Drawings.h"
#include "driver/report/sections/Sections.h"
#include "driver/support/Text.h"

#include <fmt/format.h>

namespace kopt {

void addSpeedupColumns(Table &table, const std::string &name, const std::vector<Speedup> &all) {
  table.columns.push_back({name, "n"});
  const html::Scale scale = html::stripScale(all);
  table.columns.push_back({.name = "", .isDrawn = true, .head = [scale](auto &writer) {
                             html::writeStripAxis(writer, scale);
                           }});
}

void addSpeedupCells(Row &row, const std::vector<Speedup> &all, const Speedup &speedup) {
  row.cells.push_back(
      {.words = speedupInWords(speedup), .sortKey = fmt::format("{:.6g}", speedup.estimate)});
  const html::Scale scale = html::stripScale(all);
  row.cells.push_back({.words = "", .drawing = [scale, speedup](auto &writer) {
                         html::writeStrip(writer, scale, speedup);
                       }});
}

Section timesSection(const RunFacts &facts) {
  const Trial *shown = facts.measured ? facts.measured : facts.baseline;
  if (!shown || shown->timings.empty())
    return {};
  Section section{"times", facts.modelled ? "Times by launch (modelled)" : "Times by launch"};
  const bool judged = shown == facts.measured;
  if (!judged)
    section.note("Of the baseline alone: no candidate won.");
  std::vector<Speedup> all;
  for (const LaunchTiming &timing : shown->timings)
    all.push_back(timing.speedup);
  if (shown->speedup)
    all.push_back(*shown->speedup);
  Table table{"Times by launch", "", {{"launch", "wide"}, {"baseline", "n"}}};
  if (judged) {
    table.columns.push_back({"winner", "n"});
    addSpeedupColumns(table, "speedup", all);
  }
  table.columns.push_back({"pairs", "n"});
  table.columns.push_back({"cache"});
  for (const LaunchTiming &timing : shown->timings) {
    Row &row = table.rows.emplace_back();
    row.cells = {{timing.launch}, {formatDuration(timing.baselineSeconds)}};
    if (judged) {
      row.cells.push_back({formatDuration(timing.candidateSeconds)});
      addSpeedupCells(row, all, timing.speedup);
    }
    row.cells.push_back({std::to_string(timing.speedup.pairs)});
    row.cells.push_back({timing.cacheMode == CacheMode::Unknown ? "" : toString(timing.cacheMode)});
  }
  if (judged && shown->speedup && shown->timings.size() > 1) {
    Row &row = table.rows.emplace_back();
    row.style = "sum";
    row.cells = {{shown->speedup->of ? inWords(*shown->speedup->of)
                                     : "all, weighted by their share of run time"},
                 {""},
                 {""}};
    addSpeedupCells(row, all, *shown->speedup);
    row.cells.push_back({std::to_string(shown->speedup->pairs)});
    row.cells.push_back({""});
  }
  section.add(std::move(table));
  if (judged && shown->speedup)
    section.note(
        shown->speedup->modelled
            ? "Modelled times have no interval: they are not measurements."
            : fmt::format("Medians; intervals at {:g}%.", shown->speedup->confidence * 100));
  return section;
}

Table winsTable(const std::vector<const SessionWin *> &wins) {
  std::vector<Speedup> all;
  for (const SessionWin *win : wins) {
    all.push_back(win->isolated);
    if (win->program)
      all.push_back(win->program->speedup);
  }
  Table table{"Gains in isolation and in the program", "", {{"kernel", "wide"}, {"state"}}};
  addSpeedupColumns(table, "in isolation", all);
  addSpeedupColumns(table, "in the program", all);
  table.columns.push_back({"its time in a run of the program"});
  for (const SessionWin *win : wins) {
    Row &row = table.rows.emplace_back();
    // The folders of runs and sessions are siblings.
    const Span kernel(Span::Plain, win->kernel, "", "../" + win->runName + "/report.html");
    row.cells = {{Words{kernel, " (" + win->place + ")"}},
                 {toString(win->state), toString(win->state)}};
    addSpeedupCells(row, all, win->isolated);
    if (!win->program) {
      for (const char *words : {"not measured", "", ""})
        row.cells.push_back({words});
      continue;
    }
    addSpeedupCells(row, all, win->program->speedup);
    row.cells.push_back({fmt::format("{} -> {} in {} launches, {} pairs of runs",
                                     formatDuration(win->program->oldSeconds),
                                     formatDuration(win->program->newSeconds),
                                     win->program->newLaunches, win->program->speedup.pairs)});
  }
  return table;
}

void addFact(List &list, const std::string &name, const std::string &value) {
  if (!value.empty())
    list.items.push_back({name + ": " + oneLine(value, 2000)});
}

List programList(const SessionRecord &session, const std::vector<const SessionWin *> &wins) {
  const ProgramConfirmation &program = session.confirmation;
  List list;
  addFact(list, "not confirmed",
          !program.reason.empty() || program.done ? program.reason
          : session.finishedUtc.empty()           ? "kopt was interrupted before it was"
                                                  : "no win was left to confirm");
  addFact(list, "program", program.program);
  addFact(list, "built with", program.buildWay);
  addFact(list, "in", program.copies);
  if (program.pairs > 0)
    addFact(list, "runs",
            fmt::format("{} pairs, in turn; a run took {} as it was and {} patched (medians, under "
                        "the capture library); {}",
                        program.pairs, formatDuration(program.oldSeconds),
                        formatDuration(program.newSeconds),
                        counted(program.rounds, "patch was tried", "patches were tried")));
  addFact(list, "output", program.output);
  addFact(list, "tests", program.tests);
  for (const SessionWin *win : wins)
    if (win->program)
      addFact(list, "that the patched " + oneLine(win->kernel) + " is the one that ran",
              win->program->proof);
  for (const std::string &note : program.notes)
    addFact(list, "note", note);
  return list;
}

Section programSection(const RunFacts &facts) {
  const SessionWin *win = facts.history.inProgram();
  if (!win)
    return {};
  List list = programList(*facts.history.session, {win});
  for (const std::string &gain : runsInWords(*win))
    list.items.push_back({oneLine(gain, 2000)});
  addFact(list, "the patch of all kernels and its evidence", facts.history.session->name);
  return {"program",
          "In the program",
          {Paragraph{{{Span::Strong, toString(win->state), toString(win->state)},
                      ": " + withoutStop(oneLine(win->reason, 1000)) + "."}},
           winsTable({win}), std::move(list)}};
}

} // namespace kopt
