// SPDX-License-Identifier: Apache-2.0
#include "driver/report/facts/Explain.h"

#include "driver/diagnose/States.h"
#include "driver/report/facts/HotLineTable.h"
#include "driver/report/facts/RunHistory.h"
#include "driver/report/facts/TrialNames.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>

namespace kopt {
namespace {

constexpr std::size_t kHotLines = 3; ///< of the baseline, in the story of a run

/// Explains the events in order, each with what was known at that time.
class RunExplainer {
public:
  explicit RunExplainer(const RunHistory &history)
      : history_(history), story_(history), config_(recordedObject(history.run.configJson)),
        device_(recordedObject(history.run.deviceJson)) {}

  std::vector<Explanation> explain() {
    start();
    for (const Event &event : history_.events)
      std::visit([&](const auto &what) { say(event, what); }, event.what);
    closeRound();
    program();
    end();
    return std::move(result_);
  }

private:
  Explanation &add(const char *kind, int round, std::string text) {
    result_.push_back({kind, round, seconds_, std::move(text)});
    return result_.back();
  }

  void start() {
    add("start", 0,
        fmt::format("The run '{}' of the kernel '{}' began at {} on {}{}.", history_.run.name,
                    history_.run.kernel, history_.run.startedUtc, deviceName(device_),
                    device_.value("modelled", false) ? " (emulated: its times are modelled)" : ""));
    const Trial *baseline = history_.baseline();
    if (!baseline) {
      add("baseline", 0, "No baseline was recorded: the run ended before it was measured.");
      return;
    }
    seconds_ = story_.secondsAfter[0];
    Explanation &measured = add("baseline", 0,
                                fmt::format("The baseline, your own kernel, was built, verified "
                                            "and timed in {}.",
                                            formatDuration(baseline->seconds)));
    for (const LaunchTiming &timing : baseline->timings)
      measured.details.push_back(
          fmt::format("launch {}: {}", timing.launch, formatDuration(timing.baselineSeconds)));
    for (std::string &hot : inWords(hotLineTable(history_.run, baseline->hotLines), kHotLines))
      measured.details.push_back(
          fmt::format("hot line ({}): {}", toString(baseline->hotLines.source), hot));
    rules(*baseline, nullptr, "the baseline", 0);
  }

  /// Lists the rules that fire on a new incumbent's counters, compared with the previous incumbent.
  void rules(const Trial &trial, const Diagnosis *before, const std::string &name, int round) {
    if (trial.counters.empty()) {
      add("rules", round,
          fmt::format("No counters of {} were read: no rule could say what bounds it.", name));
      return;
    }
    const Diagnosis &now = trial.diagnosis;
    Explanation &entry = add(
        "rules", round,
        now.hits.empty()
            ? fmt::format("No rule fires on the counters of {} ({}).", name, trial.counterSource)
            : fmt::format("{} on the counters of {} ({}); proposers get {} with their next "
                          "request.",
                          counted(now.hits.size(), "rule fires", "rules fire"), name,
                          trial.counterSource, now.hits.size() == 1 ? "it" : "them"));
    if (!now.state.empty())
      entry.details.push_back(
          fmt::format("state {}: {}. Bound: {}", now.state, now.finding, boundInWords(now)));
    for (const RuleHit &hit : now.hits)
      entry.details.push_back(fmt::format("{} ({}): {}", hit.id, hit.severity, hit.finding));
    if (before)
      for (const RuleHit &hit : before->hits)
        if (const RuleState state = stateOf(now, hit.id); state != RuleState::Fires)
          entry.details.push_back(hit.id + (state == RuleState::Silent
                                                ? ": no longer fires"
                                                : ": not judged, because a counter is missing"));
    diagnosis_ = now;
  }

  std::string nameOf(const std::string &hash) const {
    const auto index = history_.indexOf(hash);
    if (!index)
      return "candidate " + hash.substr(0, 12);
    return nameOfTrial(history_, *index);
  }

  void say(const Event &event, const Ask &ask) {
    closeRound();
    ++round_;
    roundClosed_ = false;
    std::vector<std::string> parents;
    for (const std::string &parent : ask.parents)
      parents.push_back(nameOf(parent));
    std::string why =
        ask.role == "given" ? "what was handed in is tried first" : promiseOf(event.evidence);
    if (why.empty())
      why = (isFollower(ask.role) ? "" : "proposers take turns, and ") +
            turnOf(event.round, ask.role);
    for (const Evidence &evidence : event.evidence)
      if (evidence.what == "speedup")
        why += fmt::format("; {} was the best so far ({:.3f}x)", join(parents, " and "),
                           evidence.value);
    add("ask", event.round,
        fmt::format("Round {}: '{}' was asked for up to {} candidates{} made from {}, because {}.",
                    event.round + 1, ask.role, ask.limit,
                    ask.technique.empty() ? "" : " of the technique '" + ask.technique + "'",
                    join(parents, " and "), why))
        .evidence = event.evidence;
  }

  /// What a portfolio rested its choice on; empty: it did not choose.
  static std::string promiseOf(const std::vector<Evidence> &evidence) {
    std::map<std::string, double> known;
    std::string gate;
    for (const Evidence &each : evidence)
      if (each.what.starts_with("gate "))
        gate = each.what + "; of what that leaves, ";
      else
        known[each.what] = each.value;
    if (known.contains("tunables of a model"))
      return "the values that a model chose for its tunables are a guess";
    if (!known.contains("chance to gain"))
      return {};
    std::string text = fmt::format(
        "{}it promises most: {:.0f}% of such candidates are expected to gain, {:.2f}x on average "
        "(trials of the technique so far: {})",
        gate, 100 * known["chance to gain"], std::exp(known["log gain if it does"]),
        known["trials of the technique"]);
    if (known["recommended by a rule"] > 0)
      text += "; a rule that fires recommends it";
    if (known["log speedup that it led to before"] > 0)
      text += fmt::format("; in an earlier run it led to {:.2f}x",
                          std::exp(known["log speedup that it led to before"]));
    return text;
  }

  /// The proposers that take turns, in the user's order.
  std::vector<std::string> turns() const {
    std::vector<std::string> proposers;
    if (const auto list = config_.find("proposers"); list != config_.end() && list->is_array())
      for (const auto &name : *list)
        if (name.is_string() && name != "given")
          proposers.push_back(name.get<std::string>());
    return proposers;
  }
  bool isFollower(const std::string &role) const {
    const std::vector<std::string> proposers = turns();
    return !proposers.empty() && std::ranges::count(proposers, role) == 0;
  }

  /// Says whether it was the proposer's own turn, or that of another one that had nothing left.
  std::string turnOf(int round, const std::string &role) const {
    const std::vector<std::string> proposers = turns();
    if (isFollower(role))
      return "candidates were faster on some launches only";
    round -= followed_;
    if (proposers.empty() || round < 0)
      return "it was asked next";
    const std::string &expected = proposers[std::size_t(round) % proposers.size()];
    if (expected == role)
      return "it was its turn";
    return fmt::format("'{}', whose turn it was, had nothing left for this parent or had failed",
                       expected);
  }

  void say(const Event &event, const Offered &offer) {
    const Round *round = current();
    followed_ += !offer.candidates.empty() && isFollower(offer.role);
    for (const std::string &note : offer.notes)
      add("note", event.round, oneLine(note));
    Explanation &entry =
        add("offer", event.round,
            offer.candidates.empty()
                ? fmt::format("'{}' had nothing to offer for this parent{}.", offer.role,
                              isFollower(offer.role) ? "" : "; it is not asked for it again")
                : fmt::format("'{}' offered {}.", offer.role,
                              counted(offer.candidates.size(), "candidate", "candidates")));
    for (const std::size_t index : round ? round->trials : std::vector<std::size_t>()) {
      const Trial &trial = history_.trials[index];
      entry.details.push_back(nameOfTrial(history_, index) +
                              (trial.candidate.rationale.empty()
                                   ? std::string()
                                   : ", because: " + oneLine(trial.candidate.rationale)));
    }
    if (!round || round->trials.empty())
      return;
    seconds_ = story_.secondsAfter[round->trials.back()];
    Explanation &judged =
        add("trial", event.round,
            fmt::format("{} of them {} judged{}.", round->trials.size(),
                        round->trials.size() == 1 ? "was" : "were",
                        round->trials.size() < offer.candidates.size()
                            ? "; the run ended, or was interrupted, before the others"
                            : ""));
    for (const std::size_t index : round->trials)
      judged.details.push_back(outcomeOf(history_, index));
  }

  void say(const Event &event, const ProposerFailure &failure) {
    followed_ += isFollower(failure.role);
    add("failed", event.round,
        fmt::format("'{}' failed and {}: {}", failure.role,
                    failure.givenUp ? "is not asked again, because it had failed several times in "
                                      "a row"
                                    : "lost its turn",
                    oneLine(failure.error)));
  }

  void say(const Event &event, const Accept &accept) {
    const std::string before = incumbent_.empty()
                                   ? fmt::format("the baseline ({:.3f}x)", 1.0)
                                   : fmt::format("{} ({:.3f}x)", nameOf(incumbent_), best_);
    add("accept", event.round,
        fmt::format("Accepted: {} became the incumbent. It is at least {:.3f}x as fast as the "
                    "baseline, which is more than {} above {}{}.",
                    nameOf(accept.candidate), accept.low, formatPercent(minGain()), before,
                    current() && current()->trials.size() > 1 ? ", and the best of the round" : ""))
        .evidence = event.evidence;
    roundClosed_ = true;
    incumbent_ = accept.candidate;
    best_ = accept.speedup;
    if (const auto index = history_.indexOf(accept.candidate)) {
      const Diagnosis before_ = diagnosis_;
      rules(history_.trials[*index], &before_, "the new incumbent", event.round);
    }
  }

  void say(const Event &event, const Stop &stop) {
    closeRound();
    add("stop", event.round,
        fmt::format("The search stopped after {}, because {}. {}",
                    counted(std::size_t(event.round), "round", "rounds"), stop.inWords(),
                    incumbent_.empty() ? std::string("Nothing had been accepted.")
                                       : fmt::format("The incumbent was {} with {:.3f}x.",
                                                     nameOf(incumbent_), best_)))
        .evidence = event.evidence;
  }

  void say(const Event &event, const Compare &compare) {
    closeRound();
    add("compare", event.round,
        fmt::format("{} and {} could not be told apart by their times against the baseline, so "
                    "they were timed against each other: the first runs {:.3f}x [{:.3f}, {:.3f}] "
                    "as fast as the second, {}.",
                    nameOf(compare.candidate), nameOf(compare.other), compare.estimate, compare.low,
                    compare.high,
                    compare.low > 1 ? "so it goes before it"
                                    : "which does not show that it is faster"));
  }

  void say(const Event &, const Judged &) {}
  void say(const Event &, const Profiled &) {}

  void say(const Event &event, const TimedInProgram &timed) {
    add("note", event.round, oneLine(timed.inWords()));
  }

  void say(const Event &event, const Confirm &confirm) {
    closeRound();
    for (std::size_t i = 0; i < history_.trials.size(); ++i)
      if (history_.trials[i].candidateHash == confirm.candidate &&
          history_.trials[i].purpose == Purpose::Confirmation)
        seconds_ = story_.secondsAfter[i];
    add(confirm.held ? "confirm" : "reject", event.round,
        fmt::format("{} was judged again on fresh inputs and samples, and {}: {}.",
                    nameOf(confirm.candidate),
                    confirm.held ? "it held" : "it did not hold, so the next one was tried",
                    withoutStop(oneLine(confirm.reason))))
        .evidence = event.evidence;
  }

  /// Consecutive records of one kind become one explanation.
  void say(const Event &event, const Checked &checked) {
    closeRound();
    const char *kind = checked.shown ? "checked" : "unchecked";
    if (result_.empty() || result_.back().kind != kind)
      add(kind, event.round, checked.shown ? "This was checked:" : "This could not be checked:");
    result_.back().details.push_back(oneLine(checked.text));
  }

  void say(const Event &event, const Spent &spent) {
    static_cast<void>(spent);
    add("note", event.round, fmt::format("Time spent: {}.", describe(event)));
  }

  void say(const Event &event, const Note &note) {
    // The baseline's time was already reported.
    if (note.about != "baseline")
      add("note", event.round, oneLine(note.text));
  }

  /// For a round that accepted nothing, says how much was missing.
  void closeRound() {
    const Round *round = current();
    if (!round || roundClosed_)
      return;
    roundClosed_ = true;
    const Trial *best = nullptr;
    std::size_t bestIndex = 0;
    for (const std::size_t index : round->trials) {
      const Trial &trial = history_.trials[index];
      if (trial.verdict == Verdict::Faster && trial.speedup &&
          (!best || trial.speedup->low > best->speedup->low)) {
        best = &trial;
        bestIndex = index;
      }
    }
    // Where several asks are open, what is faster is accepted after others were begun.
    if (best && std::ranges::any_of(history_.events, [&](const Event &event) {
          const auto *accept = std::get_if<Accept>(&event.what);
          return accept && accept->candidate == best->candidateHash;
        }))
      return;
    if (!round->trials.empty() && round->offered && round->trials.size() == *round->offered)
      add("keep", round->number,
          best ? fmt::format("The incumbent stayed: the best of the round, {}, is at least {:.3f}x "
                             "as fast as the baseline, and {:.3f}x was needed.",
                             nameOfTrial(history_, bestIndex), best->speedup->low,
                             (incumbent_.empty() ? 1.0 : best_) * (1 + minGain()))
               : std::string("The incumbent stayed: none of the candidates was faster than the "
                             "baseline."));
  }

  double minGain() const {
    const auto found = config_.find("min_gain");
    return found != config_.end() && found->is_number() ? found->get<double>() : 0;
  }

  const Round *current() const { return round_ == 0 ? nullptr : &story_.rounds[round_ - 1]; }

  void program() {
    const SessionWin *win = history_.inProgram();
    if (!win)
      return;
    std::string text = fmt::format("In the program ('{}'): {}: {}.", history_.session->name,
                                   toString(win->state), withoutStop(oneLine(win->reason)));
    if (win->program)
      text += fmt::format(" In isolation it had {:.3f}x, in the program it has {:.3f}x [{:.3f}, "
                          "{:.3f}].",
                          win->isolated.estimate, win->program->speedup.estimate,
                          win->program->speedup.low, win->program->speedup.high);
    Explanation &entry = add("program", 0, std::move(text));
    if (win->program && !win->program->proof.empty())
      entry.details.push_back("that the patched kernel is the one that ran: " +
                              win->program->proof);
  }

  void end() {
    const RunRecord &run = history_.run;
    if (run.state == RunState::Failed)
      add("end", 0, fmt::format("The run failed: {}.", withoutStop(oneLine(run.stopText))));
    else if (run.state == RunState::Running)
      add("end", 0,
          "The run was interrupted, or still runs: the same command with --resume continues it.");
    else if (run.winnerHash.empty())
      add("end", 0, "No candidate won: there is nothing to apply.");
    else
      add("end", 0,
          fmt::format("The winner is {}.{}", nameOf(run.winnerHash),
                      run.finishedUtc.empty() ? "" : " The run ended at " + run.finishedUtc + "."));
  }

  const RunHistory &history_;
  const RunStory story_;
  const nlohmann::json config_, device_;
  std::vector<Explanation> result_;
  std::size_t round_ = 0; ///< index of the current round in the story, plus one
  bool roundClosed_ = false;
  int followed_ = 0; ///< rounds of proposers that take no turns
  double seconds_ = 0, best_ = 1;
  std::string incumbent_; ///< hash of the incumbent; empty: the baseline
  Diagnosis diagnosis_;
};

} // namespace

std::vector<Explanation> explainRun(const RunHistory &history) {
  return RunExplainer(history).explain();
}

std::string inText(const std::vector<Explanation> &explanations) {
  std::string text;
  for (const Explanation &entry : explanations) {
    text += fmt::format("[{}] {}\n", formatDuration(entry.seconds), entry.text);
    for (const std::string &detail : entry.details)
      text += "    - " + detail + "\n";
  }
  return text;
}

} // namespace kopt
