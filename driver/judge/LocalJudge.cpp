// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/LocalJudge.h"

#include "driver/judge/EmulatedJudge.h"

#include <fmt/format.h>

namespace kopt {

LocalJudge::LocalJudge(JudgeServices services, Subject subject, JudgeOptions options)
    : services_(std::move(services)), options_(std::move(options)), subject_(std::move(subject)),
      builder_(services_.frontend, services_.toolchain, options_, subject_, baseline_) {
  for (const JudgeDevice &device : services_.devices) {
    JudgeOptions own = options_;
    // The checks of each device build their own files.
    if (!lanes_.empty())
      own.scratch /= fmt::format("device-{}", lanes_.size());
    auto lane = std::make_unique<Lane>();
    auto emulation = makeEmulation(services_.emulated, services_.frontend, subject_, own);
    lane->judge =
        std::make_unique<DeviceJudge>(device, services_.frontend, services_.toolchain, subject_,
                                      std::move(own), std::move(emulation), services_.secondsLeft);
    lanes_.push_back(std::move(lane));
  }
}

LocalJudge::~LocalJudge() {
  {
    const std::lock_guard turn(turn_);
    waiting_.clear();
  }
  for (const auto &lane : lanes_)
    static_cast<void>(on(*lane, [] { return Status(); }));
}

Status LocalJudge::on(Lane &lane, const std::function<Status()> &function) {
  JobQueue *const thread = lane.judge->device().thread;
  if (!thread)
    return function();
  Status status;
  thread->runAndWait([&] { status = function(); });
  return status;
}

LocalJudge::Lane *LocalJudge::first() {
  const std::lock_guard turn(turn_);
  for (const auto &lane : lanes_)
    if (!lane->isLost)
      return lane.get();
  return nullptr;
}

bool LocalJudge::isLoss(const Lane &lane, const Error &error) {
  return error.code == ErrorCode::Environment && !lane.judge->device().runner.lost().empty();
}

void LocalJudge::lose(Lane &lane, const Error &error, const TaskPointer &task) {
  const std::string &name = lane.judge->device().name;
  std::size_t left = 0;
  {
    const std::lock_guard turn(turn_);
    lane.isLost = true;
    for (const auto &other : lanes_)
      left += !other->isLost;
    if (task) {
      task->notes.push_back(
          {"incident", Severity::Note,
           fmt::format("judged again, as GPU {} left the pool while running it: {}", name,
                       error.what),
           ""});
      waiting_.push_front(task);
    }
    if (left == 0) {
      ended_ = error;
      for (const TaskPointer &waiting : waiting_)
        waiting->answer.set_value(tl::unexpected(error));
      waiting_.clear();
    }
  }
  wake(); // idle devices may have work again
  if (left > 0 && services_.tell)
    services_.tell(fmt::format("GPU {} leaves the pool, {} left: {}", name, left, error.what));
}

Status LocalJudge::onFirst(const std::function<Status(Lane &)> &function) {
  for (Lane *lane = first(); lane; lane = first()) {
    bool isLost = false;
    const Status status = on(*lane, [&]() -> Status {
      const Status own = function(*lane);
      isLost = !own && isLoss(*lane, own.error());
      if (isLost)
        lose(*lane, own.error(), nullptr);
      return own;
    });
    if (!isLost)
      return status;
  }
  return tl::unexpected(*ended_);
}

/// The first device tries wrong versions of the kernel while the others learn the right one.
Status LocalJudge::learnOthers(const Built &built, Trial &trial) {
  const Lane &leader = *first();
  std::vector<Trial> trials(lanes_.size());
  std::vector<std::future<Status>> learned;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    Lane &lane = *lanes_[i];
    if (lane.hasLearned || lane.isLost)
      continue;
    learned.push_back(lane.judge->device().thread->call([&, i]() -> Status {
      const Status status = lane.judge->learnAs(*leader.judge, built, trials[i]);
      lane.hasLearned = status.has_value();
      if (!status && isLoss(lane, status.error())) {
        lose(lane, status.error(), nullptr);
        return {};
      }
      return status;
    }));
  }
  Status status;
  const Lane *tested = nullptr;
  if (options_.testAdequacy)
    status = onFirst([&](Lane &lane) -> Status {
      if (!lane.hasLearned)
        return {}; // its own error is reported below
      KOPT_CHECK(lane.judge->testMutants(trial));
      if (lane.judge->hasTestedMutants())
        tested = &lane;
      return {};
    });
  for (std::future<Status> &other : learned) // wait for all: they use local variables
    if (const Status answer = other.get(); !answer && status)
      status = answer;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    Lane &lane = *lanes_[i];
    if (status && tested && lane.hasLearned && &lane != tested && !lane.isLost)
      status = on(lane, [&]() -> Status {
        const Status taken = lane.judge->takeMutations(tested->judge->mutations());
        if (taken || !isLoss(lane, taken.error()))
          return taken;
        lose(lane, taken.error(), nullptr);
        return {};
      });
    trial.findings.insert(trial.findings.end(), trials[i].findings.begin(),
                          trials[i].findings.end());
  }
  return status;
}

Result<Baseline> LocalJudge::baseline() {
  const auto start = std::chrono::steady_clock::now();
  Trial begun;
  begun.candidate.proposer = "baseline";
  begun.candidate.title = "baseline";
  begun.candidateHash = begun.candidate.contentHash();
  KOPT_TRY(const Built built, builder_.buildBaseline(begun));
  Trial trial;
  KOPT_CHECK(onFirst([&](Lane &lane) -> Status {
    trial = begun;
    KOPT_CHECK(lane.judge->measureBaseline(built, trial));
    lane.hasLearned = true;
    baseline_ = lane.judge->baseline();
    return {};
  }));
  KOPT_CHECK(learnOthers(built, trial));
  seenCode_.add(trial, baseline_.launches);
  trial.seconds = secondsSince(start);
  Workload workload = subject_.workload;
  workload.launches = baseline_.launches;
  return Baseline{std::move(trial), std::move(workload)};
}

void LocalJudge::begin(const std::vector<Candidate> &candidates) {
  const std::lock_guard turn(turn_);
  builder_.ahead(candidates);
  if (!lanes_.front()->judge->device().thread)
    return; // the only device runs in judge()
  for (const Candidate &candidate : candidates)
    if (!begun_.contains(candidate.contentHash()))
      add(candidate);
  wake();
}

void LocalJudge::wake() {
  for (const auto &lane : lanes_)
    if (JobQueue *const thread = lane->judge->device().thread)
      thread->add([this, lane = lane.get()] { work(*lane); });
}

LocalJudge::TaskPointer LocalJudge::add(const Candidate &candidate) {
  const auto task = std::make_shared<Task>();
  task->candidate = candidate;
  begun_[candidate.contentHash()] = task;
  if (ended_)
    task->answer.set_value(tl::unexpected(*ended_));
  else
    waiting_.push_back(task);
  return task;
}

LocalJudge::TaskPointer LocalJudge::next(const Lane &lane) {
  const std::lock_guard turn(turn_);
  while (!waiting_.empty() && !lane.isLost) {
    const TaskPointer task = waiting_.front();
    waiting_.pop_front();
    if (task->prepared) // a device was lost while it ran this one
      return task;
    task->prepared = builder_.take(task->candidate);
    Prepared &prepared = *task->prepared;
    if (!prepared.error && prepared.ready &&
        !(prepared.trial.check == CheckId::None &&
          seenCode_.isDuplicate(prepared.trial, prepared.built.launches,
                                services_.findsDuplicates)))
      return task;
    prepared.trial.seconds = prepared.seconds;
    if (prepared.error)
      task->answer.set_value(tl::unexpected(*prepared.error));
    else
      task->answer.set_value(prepared.trial);
  }
  return nullptr;
}

void LocalJudge::work(Lane &lane) {
  while (const TaskPointer task = next(lane)) {
    Result<Trial> trial = lane.judge->judge(*task->prepared, Purpose::Search, fastest_);
    if (!trial && isLoss(lane, trial.error()))
      return lose(lane, trial.error(), task);
    if (trial)
      trial->findings.insert(trial->findings.end(), task->notes.begin(), task->notes.end());
    task->answer.set_value(std::move(trial));
  }
}

Result<Trial> LocalJudge::judge(const Candidate &candidate, Purpose purpose, Stage upTo) {
  if (upTo < Stage::Time)
    return look(candidate, purpose, upTo);
  return purpose == Purpose::Confirmation ? confirm(candidate) : evaluate(candidate);
}

Result<Trial> LocalJudge::look(const Candidate &candidate, Purpose purpose, Stage upTo) {
  KOPT_TRY(const Prepared prepared, again(candidate));
  Trial trial = prepared.trial;
  trial.purpose = purpose;
  trial.seconds = prepared.seconds;
  if (!prepared.ready)
    return trial;
  if (upTo >= Stage::Verify) {
    std::optional<Failure> failure;
    KOPT_CHECK(onFirst([&](Lane &lane) -> Status {
      KOPT_TRY(failure, lane.judge->whyNot(prepared.candidate, prepared.built,
                                           seedFrom("look/" + trial.candidateHash)));
      return {};
    }));
    trial.stage = Stage::Verify;
    if (failure) {
      trial.check = failure->check;
      trial.verdict = failure->verdict;
      trial.reason = failure->reason;
      return trial;
    }
  }
  trial.verdict = Verdict::Ambiguous;
  trial.reason = fmt::format("nothing speaks against it up to the stage '{}'", toString(upTo));
  return trial;
}

Result<Trial> LocalJudge::evaluate(const Candidate &candidate) {
  const std::string hash = candidate.contentHash();
  TaskPointer task;
  if (const auto begun = begun_.find(hash); begun != begun_.end()) {
    task = begun->second;
  } else {
    if (options_.depth > Depth::Search)
      if (const auto rendered = renderCandidate(subject_, candidate))
        compileAhead(*rendered);
    {
      const std::lock_guard turn(turn_);
      task = add(candidate);
    }
    if (lanes_.front()->judge->device().thread)
      wake();
    else
      work(*lanes_.front());
  }
  Result<Trial> trial = task->answer.get_future().get();
  begun_.erase(hash);
  if (trial && trial->verdict == Verdict::Faster) {
    const auto &[faster, isNew] = faster_.insert_or_assign(hash, std::move(*task->prepared));
    if (trial->speedup && trial->speedup->estimate > fastest_) {
      fastest_ = trial->speedup->estimate;
      compileAhead(faster->second.candidate);
    }
  }
  return trial;
}

void LocalJudge::compileAhead(const RenderedCandidate &candidate) {
  if (const Lane *lane = first())
    lane->judge->compileAhead(candidate);
}

Result<Prepared> LocalJudge::again(const Candidate &candidate) {
  const auto known = faster_.find(candidate.contentHash());
  if (known == faster_.end()) { // judged by an earlier, interrupted run: build it again
    const std::lock_guard turn(turn_);
    Prepared built = builder_.take(candidate);
    if (built.error)
      return tl::unexpected(*built.error);
    return built;
  }
  Prepared prepared = known->second;
  prepared.trial.stages.clear();
  prepared.seconds = 0;
  return prepared;
}

Result<Trial> LocalJudge::confirm(const Candidate &candidate) {
  KOPT_TRY(const Prepared prepared, again(candidate));
  if (!prepared.ready)
    return prepared.trial;
  compileAhead(prepared.candidate);
  Trial trial;
  KOPT_CHECK(onFirst([&](Lane &lane) -> Status {
    KOPT_TRY(trial, lane.judge->judge(prepared, Purpose::Confirmation));
    return {};
  }));
  if (trial.verdict == Verdict::Faster)
    faster_.insert_or_assign(trial.candidateHash, prepared);
  return trial;
}

Result<std::optional<Speedup>> LocalJudge::compare(const Candidate &candidate,
                                                   const Candidate &other) {
  KOPT_TRY(const Prepared one, again(candidate));
  KOPT_TRY(const Prepared two, again(other));
  std::optional<Speedup> speedup;
  if (!one.ready || !two.ready)
    return speedup;
  KOPT_CHECK(onFirst([&](Lane &lane) -> Status {
    KOPT_TRY(speedup, lane.judge->compare(one.built, two.built));
    return {};
  }));
  return speedup;
}

Status LocalJudge::addCounters(Trial &trial) {
  if (!trial.counters.empty() || trial.timings.empty())
    return {};
  KOPT_TRY(const Prepared prepared, again(trial.candidate));
  if (!prepared.ready)
    return {};
  return onFirst([&](Lane &lane) { return lane.judge->addCounters(prepared, trial); });
}

void LocalJudge::remember(const Trial &trial) {
  const std::lock_guard turn(turn_);
  seenCode_.remember(trial, subject_.kernel, baseline_.launches);
  if (trial.verdict == Verdict::Faster && trial.speedup && trial.speedup->estimate > fastest_)
    fastest_ = trial.speedup->estimate;
}

} // namespace kopt
