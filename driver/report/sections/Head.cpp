// SPDX-License-Identifier: Apache-2.0
// The result: how much faster, how certain, and on what it was measured.
#include "driver/report/facts/TrialNames.h"
#include "driver/report/html/Drawings.h"
#include "driver/report/sections/Sections.h"
#include "driver/support/JsonText.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {
namespace {

/// Where and how often the speedup was measured, or which model it comes from.
std::string evidenceOf(const RunFacts &facts) {
  const Speedup &speedup = *facts.measured->speedup;
  const std::string of = speedup.of ? inWords(*speedup.of) + ", " : "";
  if (speedup.modelled)
    return fmt::format("{}for {}, by a roofline model of the emulated device: not a measurement. "
                       "Tune on a GPU to measure it.",
                       of, deviceName(facts.device));
  return fmt::format(
      "{}on {}, {:g}% interval {} from {} pairs{}{}.", of, deviceName(facts.device),
      speedup.confidence * 100, intervalInWords(speedup), speedup.pairs,
      speedup.processes > 1 ? fmt::format(" in {} fresh processes", speedup.processes) : "",
      facts.measured == facts.winner ? "" : ", taken after the search on fresh inputs and samples");
}

/// The fastest candidate that was timed but did not win; empty if none was.
std::string nearestMiss(const RunFacts &facts) {
  const Trial *best = nullptr;
  for (const Trial &trial : facts.history.trials)
    if (facts.isCandidate(trial) && trial.speedup &&
        (!best || trial.speedup->estimate > best->speedup->estimate))
      best = &trial;
  if (!best)
    return {};
  return fmt::format(" The fastest that was timed is {} with {}: {}.",
                     nameOfTrial(facts.history, std::size_t(best - facts.history.trials.data())),
                     speedupInWords(*best->speedup), verdictInWords(best->verdict));
}

void answer(Document &document, const RunFacts &facts) {
  const RunRecord &run = facts.history.run;
  const auto say = [&](const char *answer, std::string evidence) {
    document.answer = answer;
    document.evidence = std::move(evidence);
  };
  const std::string why = run.stopText.empty() ? "" : ": " + withoutStop(run.stopText);
  if (!facts.winner) {
    if (run.stop == StopReason::AtRoof)
      say("At its roof", run.stopText + ".");
    else if (run.state == RunState::Finished)
      say("Nothing to apply", "no candidate was accepted" + why + "." + nearestMiss(facts));
    else if (run.state == RunState::Failed)
      say("No verdict", "the run failed" + why + ".");
    else
      say("No verdict yet", "the run was interrupted, or still runs. The same command with "
                            "--resume continues it.");
    return;
  }
  if (!facts.measured->speedup)
    return say("No speedup", "none was recorded for the accepted candidate.");
  const Speedup &speedup = *facts.measured->speedup;
  document.answer = fmt::format("{:.2f}x", speedup.estimate);
  document.answerMore = speedup.modelled ? " faster, modelled" : " faster, measured";
  document.evidence = evidenceOf(facts);
  if (!speedup.modelled)
    document.drawing = [speedup](html::Writer &writer) {
      const html::Scale scale = html::stripScale({speedup});
      html::writeStripAxis(writer, scale);
      writer.leaf("br");
      html::writeStrip(writer, scale, speedup);
    };
}

} // namespace

RunFacts::RunFacts(const RunHistory &given)
    : history(given), story(given), device(recordedObject(given.run.deviceJson)),
      baseline(given.baseline()), winner(given.winner()), measured(given.confirmation()),
      modelled(device.value("modelled", false)) {
  if (!measured)
    measured = winner;
  for (const Event &event : history.events)
    if (const auto *accept = std::get_if<Accept>(&event.what))
      accepted.insert(accept->candidate);
}

bool RunFacts::isCandidate(const Trial &trial) const {
  return trial.purpose == Purpose::Search && &trial != baseline;
}

Document headOf(const RunFacts &facts) {
  const RunHistory &history = facts.history;
  const RunRecord &run = history.run;
  Document document;
  document.title = fmt::format("kopt: {} ({})", run.kernel, run.name);
  document.heading = run.kernel;
  document.over = {"kopt report · run ", {Span::Code, run.name}, " · " + run.startedUtc};
  document.place = run.file;
  answer(document, facts);
  const auto add = [&](const char *name, std::string value, std::string more = {},
                       std::string style = {}) {
    document.facts.push_back({name, std::move(value), std::move(more), std::move(style)});
  };
  if (facts.measured) {
    const Assurance &assurance = facts.measured->assurance;
    const std::size_t count = assurance.gaps.size();
    add("Assurance", toString(assurance.level),
        count == 0 ? "every check that applies passed"
                   : counted(count, "thing was", "things were") +
                         " not shown: read these before you apply it",
        toString(assurance.level));
    if (const GainParts gain = gainParts(history.trials, *facts.measured); gain.recalled != 1)
      add("Recalled", factorInWords(gain.recalled),
          "of it is from earlier runs; this run found " + factorInWords(gain.own) + " on top");
    const SessionWin *win = history.inProgram();
    add("In the program", win ? toString(win->state) : "not asked",
        win && win->program ? speedupInWords(win->program->speedup) : "",
        win ? toString(win->state) : "");
  }
  const auto count = [&](auto matches) {
    return std::ranges::count_if(history.trials, [&](const Trial &trial) {
      return facts.isCandidate(trial) && matches(trial);
    });
  };
  const int rounds = facts.story.rounds.empty() ? 0 : facts.story.rounds.back().number + 1;
  add("Candidates", std::to_string(count([](const Trial &) { return true; })),
      fmt::format("{} faster, in {}",
                  count([](const Trial &trial) { return trial.verdict == Verdict::Faster; }),
                  counted(std::size_t(rounds), "round", "rounds")));
  const std::string arch = textIn(facts.device, "arch");
  add("Device", deviceName(facts.device),
      textIn(facts.device, "kind") + (arch.empty() ? "" : ", " + arch));
  if (const std::string objective = textIn(recordedObject(run.configJson), "objective");
      !objective.empty() && objective != "mean")
    add("Objective", objective);
  if (!run.stopText.empty())
    add("The search stopped", run.stopText);
  add("Evaluation",
      formatDuration(facts.story.secondsAfter.empty() ? 0 : facts.story.secondsAfter.back()),
      "of all trials together");
  return document;
}

} // namespace kopt
