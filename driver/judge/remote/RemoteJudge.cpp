// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/remote/RemoteJudge.h"

#include "driver/device/worker/Protocol.h"

#include <algorithm>
#include <atomic>
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

std::vector<TaskQueue::Lane> lanesOf(const std::vector<Worker *> &workers) {
  std::vector<TaskQueue::Lane> lanes;
  for (Worker *worker : workers)
    lanes.push_back({worker->name(), &worker->thread()});
  return lanes;
}

} // namespace

RemoteJudge::RemoteJudge(std::vector<Worker *> workers, JudgeTask task,
                         std::function<double()> secondsLeft, WorkerLink::Tell tell)
    : task_(std::move(task)), id_(newId()), secondsLeft_(std::move(secondsLeft)),
      queue_(lanesOf(workers),
             {[this](std::size_t lane) { work(lane); },
              [this](std::size_t lane, const Error &) { return lanes_[lane].worker->isGone(); },
              std::move(tell)}) {
  for (Worker *worker : workers)
    lanes_.push_back({worker});
}

RemoteJudge::~RemoteJudge() {
  for (const Lane &lane : lanes_)
    lane.worker->giveUpStarting(true);
  queue_.drain();
  for (const Lane &lane : lanes_)
    lane.worker->giveUpStarting(false);
  for (const Lane &lane : lanes_)
    lane.worker->thread().runAndWait([&] {
      WorkerLink *const link = lane.worker->running();
      if (link && lane.opened == lane.worker->starts())
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

Status RemoteJudge::bring(Lane &lane, WorkerLink &link) {
  if (lane.opened != lane.worker->starts())
    KOPT_CHECK(open(lane, link));
  nlohmann::json trials = nlohmann::json::array();
  {
    const std::lock_guard turn(queue_.turn());
    for (; lane.remembered < memory_.size(); ++lane.remembered)
      trials.push_back(memory_[lane.remembered]);
  }
  if (!trials.empty())
    KOPT_CHECK(link.ask(protocol::kRemember, {{"judge", id_}, {"trials", trials}}));
  return {};
}

Result<nlohmann::json> RemoteJudge::askFirst(const char *method, const nlohmann::json &params) {
  nlohmann::json answer;
  KOPT_CHECK(queue_.onFirst([&](std::size_t lane) -> Status {
    KOPT_TRY(answer, lanes_[lane].worker->ask([&](WorkerLink &link) -> Result<nlohmann::json> {
      KOPT_CHECK(bring(lanes_[lane], link));
      return link.ask(method, params);
    }));
    return {};
  }));
  return answer;
}

// The kernel as it is

Result<Baseline> RemoteJudge::baseline() {
  BaselineReply measured;
  KOPT_CHECK(queue_.onFirst([&](std::size_t lane) -> Status {
    KOPT_TRY(measured,
             lanes_[lane].worker->ask([&](WorkerLink &link) { return open(lanes_[lane], link); }));
    return {};
  }));
  launches_ = measured.workload.launches;
  for (const Launch &launch : launches_)
    task_.options.weights.push_back(launch.weight);
  seenCode_.add(measured.trial, launches_);
  return Baseline{std::move(measured.trial), std::move(measured.workload)};
}

// Candidates

nlohmann::json RemoteJudge::requestOf(const Candidate &candidate, Purpose purpose,
                                      Stage upTo) const {
  JudgeRequest request{candidate, purpose, upTo, {}};
  if (secondsLeft_ && std::isfinite(secondsLeft_()))
    request.secondsLeft = secondsLeft_();
  return {{"judge", id_}, {"request", toJson(request)}};
}

void RemoteJudge::begin(const std::vector<Candidate> &candidates) { queue_.begin(candidates); }

void RemoteJudge::work(std::size_t lane) {
  Worker &worker = *lanes_[lane].worker;
  while (const auto task = queue_.next(lane)) {
    const auto link = worker.ask([&](WorkerLink &own) -> Result<WorkerLink *> {
      KOPT_CHECK(bring(lanes_[lane], own));
      return &own;
    });
    if (!link) // nothing of it is the candidate's
      return queue_.lose(lane, link.error(), task);
    const auto answer =
        (*link)->ask(protocol::kJudge, requestOf(task->candidate, Purpose::Search, Stage::Time));
    if (!answer && (*link)->isLost()) {
      // Earlier than a worker can be started no more: the others are still judged by it.
      if (++task->losses >= std::max(2u, worker.restarts()))
        task->answer.set_value(refusedAfter(task->candidate, task->losses, answer.error()));
      else
        queue_.again(task, fmt::format("{} was lost: {}", worker.name(), answer.error().what));
      continue;
    }
    task->answer.set_value(answer ? fromJson<Trial>(*answer) : tl::unexpected(answer.error()));
  }
}

Result<Trial> RemoteJudge::judge(const Candidate &candidate, Purpose purpose, Stage upTo) {
  if (purpose != Purpose::Search || upTo < Stage::Time) {
    KOPT_TRY(const auto answer, askFirst(protocol::kJudge, requestOf(candidate, purpose, upTo)));
    return fromJson<Trial>(answer);
  }
  Result<Trial> trial = queue_.wait(candidate);
  if (!trial || trial->moduleHash.empty())
    return trial;
  // A worker knows what was decided before it began, not what others judge beside it.
  if (trial->stage > Stage::Build || trial->verdict == Verdict::Duplicate)
    if (const auto launches = launchesOf(candidate, task_.kernel, launches_)) {
      Trial built = asBuilt(*trial);
      if (seenCode_.isDuplicate(built, *launches))
        trial = std::move(built);
    }
  const std::lock_guard turn(queue_.turn());
  memory_.push_back(inShort(*trial));
  return trial;
}

Result<std::optional<Speedup>> RemoteJudge::compare(const Candidate &candidate,
                                                    const Candidate &other) {
  KOPT_TRY(const auto answer,
           askFirst(protocol::kCompare,
                    {{"judge", id_}, {"request", toJson(CompareRequest{candidate, other})}}));
  return fromJson<std::optional<Speedup>>(answer);
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
  const std::lock_guard turn(queue_.turn());
  memory_.push_back(inShort(trial));
}

} // namespace kopt
