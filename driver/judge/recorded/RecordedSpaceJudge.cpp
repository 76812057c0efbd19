// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/recorded/RecordedSpaceJudge.h"

#include <fmt/format.h>
#include <utility>

namespace kopt {

RecordedSpaceJudge::RecordedSpaceJudge(const RecordedSpace &space,
                                       std::vector<std::int64_t> baseline,
                                       const VerdictPolicy &policy, SimulatedClock &clock)
    : space_(space), baseline_(std::move(baseline)), policy_(policy), clock_(clock) {}

std::vector<std::int64_t> RecordedSpaceJudge::valuesOf(const Candidate &candidate) const {
  std::vector<std::int64_t> values = baseline_;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (const auto own = candidate.constants.find(space_.declaration.params[i].name);
        own != candidate.constants.end())
      values[i] = own->second;
  return values;
}

const RecordedPoint *RecordedSpaceJudge::find(const Candidate &candidate) const {
  const auto found = space_.points.find(valuesOf(candidate));
  return found == space_.points.end() ? nullptr : &found->second;
}

/// The samples of the two were not taken in turns: they are paired in their order.
Speedup RecordedSpaceJudge::speedupOver(const RecordedPoint &slower, const RecordedPoint &point,
                                        LaunchTiming &timing) const {
  for (std::size_t i = 0; i < point.seconds.size(); ++i)
    timing.samples.push_back({slower.seconds[i % slower.seconds.size()], point.seconds[i]});
  timing.baselineSeconds = median(slower.seconds);
  timing.candidateSeconds = median(point.seconds);
  // A mean alone has no interval.
  timing.speedup = pairedSpeedup(timing.samples, policy_.confidence, point.seconds.size() == 1);
  return timing.speedup;
}

Result<Baseline> RecordedSpaceJudge::baseline() {
  Candidate original;
  original.proposer = original.title = "baseline";
  KOPT_TRY(Trial trial, judge(original, Purpose::Search));
  trial.verdict = Verdict::Same;
  Launch launch;
  launch.name = "recorded";
  for (std::size_t i = 0; i < baseline_.size(); ++i)
    launch.bindings[space_.declaration.params[i].name] = baseline_[i];
  Workload workload;
  workload.launches = {std::move(launch)};
  return Baseline{std::move(trial), std::move(workload)};
}

Result<Trial> RecordedSpaceJudge::judge(const Candidate &candidate, Purpose purpose, Stage) {
  Trial trial;
  trial.candidate = candidate;
  trial.candidateHash = candidate.contentHash();
  trial.purpose = purpose;
  const RecordedPoint *const point = find(candidate);
  if (!point) {
    trial.verdict = Verdict::Rejected;
    trial.reason = "it was not measured";
    return trial;
  }
  trial.seconds = point->cost;
  clock_.sleep(Duration(point->cost));
  if (point->seconds.empty()) {
    trial.verdict = point->failure;
    trial.reason = "it failed when it was measured";
    return trial;
  }
  trial.stage = Stage::Time;
  LaunchTiming timing;
  timing.launch = "recorded";
  trial.speedup = speedupOver(space_.points.at(baseline_), *point, timing);
  trial.timings = {std::move(timing)};
  const TimingDecision decision = decideVerdict(*trial.speedup, trial.timings, policy_);
  trial.verdict = decision.verdict;
  trial.reason = decision.reason;
  return trial;
}

Result<std::optional<Speedup>> RecordedSpaceJudge::compare(const Candidate &candidate,
                                                           const Candidate &other) {
  const RecordedPoint *const one = find(candidate), *const two = find(other);
  if (!one || !two || one->seconds.empty() || two->seconds.empty())
    return std::nullopt;
  LaunchTiming timing;
  return speedupOver(*two, *one, timing);
}

} // namespace kopt
