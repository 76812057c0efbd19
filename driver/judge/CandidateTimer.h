// SPDX-License-Identifier: Apache-2.0
// Times versions of a kernel beside the baseline.
#pragma once

#include "driver/judge/JudgeBench.h"
#include "driver/judge/replays/Weighing.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace kopt {

class CandidateTimer {
public:
  /// `weighing` tells how far results may differ.
  CandidateTimer(JudgeBench &bench, Weighing &weighing) : bench_(bench), weighing_(weighing) {}

  /// Times a loaded version beside the baseline, and decides the trial by its times. If `processes`
  /// is more than one, each of them is a fresh one. Returns false if a launch did not end, or gave
  /// other results while it was timed; the trial then says so.
  Result<bool> time(const Built &built, const VerdictPolicy &policy, std::uint32_t processes,
                    Trial &trial);
  /// Times the baseline beside itself, chooses the launches that are timed with a warm cache, and
  /// gives the baseline's launches their shares of the time as weights. Fails with BaselineFailed.
  Status timeBaseline(Trial &trial);
  /// How many times as fast `one` is as `other`, both loaded, timed in alternation in one process.
  /// Nothing if either does not run.
  Result<std::optional<Speedup>> compare(const Built &one, const Built &other);
  /// Times launches with the cache modes that `other` chose.
  void timeAs(const CandidateTimer &other) { warm_ = other.warm_; }

  /// What a modelled device counted of the workload's heaviest launch while it timed the module
  /// last; null if it counted nothing, or timed another module.
  const Counters *counted(ModuleId module) const;
  /// As counted(): the costs of lines, of the module timed last.
  const std::vector<LineCost> *lines() const;

private:
  TimeOptions timeOptions(std::size_t index) const; ///< for launch `index` of the workload
  Result<bool> timeLaunch(const Built &built, std::size_t index, std::uint32_t process,
                          LaunchTiming &timing, Trial &trial);
  Result<std::optional<Failure>> outputsAgree(std::size_t index, const Launch &launch,
                                              const TimingOutcome &outcome, Trial &trial);
  void decide(const VerdictPolicy &policy, Trial &trial) const;
  Result<bool> chooseCacheModes(const Trial &cold);

  JudgeBench &bench_;
  Weighing &weighing_;
  std::set<std::size_t> warm_; ///< launches of the workload that are timed with a warm L2
  ModuleId timed_ = 0;         ///< the module timed last
  std::map<std::size_t, Counters> counters_;           ///< of it, by launch
  std::map<std::size_t, std::vector<LineCost>> lines_; ///< as counters_
  std::set<std::string> throttled_, otherLoad_;        ///< what disturbed the current timing
};

} // namespace kopt
