// SPDX-License-Identifier: Apache-2.0
// Decides what happens next from records alone, so that a resumed run decides the same again.
#pragma once

#include "driver/model/Trial.h"

#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// When a search ends, whatever the strategy thinks. Unset or 0: no limit.
struct Budget {
  int rounds = 0;
  int trials = 0;
  double seconds = 0;           ///< wall time of the run, earlier interrupted parts not counted
  int patience = 0;             ///< rounds in a row without a better incumbent
  std::optional<double> target; ///< speedup whose lower bound ends the search
};

/// What the strategy reads.
struct SearchState {
  int round = 0; ///< rounds finished
  int roundsSinceGain = 0;
  std::vector<std::string> proposers; ///< in the user's order
  std::vector<bool> exhausted;        ///< per proposer: offered nothing for the present incumbent
  const std::vector<Trial> *history = nullptr;
  const Trial *incumbent = nullptr; ///< the baseline's trial until something is accepted
};

struct SearchStep {
  bool stop = false;
  std::string reason; ///< why it stops, or why this proposer
  std::size_t proposer = 0;
  std::size_t limit = 0; ///< candidates wanted
};

class Strategy {
public:
  virtual ~Strategy() = default;
  virtual SearchStep next(const SearchState &state) = 0;
};

/// Proposers take turns on the incumbent, `batch` candidates a round; one that has nothing left for
/// this incumbent is passed over; it ends when none has.
class TurnStrategy : public Strategy {
public:
  explicit TurnStrategy(std::size_t batch) : batch_(batch) {}
  SearchStep next(const SearchState &state) override;

private:
  std::size_t batch_;
};

/// True where `candidate` beats `incumbent` (both relative to the baseline): its interval must lie
/// above the incumbent's estimate by the smallest gain worth having.
bool improves(const Trial &candidate, const Trial &incumbent, double minGain);

/// The reason to stop, if a limit is reached.
std::optional<std::string> budgetReached(const Budget &budget, const SearchState &state,
                                         double elapsedSeconds);

} // namespace kopt
