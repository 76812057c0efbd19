// SPDX-License-Identifier: Apache-2.0
// Times by launch, and gains in isolation and in the program.
#include "driver/report/html/Sections.h"

#include "driver/report/facts/TrialNames.h"
#include "driver/support/Text.h"

#include <fmt/format.h>

namespace kopt::html {
namespace {

void writeSpeedupCells(Writer &writer, const Scale &scale, const Speedup &speedup) {
  writer.element("td", {{"class", "n"}}, factorInWords(speedup.estimate));
  writer.element("td", {{"class", "nw"}}, intervalInWords(speedup));
  const auto cell = writer.open("td");
  writeStrip(writer, scale, speedup);
}

std::vector<Speedup> speedupsOf(const Trial &trial) {
  std::vector<Speedup> all;
  for (const LaunchTiming &timing : trial.timings)
    all.push_back(timing.speedup);
  if (trial.speedup)
    all.push_back(*trial.speedup);
  return all;
}

} // namespace

void writeTimes(Writer &writer, const PageFacts &facts) {
  const Trial *shown = facts.measured ? facts.measured : facts.baseline;
  if (!shown || shown->timings.empty())
    return;
  const Section section(writer, "times", "Times by launch");
  const bool judged = shown == facts.measured;
  if (!judged)
    writeNote(writer, "Of the baseline alone: no candidate won.");
  const Scale scale = stripScale(speedupsOf(*shown));
  {
    const Table table(writer, "times", "Times by launch");
    {
      const auto head = writer.open("thead");
      const auto row = writer.open("tr");
      writeHead(writer, {{"launch", ""}, {"baseline", "n"}});
      if (judged) {
        writeHead(writer, {{"winner", "n"}, {"speedup", "n"}, {"interval", ""}});
        const auto cell = writer.open("th", {{"scope", "col"}});
        writeStripAxis(writer, scale);
      }
      writeHead(writer, {{"pairs", "n"}, {"cache", ""}});
    }
    const auto body = writer.open("tbody");
    for (const LaunchTiming &timing : shown->timings) {
      const auto row = writer.open("tr");
      writer.element("th", {{"scope", "row"}, {"class", "wide"}}, timing.launch);
      writer.element("td", {{"class", "n"}}, formatDuration(timing.baselineSeconds));
      if (judged) {
        writer.element("td", {{"class", "n"}}, formatDuration(timing.candidateSeconds));
        writeSpeedupCells(writer, scale, timing.speedup);
      }
      writer.element("td", {{"class", "n"}}, std::to_string(timing.speedup.pairs));
      writer.element("td",
                     timing.cacheMode == CacheMode::Unknown ? "" : toString(timing.cacheMode));
    }
    if (judged && shown->speedup && shown->timings.size() > 1) {
      const auto row = writer.open("tr", {{"class", "sum"}});
      writer.element("th", {{"scope", "row"}}, "all, weighted by their share of run time");
      writer.element("td", "");
      writer.element("td", "");
      writeSpeedupCells(writer, scale, *shown->speedup);
      writer.element("td", {{"class", "n"}}, std::to_string(shown->speedup->pairs));
      writer.element("td", "");
    }
  }
  if (judged && shown->speedup && !shown->speedup->modelled)
    writeNote(
        writer,
        fmt::format("Medians; intervals at {:g}%. The dashed line is the baseline. Green: the "
                    "whole interval is a gain; grey: it contains both.",
                    shown->speedup->confidence * 100));
  else if (judged)
    writeNote(writer,
              "Modelled times have no interval: they are not measurements. The dashed line is "
              "the baseline.");
}

void writeWinsTable(Writer &writer, const std::vector<const SessionWin *> &wins, bool withKernel) {
  std::vector<Speedup> all;
  for (const SessionWin *win : wins) {
    all.push_back(win->isolated);
    if (win->program)
      all.push_back(win->program->speedup);
  }
  const Scale scale = stripScale(all);
  const Table table(writer, "wins", "Gains in isolation and in the program");
  {
    const auto head = writer.open("thead");
    const auto row = writer.open("tr");
    if (withKernel)
      writeHead(writer, {{"kernel", ""}, {"state", ""}});
    writeHead(writer, {{"where", ""}, {"speedup", "n"}, {"interval", ""}});
    {
      const auto cell = writer.open("th", {{"scope", "col"}});
      writeStripAxis(writer, scale);
    }
    writeHead(writer, {{"time", ""}});
  }
  const auto body = writer.open("tbody");
  for (const SessionWin *win : wins) {
    const auto name = [&](Literal where) {
      if (withKernel) {
        const auto cell = writer.open("th", {{"scope", "row"}, {"class", "wide"}});
        // The folders of runs and sessions are siblings.
        writer.element("a", {{"href", "../" + win->runName + "/report.html"}}, win->kernel);
        writer.text(" ");
        writer.element("span", {{"class", "small"}}, win->place);
      }
      if (withKernel)
        writer.element("td", {{"class", toString(win->state)}}, toString(win->state));
      writer.element(withKernel ? Literal("td") : Literal("th"), {{"class", "nw"}}, where.text());
    };
    {
      const auto row = writer.open("tr");
      name("in isolation");
      writeSpeedupCells(writer, scale, win->isolated);
      writer.element("td", {{"class", "small"}},
                     win->isolated.modelled ? std::string("modelled")
                                            : fmt::format("{} pairs", win->isolated.pairs));
    }
    const auto row = writer.open("tr");
    name("in the program");
    if (!win->program) {
      const auto cell = writer.open("td", {{"colspan", "4"}, {"class", "note"}});
      writer.text("not measured: " + oneLine(win->reason));
      continue;
    }
    writeSpeedupCells(writer, scale, win->program->speedup);
    writer.element("td", {{"class", "small"}},
                   fmt::format("{} -> {} in {} launches of a run, {} pairs of runs",
                               formatDuration(win->program->oldSeconds),
                               formatDuration(win->program->newSeconds), win->program->newLaunches,
                               win->program->speedup.pairs));
  }
}

void writeInProgram(Writer &writer, const PageFacts &facts) {
  const SessionWin *win = facts.history.inProgram();
  if (!win)
    return;
  const Section section(writer, "program", "In the program");
  {
    const auto line = writer.open("p");
    writer.element("b", {{"class", toString(win->state)}}, toString(win->state));
    writer.text(": " + withoutStop(oneLine(win->reason, 1000)) + ".");
  }
  writeWinsTable(writer, {win}, false);
  const ProgramConfirmation &program = facts.history.session->confirmation;
  const auto list = writer.open("ul", {{"class", "plain"}});
  const auto add = [&](Literal what, const std::string &value) {
    if (!value.empty())
      writer.element("li", std::string(what.text()) + ": " + oneLine(value, 1000));
  };
  add("program", program.program);
  add("built with", program.buildWay);
  add("output", program.output);
  add("tests", program.tests);
  add("not confirmed", program.reason);
  if (win->program)
    add("that the patched kernel is the one that ran", win->program->proof);
  add("the patch of all kernels and its evidence", facts.history.session->name);
}

} // namespace kopt::html
