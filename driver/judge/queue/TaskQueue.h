// SPDX-License-Identifier: Apache-2.0
// Candidates on their way, and the lanes that judge them: devices of this machine, or workers.
#pragma once

#include "driver/model/Trial.h"
#include "driver/support/JobQueue.h"
#include "driver/support/Result.h"
#include "driver/support/TurnLock.h"

#include <deque>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

class TaskQueue {
public:
  struct Lane {
    std::string name;
    JobQueue *thread = nullptr; ///< null, of the only lane: the caller's
  };
  /// A candidate in progress. Only the holder of turn(), or the lane that took it, accesses it
  /// until its answer is set.
  struct Task {
    Candidate candidate;
    unsigned losses = 0;        ///< lanes that were lost while they judged it, and came back
    std::vector<Finding> notes; ///< what the trial says of lanes that were lost
    std::promise<Result<Trial>> answer;
  };
  using TaskPointer = std::shared_ptr<Task>;
  /// Functions that know the lanes, by index; both are called on the lane's thread.
  struct Calls {
    std::function<void(std::size_t)> work; ///< judges what next() gives until there is nothing left
    std::function<bool(std::size_t, const Error &)> isLoss; ///< whether the lane is lost for good
    std::function<void(const std::string &)> tell;          ///< reports to the user; may be empty
  };

  TaskQueue(std::vector<Lane> lanes, Calls calls);

  /// Drops candidates that have not begun and waits for the others. Call it before what the lanes
  /// use is gone.
  void drain();
  /// Guards the tasks, and what the owner likes. It is granted in order of arrival, so a lane that
  /// waits for a candidate gets the next one even if another lane returns quickly.
  TurnLock &turn() { return turn_; }

  bool hasThreads() const { return lanes_.front().thread != nullptr; }
  /// The first lane that is not lost.
  std::optional<std::size_t> first();
  bool isLost(std::size_t lane) const { return isLost_[lane]; }
  /// Calls `function` on the lane's thread, and waits.
  Status on(std::size_t lane, const std::function<Status()> &function);
  /// Calls `function` for the first lane; if that is lost, again for the next one.
  Status onFirst(const std::function<Status(std::size_t)> &function);
  /// Removes a lane. The others go on and take `task` (may be null) first; if none is left, all
  /// waiting candidates fail with `error`.
  void lose(std::size_t lane, const Error &error, const TaskPointer &task);

  /// Starts judging the candidates, unless the only lane is the caller's thread.
  void begin(const std::vector<Candidate> &candidates);
  bool isBegun(const Candidate &candidate) const {
    return begun_.contains(candidate.contentHash());
  }
  /// The trial of a candidate, which begins now unless it has.
  Result<Trial> wait(const Candidate &candidate);
  /// The next candidate for a lane, in the order of begin(); null if there is none. `accept`,
  /// called by the holder of turn(), may answer one that no lane has to judge, and returns false.
  TaskPointer next(std::size_t lane, const std::function<bool(Task &)> &accept = {});
  /// Has a candidate judged again, by the same lane or another; the trial says why.
  void again(const TaskPointer &task, const std::string &why);

private:
  TaskPointer add(const Candidate &candidate); ///< the caller holds turn_
  /// Tells the lanes that there may be work; the caller holds turn_, as for the next one.
  void wake();
  void putBack(const TaskPointer &task, const std::string &why);

  const std::vector<Lane> lanes_;
  const Calls calls_;
  std::map<std::string, TaskPointer> begun_; ///< by content hash; for one thread
  TurnLock turn_;                            ///< guards the members below
  std::vector<char> isLost_;                 ///< by lane
  std::optional<Error> ended_;               ///< set when no lane is left: why
  std::deque<TaskPointer> waiting_;
  bool isDraining_ = false; ///< nothing begins any more
};

} // namespace kopt
