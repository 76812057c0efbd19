// SPDX-License-Identifier: Apache-2.0
// A judge that decides by the words in a candidate's title: "1.50x" is Faster by that much, "wrong"
// is a WrongResult, "split" is faster on one launch only, "lost" means that the device is lost.
// Confirmations give the same, but for "lucky", which is Same when it is judged again. Time passes
// on the given clock.
#pragma once

#include "driver/judge/Judge.h"
#include "fakes/FakeClock.h"

#include <cstdlib>
#include <utility>

namespace kopt::fakes {

class FakeJudge final : public Judge {
public:
  explicit FakeJudge(FakeClock &clock) : clock_(clock) {}

  static Trial baselineTrial() {
    Trial trial;
    trial.candidate.proposer = trial.candidate.title = "baseline";
    trial.candidateHash = trial.candidate.contentHash();
    trial.verdict = Verdict::Same;
    trial.counters = {{"base", 1}};
    return trial;
  }

  Result<Baseline> baseline() override { return Baseline{baselineTrial(), {}}; }
  void begin(const std::vector<Candidate> &candidates) override { begun += candidates.size(); }
  Result<Trial> judge(const Candidate &candidate, Purpose purpose, Stage = Stage::Time) override {
    const std::string &title = candidate.title;
    if (title.find("lost") != std::string::npos)
      return makeError(ErrorCode::Environment, "the GPU is lost", "reset it");
    judged.push_back((purpose == Purpose::Confirmation ? "confirm " : "") + title);
    clock_.advance(1 + std::exchange(building, 0));
    Trial trial;
    if (judged.size() == 1)
      trial.stages["wait"] = waited;
    trial.candidate = candidate;
    trial.candidateHash = candidate.contentHash();
    trial.reason = "judged";
    trial.seconds = seconds;
    trial.purpose = purpose;
    trial.assurance.gaps = {
        {CheckId::None, purpose == Purpose::Confirmation ? "confirmed" : "searched"}};
    if (title.find("split") != std::string::npos)
      trial.timings = {{"small", {0.5, 0.5, 0.5}, 0, 0, {}, {}},
                       {"large", {2, 2, 2}, 0, 0, {}, {}}};
    const double speedup = std::atof(title.c_str());
    const bool again = purpose == Purpose::Confirmation;
    if (title.find("wrong") != std::string::npos) {
      trial.verdict = Verdict::WrongResult;
    } else if (speedup > 1 && !(again && title.find("lucky") != std::string::npos)) {
      trial.verdict = Verdict::Faster;
      trial.speedup = Speedup{speedup, speedup - 0.02, speedup + 0.02, again ? 0.99 : 0.95, 40};
    } else {
      trial.verdict = Verdict::Same;
    }
    return trial;
  }
  /// By the figures in the titles; "flattered" means that a candidate is only half as fast as it
  /// seems.
  Result<std::optional<Speedup>> compare(const Candidate &candidate,
                                         const Candidate &other) override {
    judged.push_back(candidate.title + " against " + other.title);
    const auto speed = [](const std::string &title) {
      return std::atof(title.c_str()) / (title.find("flattered") != title.npos ? 2 : 1);
    };
    const double ratio = speed(candidate.title) / speed(other.title);
    return Speedup{ratio, ratio - 0.001, ratio + 0.001};
  }
  Status addCounters(Trial &trial) override {
    ++counted;
    trial.counters = {{"counted", 1}};
    return {};
  }
  void remember(const Trial &trial) override { remembered.push_back(trial.candidate.title); }

  std::vector<std::string> judged, remembered; ///< titles
  std::size_t begun = 0;
  int counted = 0;
  double seconds = 0;              ///< that a trial says it took
  double building = 0, waited = 0; ///< that the first trial takes longer, and says it waited

private:
  FakeClock &clock_;
};

} // namespace kopt::fakes
