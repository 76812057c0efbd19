// SPDX-License-Identifier: Apache-2.0
// Judges candidates on this machine's devices: screens, builds, verifies, times and profiles them.
// The cheapest check runs first, and the first failure ends the trial. A candidate's failure is a
// verdict. An Error is kopt's, the machine's or the baseline's fault.
#pragma once

#include "driver/judge/CandidateBuilder.h"
#include "driver/judge/DeviceJudge.h"
#include "driver/judge/Judge.h"
#include "driver/judge/SeenCode.h"
#include "driver/judge/queue/TaskQueue.h"

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace kopt {

/// Uses one device, or several of one kind that judge different candidates at the same time. Each
/// candidate is compared with the baseline on one device; the decision does not depend on which.
/// Used from one thread.
class LocalJudge final : public Judge {
public:
  LocalJudge(JudgeServices services, Subject subject, JudgeOptions options);
  /// Drops candidates that have not begun and waits for the others.
  ~LocalJudge() override;
  LocalJudge(const LocalJudge &) = delete;
  LocalJudge &operator=(const LocalJudge &) = delete;

  /// Builds, runs, repeats, times and profiles the user's own kernel, and learns which buffers are
  /// pure outputs; all of it on the first device, and only what is needed on the others. Must
  /// succeed before anything is judged. Fails with BaselineFailed, saying at which step and why.
  Result<Baseline> baseline() override;

  /// Starts screening and building the candidates on other threads. Devices with their own threads
  /// also start judging them.
  void begin(const std::vector<Candidate> &candidates) override;

  /// Takes no counters on a GPU: see addCounters(). A lost device causes no failure while another
  /// one is left. A confirmation times the candidate in several fresh processes on the first
  /// device, at 99% confidence.
  Result<Trial> judge(const Candidate &candidate, Purpose purpose,
                      Stage upTo = Stage::Time) override;

  Result<std::optional<Speedup>> compare(const Candidate &candidate,
                                         const Candidate &other) override;

  /// On a GPU counters take seconds, so only trials whose counters are needed next get them.
  /// Changes counters, source, findings, stages and seconds of the trial.
  Status addCounters(Trial &trial) override;

  /// Call it before begin() of the candidates that came after the trial.
  void remember(const Trial &trial) override;

  /// Which wrong versions of the kernel the workload notices, according to the first device; empty
  /// until they have been tried.
  const AdequacyReport &adequacy() const { return lanes_.front()->judge->mutations(); }

private:
  /// A device and its judge.
  struct Lane {
    std::unique_ptr<DeviceJudge> judge;
    bool hasLearned = false;
  };

  bool isLoss(std::size_t lane, const Error &error) const;
  /// TaskQueue::onFirst() with the lane.
  Status onFirst(const std::function<Status(Lane &)> &function);
  Status learnOthers(const Built &built, Trial &trial);

  /// Judges candidates on a device until there are none left.
  void work(std::size_t lane);
  /// Prepares the candidate; false if it need not run, and is answered.
  bool prepare(TaskQueue::Task &task);
  /// Prepares a candidate that was judged before to run once more.
  Result<Prepared> again(const Candidate &candidate);

  Result<Trial> evaluate(const Candidate &candidate);
  /// A trial that ends after `upTo`.
  Result<Trial> look(const Candidate &candidate, Purpose purpose, Stage upTo);
  Result<Trial> confirm(const Candidate &candidate);
  void compileAhead(const RenderedCandidate &candidate);

  JudgeServices services_;
  JudgeOptions options_;
  const Subject subject_;
  Built baseline_; ///< as measured on the first device
  CandidateBuilder builder_;
  std::vector<std::unique_ptr<Lane>> lanes_;

  std::map<std::string, Prepared> faster_; ///< by content hash; for confirmations and counters
  std::atomic<double> fastest_ = 1;        ///< the greatest speedup so far
  TaskQueue queue_;                        ///< its turn() guards the members below, and the builder
  std::map<std::string, Prepared> prepared_; ///< by content hash: those on their way
  SeenCode seenCode_;
};

} // namespace kopt
