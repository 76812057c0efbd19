// SPDX-License-Identifier: Apache-2.0
// The result: how much faster, how certain, and on what it was measured.
#include "driver/report/html/Sections.h"

#include "driver/report/facts/TrialNames.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt::html {
namespace {

void writeFact(Writer &writer, Literal name, std::string_view value, std::string_view more = {},
               const std::string &style = {}) {
  const auto frame = writer.open("div");
  writer.element("dt", name.text());
  const auto body = writer.open("dd");
  if (style.empty())
    writer.element("b", value);
  else
    writer.element("b", {{"class", style}}, value);
  if (!more.empty()) {
    writer.text(" ");
    writer.element("span", {{"class", "small"}}, more);
  }
}

/// "a roofline model of the emulated device", or from how many samples.
std::string evidenceOf(const PageFacts &facts) {
  const Speedup &speedup = *facts.measured->speedup;
  if (speedup.modelled)
    return fmt::format("Modelled for {}: a roofline model of the emulated device, not a "
                       "measurement. Tune on a GPU to measure it.",
                       deviceName(facts.device));
  return fmt::format(
      "Measured on {}: {:g}% interval [{:.3f}, {:.3f}] from {} pairs{}{}.",
      deviceName(facts.device), speedup.confidence * 100, speedup.low, speedup.high, speedup.pairs,
      speedup.processes > 1 ? fmt::format(" in {} fresh processes", speedup.processes) : "",
      facts.measured == facts.winner ? "" : ", taken after the search on fresh inputs and samples");
}

/// The fastest candidate that was timed but did not win; empty if none was.
std::string nearestMiss(const PageFacts &facts) {
  const Trial *best = nullptr;
  for (const Trial &trial : facts.history.trials)
    if (trial.purpose == Purpose::Search && &trial != facts.baseline && trial.speedup &&
        (!best || trial.speedup->estimate > best->speedup->estimate))
      best = &trial;
  if (!best)
    return {};
  return fmt::format(" The fastest that was timed is {} with {} {}: {}.",
                     nameOfTrial(facts.history, std::size_t(best - facts.history.trials.data())),
                     factorInWords(best->speedup->estimate), intervalInWords(*best->speedup),
                     verdictInWords(best->verdict));
}

void writeAnswer(Writer &writer, const PageFacts &facts) {
  const RunRecord &run = facts.history.run;
  const auto head = writer.open("div", {{"class", "head"}});
  const auto say = [&](std::string_view big, const std::string &text) {
    writer.element("div", {{"class", "big none"}}, big);
    writer.element("p", {{"class", "says"}}, text);
  };
  const std::string why = run.stopText.empty() ? "" : " " + withoutStop(run.stopText) + ".";
  if (!facts.winner) {
    if (run.state == RunState::Finished)
      say("Nothing to apply",
          "No candidate was accepted:" + (why.empty() ? " nothing was faster and held." : why) +
              nearestMiss(facts));
    else if (run.state == RunState::Failed)
      say("No verdict", "The run failed." + why);
    else
      say("No verdict yet",
          "The run was interrupted, or still runs. The same command with --resume "
          "continues it.");
    return;
  }
  if (!facts.measured->speedup) {
    say("No speedup", "No speedup was recorded for the accepted candidate.");
    return;
  }
  const Speedup &speedup = *facts.measured->speedup;
  {
    const auto big = writer.open("div", {{"class", "big"}});
    writer.text(fmt::format("{:.2f}x", speedup.estimate));
    writer.element("small", speedup.modelled ? " faster, modelled" : " faster, measured");
  }
  const auto says = writer.open("div");
  writer.element("p", {{"class", "says"}}, evidenceOf(facts));
  if (speedup.modelled)
    return;
  const Scale scale = stripScale({speedup});
  writeStripAxis(writer, scale);
  writer.leaf("br");
  writeStrip(writer, scale, speedup);
}

std::string programState(const PageFacts &facts) {
  const SessionWin *win = facts.history.inProgram();
  return win ? toString(win->state) : "not asked";
}

void writeFacts(Writer &writer, const PageFacts &facts) {
  const RunHistory &history = facts.history;
  const auto list = writer.open("dl", {{"class", "facts"}});
  if (facts.measured) {
    const Assurance &assurance = facts.measured->assurance;
    writeFact(writer, "Assurance", toString(assurance.level),
              assurance.gaps.empty()
                  ? "every check that applies passed"
                  : fmt::format("{} not shown: read these before you apply it",
                                assurance.gaps.size() == 1
                                    ? std::string("1 thing was")
                                    : fmt::format("{} things were", assurance.gaps.size())),
              toString(assurance.level));
    const SessionWin *win = history.inProgram();
    writeFact(writer, "In the program", programState(facts),
              win && win->program ? factorInWords(win->program->speedup.estimate) + " " +
                                        intervalInWords(win->program->speedup)
                                  : "",
              win ? toString(win->state) : "");
  }
  const auto isCandidate = [&](const Trial &trial) {
    return trial.purpose == Purpose::Search && &trial != facts.baseline;
  };
  const auto tried = std::ranges::count_if(history.trials, isCandidate);
  const auto faster = std::ranges::count_if(history.trials, [&](const Trial &trial) {
    return isCandidate(trial) && trial.verdict == Verdict::Faster;
  });
  const int rounds = facts.story.rounds.empty() ? 0 : facts.story.rounds.back().number + 1;
  writeFact(writer, "Candidates", std::to_string(tried),
            fmt::format("{} faster, in {} round{}", faster, rounds, rounds == 1 ? "" : "s"));
  writeFact(
      writer, "Device", deviceName(facts.device),
      fmt::format("{}{}", textOf(facts.device, "kind"),
                  textOf(facts.device, "arch").empty() ? "" : ", " + textOf(facts.device, "arch")));
  if (!history.run.stopText.empty())
    writeFact(writer, "The search stopped", history.run.stopText);
  const double seconds = facts.story.secondsAfter.empty() ? 0 : facts.story.secondsAfter.back();
  writeFact(writer, "Evaluation", formatDuration(seconds), "of all trials together");
}

void writeContents(Writer &writer, const PageFacts &facts) {
  const auto nav = writer.open("nav", {{"aria-label", "Contents"}});
  const auto link = [&](Literal id, Literal title) {
    writer.element("a", {{"href", std::string("#") + id.text()}}, title.text());
    writer.text(" ");
  };
  if (facts.baseline)
    link("times", "Times");
  if (facts.history.inProgram())
    link("program", "In the program");
  if (facts.winner)
    link("change", "What changed");
  if (facts.baseline) {
    link("causes", "What bounds it");
    link("lines", "Hot lines");
    link("roofline", "Roofline");
  }
  link("checks", "What was checked");
  link("search", "The search");
  link("candidates", "Every candidate");
  link("story", "Why it went this way");
  link("provenance", "Apply and reproduce");
}

} // namespace

void writeHeadline(Writer &writer, const PageFacts &facts) {
  const auto header = writer.open("header", {{"id", "headline"}});
  const RunRecord &run = facts.history.run;
  writer.element("div", {{"class", "over"}},
                 fmt::format("kopt report · run {} · {}", run.name, run.startedUtc));
  writer.element("h1", run.kernel);
  writer.element("div", {{"class", "over code"}}, run.file);
  writeAnswer(writer, facts);
  writeFacts(writer, facts);
  writeContents(writer, facts);
}

} // namespace kopt::html
