// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/search/SearchLoop.h"
#include "driver/support/Terminal.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <string>

namespace kopt {

/// Shows the search on the terminal.
class TerminalObserver final : public SearchObserver {
public:
  /// `secondsLeft` gives the remaining time of the kernel; empty: no limit.
  TerminalObserver(Terminal &terminal, const std::string &label,
                   std::function<double()> secondsLeft)
      : terminal_(terminal), label_(label), secondsLeft_(std::move(secondsLeft)) {}

  void judging(const SearchHistory &history, const Candidate &candidate) override {
    terminal_.status(fmt::format(
        "{}: round {}, trial {}{}: {}", label_, history.round + 1, history.trials.size(),
        secondsLeft_ ? fmt::format(", {:.0f} s left", std::max(0.0, secondsLeft_())) : "",
        candidate.title));
  }
  void judged(const Trial &trial) override {
    const std::vector<std::string> &parents = trial.candidate.parents;
    const auto parent = parents.empty() ? speedups_.end() : speedups_.find(parents.front());
    const std::string beside =
        trial.speedup && parent != speedups_.end()
            ? fmt::format(" ({:.3f}x of its parent)", trial.speedup->estimate / parent->second)
            : "";
    terminal_.line(fmt::format("{:<11} {:<34} {}{}", toString(trial.verdict), trial.candidate.title,
                               trial.reason, beside));
    if (trial.speedup)
      speedups_[trial.candidateHash] = trial.speedup->estimate;
  }
  void profiling(const Trial &trial) override {
    terminal_.status(fmt::format("{}: profiling {}", label_, trial.candidate.title));
  }
  void proposerFailed(const ProposerFailure &failure) override {
    terminal_.line(fmt::format("warning: proposer '{}' failed and {}: {}", failure.role,
                               failure.givenUp ? "is not asked again" : "loses its turn",
                               failure.error));
  }

private:
  Terminal &terminal_;
  std::string label_;
  std::function<double()> secondsLeft_;
  std::map<std::string, double> speedups_; ///< of judged candidates, by hash
};

} // namespace kopt
