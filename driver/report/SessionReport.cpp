// SPDX-License-Identifier: Apache-2.0
#include "driver/report/SessionReport.h"

#include "driver/judge/Statistics.h"
#include "driver/model/Json.h"
#include "driver/report/Markdown.h"
#include "driver/report/html/HtmlReport.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Text.h"

#include <fmt/format.h>

namespace kopt {

namespace fs = std::filesystem;

namespace {

std::string measuredFactor(const Speedup &speedup) {
  if (speedup.modelled)
    return fmt::format("{:.2f}x modelled", speedup.estimate);
  return fmt::format("{:.3f}x [{:.3f}, {:.3f}]", speedup.estimate, speedup.low, speedup.high);
}

std::string winsTable(const SessionRecord &session) {
  std::string text = "| kernel | state | in isolation | in the program | its time in a run of the "
                     "program | change |\n|---|---|---:|---:|---|---|\n";
  for (const SessionWin &win : session.wins)
    text += fmt::format(
        "| {} ({}) | {} | {} | {} | {} | {}{} |\n", cell(win.kernel), cell(win.place),
        toString(win.state), measuredFactor(win.isolated),
        win.program ? measuredFactor(win.program->speedup) : "",
        win.program
            ? fmt::format("{} -> {} in {} launches", formatDuration(win.program->oldSeconds),
                          formatDuration(win.program->newSeconds), win.program->newLaunches)
            : "",
        cell(win.title),
        win.ownSpecialization
            ? "; it changes this instantiation alone, as others share its text or launch"
            : "");
  return text;
}

std::string programText(const SessionRecord &session) {
  const ProgramConfirmation &program = session.confirmation;
  std::string text = "\n## In the program\n\n";
  const auto add = [&](const char *what, const std::string &value) {
    if (!value.empty())
      text += fmt::format("- {}: {}\n", what, value);
  };
  if (!program.reason.empty())
    add("not confirmed", program.reason);
  else if (!program.done)
    add("not confirmed", session.finishedUtc.empty() ? "kopt was interrupted before it was"
                                                     : "no win was left to confirm");
  add("program", program.program.empty() ? "" : "`" + program.program + "`");
  add("built with", program.buildWay.empty() ? "" : "`" + program.buildWay + "`");
  add("in", program.copies);
  if (program.pairs > 0)
    text += fmt::format("- runs: {} pairs, in turn; a run took {} as it was and {} patched "
                        "(medians, under the capture library); {} patch{} tried\n",
                        program.pairs, formatDuration(program.oldSeconds),
                        formatDuration(program.newSeconds), program.rounds,
                        program.rounds == 1 ? " was" : "es were");
  add("output", program.output);
  add("tests", program.tests);
  for (const SessionWin &win : session.wins)
    if (win.program && !win.program->proof.empty())
      text += fmt::format("- that the patched {} is the one that ran: {}\n", win.kernel,
                          win.program->proof);
  for (const std::string &note : program.notes)
    add("note", note);
  return text;
}

} // namespace

std::string renderSession(const SessionRecord &session) {
  std::string text = fmt::format("# kopt: {}\n\n**{}**\n\n", session.name, headlineOf(session));
  text += winsTable(session);
  const auto addReasons = [&](WinState state, const char *title) {
    if (countOf(session, state) == 0)
      return;
    text += fmt::format("\n## {}\n\n", title);
    for (const SessionWin &win : session.wins)
      if (win.state == state)
        text += fmt::format("- {} ({}), {}: {}\n", win.kernel, win.place, win.title, win.reason);
  };
  addReasons(WinState::Dropped, "Not part of the patch");
  addReasons(WinState::Unconfirmed, "Not confirmed");
  if (countOf(session, WinState::Modelled) < session.wins.size())
    text += programText(session);
  if (!session.composed.empty()) {
    text +=
        "\n## Kernels that share text with a win\n\n| kernel | verdict | reason |\n|---|---|---|\n";
    for (const ComposedTrial &trial : session.composed)
      text += fmt::format("| {} ({}) | {} | {} |\n", cell(trial.kernel), cell(trial.place),
                          verdictInWords(trial.verdict), cell(trial.reason));
  }
  text += "\n## How to apply it\n\n";
  if (!session.confirmed.empty())
    text += fmt::format("```sh\nkopt apply --run-id {}\n```\n\nmakes what was confirmed, for all "
                        "kernels at once; `git apply` takes `confirmed.patch`.\n",
                        session.name);
  if (!session.offered.empty())
    text +=
        fmt::format("{}`kopt apply --run-id {} {}` makes the {} wins, too.\n",
                    session.confirmed.empty() ? "Nothing is applied by default. " : "\n",
                    session.name, flagOf(offeredState(session)), toString(offeredState(session)));
  if (session.confirmed.empty() && session.offered.empty())
    text += "There is nothing to apply.\n";
  text += "\nThe runs:";
  for (const SessionWin &win : session.wins)
    text += fmt::format(" `{}`", win.runName);
  return text + ".\n";
}

std::string renderSessionJson(const SessionRecord &session) {
  nlohmann::json value = toJson(session);
  for (const char *key : {"id", "confirmed", "offered", "confirmed_patch", "offered_patch"})
    value.erase(key);
  value.update(
      {{"schema_version", 1}, {"headline", headlineOf(session)}, {"patch", patchName(session)}});
  return dumpJson(value, 2) + "\n";
}

Status writeSessionFolder(const SessionRecord &session, const fs::path &folder) {
  std::error_code ignored;
  for (const char *name : {"confirmed.patch", "modelled.patch", "unconfirmed.patch"})
    fs::remove(folder / name, ignored);
  KOPT_CHECK(writeFileAtomically(folder / "session.json", renderSessionJson(session)));
  KOPT_CHECK(writeFileAtomically(folder / "summary.md", renderSession(session)));
  KOPT_CHECK(writeFileAtomically(folder / "summary.html", renderSessionHtml(session)));
  if (!session.offered.empty())
    KOPT_CHECK(writeFileAtomically(
        folder / (std::string(toString(offeredState(session))) + ".patch"), session.offeredPatch));
  if (!session.confirmed.empty())
    KOPT_CHECK(writeFileAtomically(folder / "confirmed.patch", session.confirmedPatch));
  return {};
}

} // namespace kopt
