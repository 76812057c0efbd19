// SPDX-License-Identifier: Apache-2.0
// Decides what happens next, by the events of the run alone: the same events give the same
// decisions. A new strategy needs one file in strategies/, its factory here, and one line in
// makeStrategy() (app/tune/Tune.cpp).
#pragma once

#include "driver/search/SearchHistory.h"

#include <memory>

namespace kopt {

/// Counters of a trial are wanted.
struct Profile {
  std::string candidate; ///< its hash
};

/// Candidates are to be judged, or answers to arrive, first.
struct Wait {};

/// What happens next, and why. The loop gives an Ask its id.
struct Decision {
  std::variant<Ask, Profile, Accept, Wait, Stop> what;
  std::vector<Evidence> evidence{};
};

class Strategy {
public:
  virtual ~Strategy() = default;
  /// Is told each event of the search, those of earlier sessions too, once it is in the history.
  virtual void observe(const Event &, const SearchHistory &) {}
  virtual Decision decide(const SearchHistory &history) const = 0;
};

/// True if `candidate` beats `incumbent` (both relative to the baseline): its interval must lie
/// above the incumbent's estimate by the fraction `minGain`.
bool improves(const Trial &candidate, const Trial &incumbent, double minGain);

/// What makes the trial the incumbent: its counters first, which rules and prompts read, unless
/// `profiled`, the candidate whose counters were read last, is this one.
Decision acceptance(const Trial &trial, const std::string &profiled);

/// How a search ends in which none of these has anything left to offer.
Stop nothingLeft(const std::vector<std::string> &proposers, const SearchHistory &history);

/// Why a follower, who puts conditions around candidates, may have something to offer: trials that
/// were faster on some launches only, or wrong on some. `weights`: of the workload's launches.
std::vector<Evidence> reasonsToFollow(const SearchHistory &history,
                                      const std::vector<double> &weights, Objective objective);

struct TurnSettings {
  std::size_t batch = 6;
  std::vector<std::string> proposers;    ///< that take turns, in the user's order
  std::vector<std::string> followers{};  ///< that are asked when new trials give a reason
  std::vector<double> weights{};         ///< of the workload's launches
  Objective objective = Objective::Mean; ///< of the workload
  double minGain = 0.01;                 ///< smallest gain that counts, as a fraction
  int rounds = 0;                        ///< most rounds; 0: no limit
  int patience = 0; ///< most rounds in a row without a better incumbent; 0: no limit
};

/// Proposers take turns on the incumbent, with `batch` candidates in each round; the best of a
/// round that improves on the incumbent is profiled and accepted. A proposer that has failed, or
/// has nothing left for this incumbent, is skipped; the search ends when none is left. A follower
/// is asked first where a trial was faster on some launches only, once for each incumbent and each
/// round of the others.
std::unique_ptr<Strategy> makeTurnStrategy(TurnSettings settings);

struct SurveySettings {
  std::vector<std::string> proposers; ///< that tell what they have left
  std::uint64_t seed = 1;
  std::size_t parents = 10; ///< beside the baseline: the fastest right trials
  std::size_t open = 6;     ///< candidates on their way at a time
};

/// Draws at random what to try on what: one of the parents, the baseline as often as three of the
/// others, then one of the techniques that are left for it. For recordings on which strategies are
/// compared. A parent is profiled before it is asked about.
std::unique_ptr<Strategy> makeSurveyStrategy(const SurveySettings &settings);

} // namespace kopt
