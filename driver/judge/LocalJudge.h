// SPDX-License-Identifier: Apache-2.0
// Judges candidates: screen, build, verify, time, profile; the cheapest check first, the first
// failure ends it. A candidate's failure is a verdict. An Error is kopt's, the machine's or the
// baseline's.
#pragma once

#include "driver/judge/CandidateBuilder.h"
#include "driver/judge/DeviceJudge.h"
#include "driver/judge/Judge.h"
#include "driver/support/TurnLock.h"

#include <deque>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace kopt {

/// Over one device, or several of one kind, which judge different candidates at a time: each
/// candidate is compared with the baseline on one of them, and what is decided does not depend on
/// which. Used from one thread.
class LocalJudge final : public Judge {
public:
  LocalJudge(JudgeServices services, Subject subject, JudgeOptions options);
  /// Drops what has not begun and waits for the rest.
  ~LocalJudge() override;
  LocalJudge(const LocalJudge &) = delete;
  LocalJudge &operator=(const LocalJudge &) = delete;

  /// Builds, runs, repeats, times and profiles the user's own kernel, and learns which buffers are
  /// pure outputs; on the first device, and then on the others what they need. Must succeed before
  /// anything else is judged. Fails with BaselineFailed, saying at which step and why.
  Result<Baseline> baseline() override;

  /// The candidates are screened and built on other threads meanwhile, and judged where there are
  /// several devices.
  void begin(const std::vector<Candidate> &candidates) override;

  /// Without a GPU's counters: see addCounters(). A device that is lost fails nothing while there
  /// is another one. A confirmation takes several fresh processes on the first device, at 99%.
  Result<Trial> judge(const Candidate &candidate, Purpose purpose) override;

  Result<std::optional<Speedup>> compare(const Candidate &candidate,
                                         const Candidate &other) override;

  /// On a GPU counters cost seconds, so only those trials get them whose counters someone reads
  /// next. Changes counters, source, findings, stages and seconds of the trial.
  Status addCounters(Trial &trial) override;

  /// Call it before begin() of what came after the trial.
  void remember(const Trial &trial) override;

  const Subject &subject() const { return subject_; }
  /// What the first device found of the workload, since it was asked.
  const AdequacyReport &adequacy() const { return lanes_.front()->judge->mutations(); }

private:
  /// A device with what it has learned.
  struct Lane {
    std::unique_ptr<DeviceJudge> judge;
    bool hasLearned = false;
    bool isLost = false; ///< guarded by turn_
  };
  /// A candidate on its way. Whose turn it is, or who has taken it, alone touches it, until its
  /// answer is there.
  struct Task {
    Candidate candidate;
    std::optional<Prepared> prepared; ///< once it was its turn
    std::vector<Finding> notes;       ///< devices that were lost with it
    std::promise<Result<Trial>> answer;
  };
  using TaskPointer = std::shared_ptr<Task>;

  /// Calls it on the device's own thread, and waits.
  Status on(Lane &lane, const std::function<Status()> &function);
  /// Calls it for the first device that is left, and again for the next where that one is lost
  /// meanwhile.
  Status onFirst(const std::function<Status(Lane &)> &function);
  Lane *first();
  /// On the device's thread: whether the error says that it is not used any more.
  static bool isLoss(const Lane &lane, const Error &error);
  /// The others go on, with `task` (or null) first; where there are none, all that waits has
  /// failed.
  void lose(Lane &lane, const Error &error, const TaskPointer &task);
  Status learnOthers(const Built &built, Trial &trial);

  TaskPointer add(const Candidate &candidate); ///< whoever has turn_
  void wake(); ///< the devices' threads: there may be something to do
  /// What a device does while there is something to do.
  void work(Lane &lane);
  /// The next candidate that has to run, in the order in which they were begun; those that need not
  /// are answered. Null: there is none for this device.
  TaskPointer next(const Lane &lane);
  /// A candidate that was judged, to be run once more.
  Prepared again(const Candidate &candidate);

  Result<Trial> evaluate(const Candidate &candidate);
  Result<Trial> confirm(const Candidate &candidate);
  void compileAhead(const Candidate &candidate);
  std::string codeKey(const std::string &moduleHash, const std::vector<Launch> &launches) const;
  bool isDuplicate(const std::vector<Launch> &launches, Trial &trial);

  JudgeServices services_;
  JudgeOptions options_;
  Subject subject_; ///< as the first device has learned it
  Built baseline_;
  CandidateBuilder builder_;
  std::vector<std::unique_ptr<Lane>> lanes_;

  std::map<std::string, TaskPointer> begun_; ///< by content hash
  std::map<std::string, Prepared>
      faster_;         ///< by content hash: for the confirmation and the counters
  double fastest_ = 1; ///< of their speedups

  /// Where the devices' threads meet: it guards what follows, and the builder. In turn: a device
  /// that waits for a candidate to be built gets the next one, though another be quick to come
  /// back.
  TurnLock turn_;
  std::optional<Error> ended_; ///< why no device is left
  std::deque<TaskPointer> waiting_;
  std::map<std::string, std::string> seenCode_; ///< code key -> title of the trial that had it
};

} // namespace kopt
