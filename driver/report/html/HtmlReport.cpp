// SPDX-License-Identifier: Apache-2.0
#include "driver/report/html/HtmlReport.h"

#include "driver/report/facts/SessionFacts.h"
#include "driver/report/facts/TrialNames.h"
#include "driver/report/html/Sections.h"
#include "driver/support/Text.h"

#include <fmt/format.h>

namespace kopt {
namespace html {
namespace {

void writeReasons(Writer &writer, const SessionRecord &session) {
  const Section section(writer, "wins", "Every win");
  std::vector<const SessionWin *> wins;
  for (const SessionWin &win : session.wins)
    wins.push_back(&win);
  if (wins.empty()) {
    writeNote(writer, "No kernel was won.");
    return;
  }
  writeWinsTable(writer, wins, true);
  writer.element("h3", "What each changes, and why it has its state");
  const auto list = writer.open("ul", {{"class", "plain"}});
  for (const SessionWin *win : wins) {
    const auto item = writer.open("li");
    writer.element("b", win->kernel);
    writer.text(": " + oneLine(win->title) + "; ");
    writer.element("span", {{"class", toString(win->state)}}, toString(win->state));
    writer.text(": " + oneLine(win->reason, 1000));
    if (win->ownSpecialization)
      writer.text("; it changes this instantiation alone, as others share its text or launch");
  }
}

void writeProgram(Writer &writer, const SessionRecord &session) {
  const ProgramConfirmation &program = session.confirmation;
  const Section section(writer, "program", "In the program");
  if (!program.reason.empty())
    writer.element("p", "Not confirmed: " + oneLine(program.reason, 2000));
  else if (!program.done)
    writer.element("p", session.finishedUtc.empty()
                            ? "Not confirmed: kopt was interrupted before it was."
                            : "Not confirmed: no win was left to confirm.");
  const auto list = writer.open("ul", {{"class", "plain"}});
  const auto add = [&](Literal what, const std::string &value) {
    if (!value.empty())
      writer.element("li", std::string(what.text()) + ": " + oneLine(value, 2000));
  };
  add("program", program.program);
  add("built with", program.buildWay);
  add("in", program.copies);
  if (program.pairs > 0)
    add("runs", fmt::format("{} pairs, in turn; a run took {} as it was and {} patched (medians, "
                            "under the capture library); {} patch{} tried",
                            program.pairs, formatDuration(program.oldSeconds),
                            formatDuration(program.newSeconds), program.rounds,
                            program.rounds == 1 ? " was" : "es were"));
  add("output", program.output);
  add("tests", program.tests);
  for (const SessionWin &win : session.wins)
    if (win.program && !win.program->proof.empty())
      writer.element("li", "that the patched " + win.kernel +
                               " is the one that ran: " + win.program->proof);
  for (const std::string &note : program.notes)
    add("note", note);
}

void writeComposed(Writer &writer, const SessionRecord &session) {
  if (session.composed.empty())
    return;
  const Section section(writer, "shared", "Kernels that share text with a win");
  const Table table(writer, "narrow", "Kernels that share text with a win");
  writeTableHead(writer, {{"kernel"}, {"verdict"}, {"reason"}});
  const auto body = writer.open("tbody");
  for (const ComposedTrial &trial : session.composed) {
    const auto row = writer.open("tr");
    writer.element("th", {{"scope", "row"}}, trial.kernel + " (" + trial.place + ")");
    writer.element("td", verdictInWords(trial.verdict));
    writer.element("td", oneLine(trial.reason, 600));
  }
}

void writePatch(Writer &writer, const SessionRecord &session) {
  const Section section(writer, "apply", "How to apply it");
  if (session.confirmed.empty() && session.offered.empty()) {
    writeNote(writer, "There is nothing to apply.");
    return;
  }
  if (!session.confirmed.empty()) {
    writer.element("pre", "kopt apply --run-id " + session.name);
    writeNote(writer, "makes what was confirmed, for all kernels at once; 'git apply' takes "
                      "confirmed.patch.");
  }
  if (!session.offered.empty()) {
    writer.element("pre", fmt::format("kopt apply --run-id {} {}", session.name,
                                      flagOf(offeredState(session))));
    writeNote(writer, fmt::format("makes the {} wins{}. They are not applied without the flag.",
                                  toString(offeredState(session)),
                                  session.confirmed.empty() ? "" : ", too"));
  }
  const std::string &patch =
      session.confirmed.empty() ? session.offeredPatch : session.confirmedPatch;
  if (!patch.empty())
    writeDiff(writer, patch);
}

} // namespace
} // namespace html

std::string renderHtml(const RunHistory &history, const RunDiagnosis &diagnosis) {
  const html::PageFacts facts(history, diagnosis);
  html::Writer writer;
  html::beginPage(writer, "kopt: " + history.run.kernel + " (" + history.run.name + ")");
  html::writeHeadline(writer, facts);
  html::writeTimes(writer, facts);
  html::writeInProgram(writer, facts);
  html::writeChange(writer, facts);
  html::writeCauses(writer, facts);
  html::writeHotLines(writer, facts);
  html::writeRoofline(writer, facts);
  html::writeChecks(writer, facts);
  html::writeSearch(writer, facts);
  html::writeCandidates(writer, facts);
  html::writeStory(writer, facts);
  html::writeProvenance(writer, facts);
  html::endPage(writer);
  return writer.take();
}

std::string renderHtml(const RunHistory &history) {
  return renderHtml(history, diagnoseRun(history));
}

std::string renderSessionHtml(const SessionRecord &session) {
  html::Writer writer;
  html::beginPage(writer, "kopt: " + session.name);
  {
    const auto header = writer.open("header", {{"id", "headline"}});
    writer.element("div", {{"class", "over"}},
                   fmt::format("kopt report · session {} · {}", session.name, session.startedUtc));
    writer.element("h1", headlineOf(session));
    writer.element("div", {{"class", "over code"}}, session.root);
  }
  html::writeReasons(writer, session);
  if (countOf(session, WinState::Modelled) < session.wins.size())
    html::writeProgram(writer, session);
  html::writeComposed(writer, session);
  html::writePatch(writer, session);
  html::endPage(writer);
  return writer.take();
}

} // namespace kopt
