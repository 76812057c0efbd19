// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/search/SearchLoop.h"
#include "driver/support/Terminal.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
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
        "{}: round {}, trial {}{}: {}", label_, history.round, history.trials.size(),
        secondsLeft_ ? fmt::format(", {:.0f} s left", std::max(0.0, secondsLeft_())) : "",
        candidate.title));
  }
  void judged(const Trial &trial) override {
    terminal_.line(fmt::format("{:<11} {:<34} {}", toString(trial.verdict), trial.candidate.title,
                               trial.reason));
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
};

} // namespace kopt
