// SPDX-License-Identifier: Apache-2.0
#include "driver/search/Confirmation.h"

#include "driver/model/KernelSpec.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <regex>

namespace kopt {
namespace {

std::vector<const Trial *> fastestFirst(const SearchHistory &history) {
  std::vector<const Trial *> trials;
  for (const Trial &trial : history.trials)
    if (trial.verdict == Verdict::Faster && trial.speedup)
      trials.push_back(&trial);
  std::ranges::stable_sort(trials, std::greater(),
                           [](const Trial *trial) { return trial->speedup->estimate; });
  // What is faster than the incumbent and was not accepted is so by less than that takes.
  if (const auto best = std::ranges::find(trials, &history.best()); best != trials.end())
    std::rotate(trials.begin(), best, best + 1);
  if (trials.size() > kMostConfirmations)
    trials.resize(kMostConfirmations);
  return trials;
}

/// True if both were measured and it is not known which is faster.
bool overlap(const Trial &faster, const Trial &slower) {
  return !faster.speedup->modelled && slower.speedup->high > faster.speedup->low;
}

/// Moves the fastest of the finalists that cannot be told apart to the front.
Status putBestFirst(std::vector<const Trial *> &finalists, int round, Judge &judge,
                    Journal &journal) {
  for (std::size_t i = 1; i < finalists.size(); ++i) {
    if (!overlap(*finalists.front(), *finalists[i]))
      continue;
    KOPT_TRY(const auto compared,
             compareTrials(*finalists[i], *finalists.front(), round, judge, journal));
    if (compared && compared->low > 1)
      std::rotate(finalists.begin(), finalists.begin() + std::ptrdiff_t(i),
                  finalists.begin() + std::ptrdiff_t(i) + 1);
  }
  return {};
}

/// Puts the fastest candidate that the first one was made from at the second place.
void addParent(std::vector<const Trial *> &finalists, const SearchHistory &history) {
  const Trial *best = nullptr;
  for (const std::string &hash : finalists.front()->candidate.parents)
    for (const Trial &trial : history.trials)
      if (trial.candidateHash == hash && trial.verdict == Verdict::Faster && trial.speedup &&
          (!best || trial.speedup->estimate > best->speedup->estimate))
        best = &trial;
  if (!best)
    return;
  std::erase(finalists, best);
  finalists.insert(finalists.begin() + 1, best);
  finalists.resize(std::min(finalists.size(), std::size_t(kMostConfirmations)));
}

/// Below this speedup in the program a candidate that was not timed there is the better choice.
constexpr double kLeastInProgram = 1.01;

/// Sorts the finalists by their times in the program; those without keep their order.
Status orderByProgram(std::vector<const Trial *> &finalists, const SearchHistory &history,
                      const ProgramScreen &screen, Journal &journal) {
  if (!finalists.empty())
    addParent(finalists, history);
  if (finalists.size() < 2)
    return {};
  KOPT_TRY(const std::vector<std::optional<double>> speedups, screen(finalists));
  std::map<const Trial *, double> known;
  TimedInProgram timed;
  for (std::size_t i = 0; i < finalists.size() && i < speedups.size(); ++i) {
    known[finalists[i]] = speedups[i].value_or(kLeastInProgram);
    timed.times.push_back(
        {finalists[i]->candidateHash, finalists[i]->candidate.title, speedups[i]});
  }
  std::ranges::stable_sort(finalists, std::greater(),
                           [&](const Trial *trial) { return known[trial]; });
  Event event;
  event.round = history.round;
  event.what = timed;
  return journal.appendOnce(event);
}

} // namespace

Result<std::optional<Compare>> compareTrials(const Trial &trial, const Trial &other, int round,
                                             Judge &judge, Journal &journal) {
  Event event;
  event.round = round;
  Compare compare{trial.candidateHash, other.candidateHash, trial.candidate.title,
                  other.candidate.title};
  event.what = compare;
  if (const Event *known = journal.recorded(event)) {
    event = *known;
  } else {
    KOPT_TRY(const auto speedup, judge.compare(trial.candidate, other.candidate));
    if (!speedup)
      return std::nullopt;
    compare.low = speedup->low;
    compare.estimate = speedup->estimate;
    compare.high = speedup->high;
    event.what = compare;
  }
  KOPT_CHECK(journal.appendOnce(event));
  return std::get<Compare>(event.what);
}

std::string whatVanished(const Trial &before, const Trial &after) {
  if (!after.speedup || after.speedup->estimate <= kLargeGain)
    return {};
  std::vector<std::string> parts;
  const auto add = [&](const std::string &what, double was, double is) {
    if (was > kLargeGain * is)
      parts.push_back(
          fmt::format("{} fell from {} to {}", what, formatNumber(was), formatNumber(is)));
  };
  static constexpr std::pair<const char *, const char *> kCounted[] = {
      {"smsp__inst_executed.sum", "warp instructions"},
      {"dram__bytes_read.sum", "bytes read from DRAM"},
      {"dram__bytes_write.sum", "bytes written to DRAM"},
      {"sass__loop_inst", "instructions in loops of the code"}};
  for (const auto &[name, label] : kCounted)
    if (before.counters.contains(name) && after.counters.contains(name))
      add(label, before.counters.at(name), after.counters.at(name));
  const HotLines &was = before.hotLines, &is = after.hotLines;
  add("bytes of global memory in requests", 32 * was.sectors, 32 * is.sectors);
  static const std::regex kLoop(R"(\b(for|while|do)\b)");
  for (const HotLine &line : was.lines) {
    const auto same = std::ranges::find(is.lines, line.text, &HotLine::text);
    // A line that a full list does not have has at most what the last one has.
    const double left = same != is.lines.end()            ? same->instructions
                        : is.lines.size() < kMostHotLines ? 0
                        : is.source == LineSource::Code   ? line.instructions
                                                          : is.lines.back().instructions;
    if (!line.file.empty() && std::regex_search(line.text, kLoop))
      add(fmt::format("those of the loop at {}, '{}',", placeOf(line), line.text),
          line.instructions, left);
  }
  return parts.empty() ? "" : "; work vanished, which another input may need: " + join(parts, ", ");
}

Result<std::optional<Trial>> confirmWinner(const SearchHistory &history, Judge &judge,
                                           Journal &journal, const ConfirmationSteps &steps) {
  std::vector<const Trial *> finalists = fastestFirst(history);
  KOPT_CHECK(putBestFirst(finalists, history.round, judge, journal));
  const bool isLate = steps.isTimeUp && steps.isTimeUp();
  if (steps.screen && !isLate)
    KOPT_CHECK(orderByProgram(finalists, history, steps.screen, journal));
  std::optional<Trial> trimmed;
  if (steps.trim && !finalists.empty()) {
    KOPT_TRY(trimmed, steps.trim(*finalists.front()));
    if (trimmed) {
      finalists.insert(finalists.begin(), &*trimmed);
      finalists.resize(std::min(finalists.size(), std::size_t(kMostConfirmations)));
    }
  }
  for (const Trial *chosen : finalists) {
    if (chosen != finalists.front() && steps.isTimeUp && steps.isTimeUp())
      break;
    KOPT_TRY(const Trial confirmed, judge.judge(chosen->candidate, Purpose::Confirmation));
    const bool held = confirmed.verdict == Verdict::Faster;
    Event event;
    event.round = history.round;
    event.what = Confirm{chosen->candidateHash, chosen->candidate.title, held, confirmed.reason};
    if (confirmed.speedup)
      event.evidence = {{"speedup low", chosen->candidateHash, confirmed.speedup->low}};
    KOPT_CHECK(journal.appendOnce(event));
    if (!held)
      continue;
    Trial winner = *chosen;
    KOPT_CHECK(judge.addCounters(winner));
    winner.speedup = confirmed.speedup;
    winner.timings = confirmed.timings;
    winner.checks = confirmed.checks; // all checks: the search leaves out those for winners
    winner.assurance = confirmed.assurance;
    winner.hotLines = confirmed.hotLines;
    winner.reason = confirmed.reason + whatVanished(history.trials.front(), winner);
    return winner;
  }
  return std::nullopt;
}

} // namespace kopt
