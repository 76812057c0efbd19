// SPDX-License-Identifier: Apache-2.0
// Judges by what was measured before, in the time that it took then: searches run unchanged, in
// milliseconds.
#pragma once

#include "driver/judge/Judge.h"
#include "driver/judge/Statistics.h"
#include "driver/judge/recorded/RecordedSpace.h"
#include "driver/support/Clock.h"

namespace kopt {

/// Moves only where somebody spends time on it.
class SimulatedClock final : public Clock {
public:
  std::chrono::steady_clock::time_point now() const override { return now_; }
  void sleep(Duration seconds) override {
    now_ += std::chrono::duration_cast<std::chrono::steady_clock::duration>(seconds);
  }
  std::string utc() const override { return "1970-01-01T00:00:00Z"; }

private:
  std::chrono::steady_clock::time_point now_;
};

class RecordedSpaceJudge final : public Judge {
public:
  /// `baseline`: the values of the version that others are compared with; a point that ran. The
  /// space must outlive the judge.
  RecordedSpaceJudge(const RecordedSpace &space, std::vector<std::int64_t> baseline,
                     const VerdictPolicy &policy, SimulatedClock &clock);

  /// One launch; its bindings are the baseline's values.
  Result<Baseline> baseline() override;
  /// A point that was not measured is Rejected. A confirmation has the samples of the search.
  Result<Trial> judge(const Candidate &candidate, Purpose purpose,
                      Stage upTo = Stage::Time) override;
  Result<std::optional<Speedup>> compare(const Candidate &candidate,
                                         const Candidate &other) override;
  Status addCounters(Trial &) override { return {}; } // none were recorded

  /// The values of a candidate's constants, and the baseline's where it has none.
  std::vector<std::int64_t> valuesOf(const Candidate &candidate) const;

private:
  const RecordedPoint *find(const Candidate &candidate) const; ///< null: it was not measured
  Speedup speedupOver(const RecordedPoint &slower, const RecordedPoint &point,
                      LaunchTiming &timing) const;

  const RecordedSpace &space_;
  std::vector<std::int64_t> baseline_;
  VerdictPolicy policy_;
  SimulatedClock &clock_;
};

} // namespace kopt
