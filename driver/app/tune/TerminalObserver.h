// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/app/trial/TrialText.h"
#include "driver/search/SearchLoop.h"
#include "driver/support/Terminal.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <string>

namespace kopt {

using VerdictCounts = std::map<Verdict, std::size_t>;

/// Shows the search on the terminal. What a status line begins with fits in 80 columns.
class TerminalObserver final : public SearchObserver {
public:
  /// `position` is the kernel's among others, "2/6 "; empty: it is the only one. `counts` receives
  /// the verdicts. `secondsLeft` gives the remaining time of the kernel; empty: no limit.
  TerminalObserver(Terminal &terminal, const std::string &position, const std::string &label,
                   VerdictCounts &counts, std::function<double()> secondsLeft)
      : terminal_(terminal), name_(position + shortened(label)), counts_(counts),
        secondsLeft_(std::move(secondsLeft)) {}

  void judging(const SearchHistory &, const Candidate &candidate) override {
    const std::size_t before = candidate.title.rfind(" + "); // what it keeps of its parent
    terminal_.status(fmt::format(
        "{}: best {:.2f}x{}: {}", name_, best_,
        secondsLeft_ ? fmt::format(", {:.0f} s left", std::max(0.0, secondsLeft_())) : "",
        candidate.title.substr(before == std::string::npos ? 0 : before + 3)));
  }
  void judged(const Trial &trial) override {
    const std::vector<std::string> &parents = trial.candidate.parents;
    const auto parent = parents.empty() ? speedups_.end() : speedups_.find(parents.front());
    const std::string beside =
        trial.speedup && parent != speedups_.end()
            ? fmt::format(" ({:.3f}x of its parent)", trial.speedup->estimate / parent->second)
            : "";
    terminal_.line(fmt::format(
        "{} {:<34} {}{}",
        terminal_.paint(styleOf(trial.verdict), fmt::format("{:<11}", toString(trial.verdict))),
        trial.candidate.title, trial.reason, beside));
    ++counts_[trial.verdict];
    if (trial.speedup)
      speedups_[trial.candidateHash] = trial.speedup->estimate;
    if (trial.verdict == Verdict::Faster)
      best_ = std::max(best_, trial.speedup->estimate);
  }
  void profiling(const Trial &trial) override {
    terminal_.status(fmt::format("{}: profiling {}", name_, trial.candidate.title));
  }
  void proposerFailed(const ProposerFailure &failure) override {
    terminal_.line(fmt::format("warning: proposer '{}' failed and {}: {}", failure.role,
                               failure.givenUp ? "is not asked again" : "loses its turn",
                               failure.error));
  }

private:
  static std::string shortened(const std::string &label) {
    constexpr std::size_t kMost = 24, kHalf = (kMost - 3) / 2;
    return label.size() <= kMost
               ? label
               : label.substr(0, kHalf) + "..." + label.substr(label.size() - kHalf);
  }

  Terminal &terminal_;
  std::string name_;
  VerdictCounts &counts_;
  std::function<double()> secondsLeft_;
  double best_ = 1;
  std::map<std::string, double> speedups_; ///< of judged candidates, by hash
};

} // namespace kopt
