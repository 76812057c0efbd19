// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/remote/RemoteJudge.h"

#include "driver/device/worker/Protocol.h"

#include <cmath>
#include <fmt/format.h>

namespace kopt {

namespace protocol = worker_protocol;

namespace {

std::string newId() {
  static std::atomic<unsigned> made = 0;
  return fmt::format("judge-{}", ++made);
}

/// What other workers have to know of a trial.
nlohmann::json inShort(const Trial &trial) {
  Trial known;
  known.candidate = trial.candidate;
  known.candidateHash = trial.candidateHash;
  known.moduleHash = trial.moduleHash;
  known.verdict = trial.verdict;
  known.speedup = trial.speedup;
  return toJson(known);
}

/// The trial as it was before it ran.
Trial asBuilt(const Trial &trial) {
  Trial built;
  built.candidate = trial.candidate;
  built.candidateHash = trial.candidateHash;
  built.purpose = trial.purpose;
  built.stage = Stage::Build;
  built.sliceText = trial.sliceText;
  built.buildLog = trial.buildLog;
  built.moduleHash = trial.moduleHash;
  built.seconds = trial.seconds;
  return built;
}

Trial refusedAfter(const Candidate &candidate, unsigned losses, const Error &error) {
  Trial trial;
  trial.candidate = candidate;
  trial.candidateHash = candidate.contentHash();
  trial.stage = Stage::Verify;
  trial.verdict = Verdict::RunFailed;
  trial.reason =
      fmt::format("{} workers were lost while they judged it; the last: {}", losses, error.what);
  return trial;
}

} // namespace

RemoteJudge::RemoteJudge(std::vector<Worker *> workers, JudgeTask task,
                         std::function<double()> secondsLeft, WorkerLink::Tell tell)
    : task_(std::move(task)), id_(newId()), secondsLeft_(std::move(secondsLeft)),
      tell_(std::move(tell)) {
  for (Worker *worker : workers) {
    lanes_.push_back(std::make_unique<Lane>());
    lanes_.back()->worker = worker;
  }
}

RemoteJudge::~RemoteJudge() {
  {
    const std::lock_guard turn(turn_);
    waiting_.clear();
  }
  for (const auto &lane : lanes_)
    lane->worker->thread().runAndWait([&] {
      WorkerLink *const link = lane->worker->running();
      if (link && lane->opened == lane->worker->starts())
        static_cast<void>(link->ask(protocol::kClose, {{"judge", id_}}));
    });
}

// A worker

Result<BaselineReply> RemoteJudge::open(Lane &lane, WorkerLink &link) {
  KOPT_CHECK(link.give(task_.files));
  KOPT_CHECK(link.ask(protocol::kOpen, {{"judge", id_}, {"task", toJson(task_)}}));
  KOPT_TRY(auto measured, link.askFor<BaselineReply>(protocol::kBaseline, {{"judge", id_}}));
  lane.opened = lane.worker->starts();
  lane.remembered = 0;
  return measured;
}

/// As open(), as often as the worker is lost and can be started anew.
Result<BaselineReply> RemoteJudge::openedAnew(Lane &lane) {
  for (;;) {
    KOPT_TRY(WorkerLink *const link, lane.worker->link());
    auto measured = open(lane, *link);
    if (measured || !link->isLost())
      return measured;
  }
}

Result<WorkerLink *> RemoteJudge::ready(Lane &lane) {
  for (;;) {
    KOPT_TRY(WorkerLink *const link, lane.worker->link());
    if (lane.opened != lane.worker->starts()) {
      KOPT_CHECK(openedAnew(lane));
      continue;
    }
    nlohmann::json trials = nlohmann::json::array();
    {
      const std::lock_guard turn(turn_);
      for (; lane.remembered < memory_.size(); ++lane.remembered)
        trials.push_back(memory_[lane.remembered]);
    }
    if (trials.empty())
      return link;
    const auto heard = link->ask(protocol::kRemember, {{"judge", id_}, {"trials", trials}});
    if (heard)
      return link;
    if (!link->isLost())
      return tl::unexpected(heard.error());
  }
}

Result<nlohmann::json> RemoteJudge::ask(Lane &lane, const char *method,
                                        const nlohmann::json &params) {
  for (;;) {
    KOPT_TRY(WorkerLink *const link, ready(lane));
    auto answer = link->ask(method, params);
    if (answer || !link->isLost())
      return answer;
  }
}

RemoteJudge::Lane *RemoteJudge::first() {
  const std::lock_guard turn(turn_);
  for (const auto &lane : lanes_)
    if (!lane->isLost)
      return lane.get();
  return nullptr;
}

Result<nlohmann::json> RemoteJudge::askFirst(const char *method, const nlohmann::json &params) {
  while (Lane *const lane = first()) {
    Result<nlohmann::json> answer;
    lane->worker->thread().runAndWait([&] {
      answer = ask(*lane, method, params);
      if (!answer && lane->worker->isGone())
        lose(*lane, answer.error());
    });
    if (answer || !lane->worker->isGone())
      return answer;
  }
  return tl::unexpected(*ended_);
}

void RemoteJudge::lose(Lane &lane, const Error &error) {
  std::size_t left = 0;
  {
    const std::lock_guard turn(turn_);
    lane.isLost = true;
    for (const auto &other : lanes_)
      left += !other->isLost;
    if (left == 0) {
      ended_ = error;
      for (const TaskPointer &waiting : waiting_)
        waiting->answer.set_value(tl::unexpected(error));
      waiting_.clear();
    }
  }
  if (left > 0)
    tell_(fmt::format("{} judges no more, {} left: {}", lane.worker->name(), left, error.what));
}

// The kernel as it is

Result<Baseline> RemoteJudge::baseline() {
  Result<BaselineReply> measured = BaselineReply();
  while (Lane *const lane = first()) {
    lane->worker->thread().runAndWait([&] {
      measured = openedAnew(*lane);
      if (!measured && lane->worker->isGone())
        lose(*lane, measured.error());
    });
    if (measured || !lane->worker->isGone())
      break;
  }
  if (!measured)
    return tl::unexpected(measured.error());
  launches_ = measured->workload.launches;
  for (const Launch &launch : launches_)
    task_.options.weights.push_back(launch.weight);
  seenCode_.add(measured->trial, launches_);
  return Baseline{std::move(measured->trial), std::move(measured->workload)};
}

// Candidates

nlohmann::json RemoteJudge::requestOf(const Candidate &candidate, Purpose purpose,
                                      Stage upTo) const {
  JudgeRequest request{candidate, purpose, upTo, {}};
  if (secondsLeft_ && std::isfinite(secondsLeft_()))
    request.secondsLeft = secondsLeft_();
  return {{"judge", id_}, {"request", toJson(request)}};
}

void RemoteJudge::begin(const std::vector<Candidate> &candidates) {
  const std::lock_guard turn(turn_);
  for (const Candidate &candidate : candidates)
    if (!begun_.contains(candidate.contentHash()))
      add(candidate);
  wake();
}

void RemoteJudge::wake() {
  for (const auto &lane : lanes_)
    lane->worker->thread().add([this, lane = lane.get()] { work(*lane); });
}

RemoteJudge::TaskPointer RemoteJudge::add(const Candidate &candidate) {
  const auto task = std::make_shared<Task>();
  task->candidate = candidate;
  begun_[candidate.contentHash()] = task;
  if (ended_)
    task->answer.set_value(tl::unexpected(*ended_));
  else
    waiting_.push_back(task);
  return task;
}

RemoteJudge::TaskPointer RemoteJudge::next(const Lane &lane) {
  const std::lock_guard turn(turn_);
  if (waiting_.empty() || lane.isLost)
    return nullptr;
  TaskPointer task = waiting_.front();
  waiting_.pop_front();
  return task;
}

void RemoteJudge::putBack(const TaskPointer &task, const Lane &lane, const Error &error) {
  const std::lock_guard turn(turn_);
  if (!lane.isLost)
    ++task->losses;
  if (task->losses > lane.worker->restarts())
    task->answer.set_value(refusedAfter(task->candidate, task->losses, error));
  else if (ended_)
    task->answer.set_value(tl::unexpected(*ended_));
  else {
    task->notes.push_back(
        {"incident", Severity::Note,
         fmt::format("judged again, as {} was lost: {}", lane.worker->name(), error.what), ""});
    waiting_.push_front(task);
  }
  wake();
}

void RemoteJudge::work(Lane &lane) {
  while (const TaskPointer task = next(lane)) {
    const auto link = ready(lane);
    if (!link) { // nothing of it is the candidate's
      lose(lane, link.error());
      return putBack(task, lane, link.error());
    }
    const auto answer =
        (*link)->ask(protocol::kJudge, requestOf(task->candidate, Purpose::Search, Stage::Time));
    if (!answer && (*link)->isLost()) {
      putBack(task, lane, answer.error());
      continue;
    }
    auto trial = answer ? fromJson<Trial>(*answer) : tl::unexpected(answer.error());
    if (trial)
      trial->findings.insert(trial->findings.end(), task->notes.begin(), task->notes.end());
    task->answer.set_value(std::move(trial));
  }
}

Result<Trial> RemoteJudge::judge(const Candidate &candidate, Purpose purpose, Stage upTo) {
  if (purpose == Purpose::Search && upTo >= Stage::Time)
    return evaluate(candidate);
  KOPT_TRY(const auto answer, askFirst(protocol::kJudge, requestOf(candidate, purpose, upTo)));
  return fromJson<Trial>(answer);
}

Result<Trial> RemoteJudge::evaluate(const Candidate &candidate) {
  const std::string hash = candidate.contentHash();
  TaskPointer task;
  if (const auto begun = begun_.find(hash); begun != begun_.end()) {
    task = begun->second;
  } else {
    const std::lock_guard turn(turn_);
    task = add(candidate);
    wake();
  }
  Result<Trial> trial = task->answer.get_future().get();
  begun_.erase(hash);
  if (!trial || trial->moduleHash.empty())
    return trial;
  // A worker knows what was decided before it began, not what others judge beside it.
  if (trial->stage > Stage::Build || trial->verdict == Verdict::Duplicate)
    if (const auto launches = launchesOf(candidate, task_.kernel, launches_)) {
      Trial built = asBuilt(*trial);
      if (seenCode_.isDuplicate(built, *launches))
        trial = std::move(built);
    }
  const std::lock_guard turn(turn_);
  memory_.push_back(inShort(*trial));
  return trial;
}

Result<std::optional<Speedup>> RemoteJudge::compare(const Candidate &candidate,
                                                    const Candidate &other) {
  KOPT_TRY(const auto answer,
           askFirst(protocol::kCompare,
                    {{"judge", id_}, {"request", toJson(CompareRequest{candidate, other})}}));
  KOPT_TRY(const auto reply, fromJson<CompareReply>(answer));
  return reply.speedup;
}

Status RemoteJudge::addCounters(Trial &trial) {
  if (!trial.counters.empty() || trial.timings.empty())
    return {};
  KOPT_TRY(const auto answer,
           askFirst(protocol::kCounters, {{"judge", id_}, {"trial", toJson(trial)}}));
  KOPT_TRY(trial, fromJson<Trial>(answer));
  return {};
}

void RemoteJudge::remember(const Trial &trial) {
  seenCode_.remember(trial, task_.kernel, launches_);
  const std::lock_guard turn(turn_);
  memory_.push_back(inShort(trial));
}

} // namespace kopt
