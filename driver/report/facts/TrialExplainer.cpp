// SPDX-License-Identifier: Apache-2.0
#include "driver/report/facts/TrialExplainer.h"

#include "driver/report/facts/HotLineTable.h"
#include "driver/report/facts/TrialNames.h"
#include "driver/support/Text.h"
#include "driver/support/UnifiedDiff.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kopt {
namespace {

constexpr std::size_t kShortestHash = 4;

/// The index of the trial that `which` names.
Result<std::size_t> findTrial(const RunHistory &history, const std::string &which) {
  const std::string word = which.starts_with("#") ? which.substr(1) : which;
  std::size_t number = 0;
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), number);
  const bool isNumber = problem == std::errc() && end == word.data() + word.size();
  if (isNumber && number < history.trials.size())
    return number;
  std::vector<std::size_t> found;
  if (word.size() >= kShortestHash)
    for (std::size_t i = 0; i < history.trials.size(); ++i)
      if (history.trials[i].purpose == Purpose::Search &&
          history.trials[i].candidateHash.starts_with(word))
        found.push_back(i);
  if (found.size() == 1)
    return found.front();
  const std::string hint =
      history.trials.empty()
          ? std::string("the run has no trials")
          : fmt::format("trials are numbered from 0 to {}, as in the report; a candidate's hash, "
                        "or its first {} digits, is understood as well",
                        history.trials.size() - 1, kShortestHash);
  return makeError(ErrorCode::Usage,
                   found.empty()
                       ? fmt::format("the run '{}' has no trial '{}'", history.run.name, which)
                       : fmt::format("'{}' begins the hashes of {} trials", which, found.size()),
                   hint);
}

class TrialExplainer {
public:
  TrialExplainer(const RunHistory &history, std::size_t index)
      : history_(history), story_(history), index_(index), trial_(history.trials[index]) {}

  std::vector<Explanation> explain() {
    origin();
    change();
    stages();
    hotLines();
    verdict();
    aftermath();
    return std::move(result_);
  }

private:
  Explanation &add(const char *kind, std::string text) {
    const auto round = story_.roundOf[index_];
    result_.push_back({kind, round ? story_.rounds[*round].number : 0, story_.secondsAfter[index_],
                       std::move(text)});
    return result_.back();
  }

  bool isBaseline() const { return &trial_ == history_.baseline(); }

  void origin() {
    if (isBaseline()) {
      add("baseline", "#0 is the baseline: your own kernel, with which all others are compared.");
      return;
    }
    std::string text = fmt::format("{} (candidate {})", nameOfTrial(history_, index_),
                                   trial_.candidateHash.substr(0, 12));
    if (trial_.purpose != Purpose::Search) {
      add("ask", text + (trial_.purpose == Purpose::Confirmation
                             ? ": a would-be winner, judged again on fresh inputs and samples."
                             : ": a would-be winner, judged on captured launches that the search "
                               "had not seen."));
      return;
    }
    const auto round = story_.roundOf[index_];
    text += fmt::format(" was proposed by '{}'", trial_.candidate.proposer);
    if (round)
      text += fmt::format(" in round {}", story_.rounds[*round].number + 1);
    std::vector<std::string> parents;
    for (const std::string &parent : trial_.candidate.parents) {
      const auto known = history_.indexOf(parent);
      std::string name =
          known ? nameOfTrial(history_, *known) : "candidate " + parent.substr(0, 12);
      if (known && history_.trials[*known].speedup)
        name += fmt::format(" ({:.3f}x)", history_.trials[*known].speedup->estimate);
      parents.push_back(std::move(name));
    }
    text += fmt::format(", made from {}.",
                        parents.empty() ? std::string("the baseline") : join(parents, " and "));
    Explanation &entry = add("ask", std::move(text));
    if (!trial_.candidate.technique.empty())
      entry.details.push_back("technique: " + trial_.candidate.technique);
    if (!trial_.candidate.rationale.empty())
      entry.details.push_back("because: " + oneLine(trial_.candidate.rationale));
  }

  void change() {
    if (isBaseline() || trial_.purpose != Purpose::Search)
      return;
    std::vector<std::string> parts = partsOf(trial_.candidate);
    if (!trial_.sliceText.empty() && !history_.run.sliceText.empty()) {
      const auto [added, removed] =
          countLines(diffTexts("kernel.cu", history_.run.sliceText, trial_.sliceText));
      parts.push_back(
          fmt::format("{} lines added and {} removed against the baseline", added, removed));
    }
    if (!parts.empty())
      add("note", fmt::format("Its change: {}.", join(parts, "; ")));
  }

  void stages() {
    if (!trial_.checks.empty()) {
      Explanation &entry = add("checked", "The checks, in order:");
      for (const CheckRecord &check : trial_.checks)
        entry.details.push_back(
            fmt::format("{}: {}{}", toString(check.check), toString(check.state),
                        check.detail.empty() ? "" : ", " + oneLine(check.detail)));
    }
    if (!trial_.findings.empty()) {
      Explanation &entry = add("note", "Remarks:");
      for (const Finding &finding : trial_.findings)
        entry.details.push_back(
            fmt::format("{}: {}{}", toString(finding.severity), oneLine(finding.message),
                        finding.where.empty() ? "" : " (" + finding.where + ")"));
    }
    if (trial_.verdict == Verdict::BuildFailed && !trial_.buildLog.empty()) {
      Explanation &entry = add("note", "The compiler said:");
      std::vector<std::string> lines = split(trial_.buildLog, '\n');
      constexpr std::size_t kMostLines = 12;
      for (std::size_t i = 0; i < lines.size() && i < kMostLines; ++i)
        if (!trim(lines[i]).empty())
          entry.details.push_back(oneLine(lines[i]));
    }
    if (!trial_.timings.empty() && !isBaseline()) {
      Explanation &entry = add("note", "Its times:");
      for (const LaunchTiming &timing : trial_.timings)
        entry.details.push_back(fmt::format(
            "launch {}: {} -> {}, {}", timing.launch, formatDuration(timing.baselineSeconds),
            formatDuration(timing.candidateSeconds),
            timing.speedup.modelled
                ? fmt::format("{:.3f}x (modelled)", timing.speedup.estimate)
                : fmt::format("{:.3f}x [{:.3f}, {:.3f}] from {} pairs", timing.speedup.estimate,
                              timing.speedup.low, timing.speedup.high, timing.speedup.pairs)));
    }
  }

  /// Only the baseline and confirmations have some. The winner has those of its confirmation.
  void hotLines() {
    const bool isWinner = history_.winner() == &trial_;
    const HotLines &hot = isWinner ? *winnersHotLines(history_) : trial_.hotLines;
    if (!hot.lines.empty())
      add("note", "Its hot lines. " + howCounted(hot)).details =
          inWords(hotLineTable(history_.run, hot), kMostHotLines);
  }

  void verdict() {
    add("trial", fmt::format("Verdict: {}, decided at the stage '{}'{} after {}: {}.",
                             verdictInWords(trial_.verdict), toString(trial_.stage),
                             trial_.check == CheckId::None
                                 ? ""
                                 : fmt::format(", by the check '{}',", toString(trial_.check)),
                             formatDuration(trial_.seconds), withoutStop(oneLine(trial_.reason))));
    if (!isBaseline() && trial_.verdict == Verdict::Faster) {
      Explanation &entry = add(trial_.assurance.gaps.empty() ? "checked" : "unchecked",
                               fmt::format("Assurance: {}.", toString(trial_.assurance.level)));
      entry.details = inLines(trial_.assurance);
    }
  }

  void aftermath() {
    if (trial_.purpose != Purpose::Search || isBaseline())
      return;
    for (const Round &round : story_.rounds)
      if (round.accepted && round.accepted->candidate == trial_.candidateHash)
        add("accept", "It was accepted: it became the incumbent, from which the next candidates "
                      "were made.");
    const auto round = story_.roundOf[index_];
    if (round && trial_.verdict == Verdict::Faster) {
      const Round &mine = story_.rounds[*round];
      if (!mine.accepted)
        add("keep", "It did not become the incumbent: the incumbent of that round was as fast, "
                    "within the smallest gain that counts.");
      else if (mine.accepted->candidate != trial_.candidateHash)
        add("keep", fmt::format("It did not become the incumbent: '{}' of the same round was "
                                "better.",
                                mine.accepted->title));
    }
    std::vector<std::string> children;
    for (std::size_t i = 0; i < history_.trials.size(); ++i)
      if (i != index_ && history_.trials[i].purpose == Purpose::Search &&
          std::ranges::find(history_.trials[i].candidate.parents, trial_.candidateHash) !=
              history_.trials[i].candidate.parents.end())
        children.push_back(outcomeOf(history_, i));
    if (!children.empty())
      add("offer", "Candidates that were made from it:").details = std::move(children);
    for (const Event &event : history_.events)
      if (const auto *confirm = std::get_if<Confirm>(&event.what);
          confirm && confirm->candidate == trial_.candidateHash)
        add(confirm->held ? "confirm" : "reject",
            fmt::format("Judged again on fresh inputs and samples, it {}: {}.",
                        confirm->held ? "held" : "did not hold",
                        withoutStop(oneLine(confirm->reason))));
    if (trial_.candidateHash == history_.run.winnerHash)
      add("end", "It is the winner of the run.");
  }

  const RunHistory &history_;
  const RunStory story_;
  const std::size_t index_;
  const Trial &trial_;
  std::vector<Explanation> result_;
};

} // namespace

Result<std::vector<Explanation>> explainTrial(const RunHistory &history, const std::string &which) {
  KOPT_TRY(const std::size_t index, findTrial(history, which));
  return TrialExplainer(history, index).explain();
}

} // namespace kopt
