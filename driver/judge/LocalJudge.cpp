// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/LocalJudge.h"

#include "driver/judge/EmulatedJudge.h"

#include <fmt/format.h>

namespace kopt {

namespace {

std::vector<TaskQueue::Lane> lanesOf(const std::vector<JudgeDevice> &devices) {
  std::vector<TaskQueue::Lane> lanes;
  for (const JudgeDevice &device : devices)
    lanes.push_back({"GPU " + device.name, device.thread});
  return lanes;
}

} // namespace

LocalJudge::LocalJudge(JudgeServices services, Subject subject, JudgeOptions options)
    : services_(std::move(services)), options_(std::move(options)), subject_(std::move(subject)),
      builder_(services_.frontend, services_.toolchain, options_, subject_, baseline_),
      queue_(lanesOf(services_.devices),
             {[this](std::size_t lane) { work(lane); },
              [this](std::size_t lane, const Error &error) { return isLoss(lane, error); },
              services_.tell}) {
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

LocalJudge::~LocalJudge() { queue_.drain(); }

bool LocalJudge::isLoss(std::size_t lane, const Error &error) const {
  return error.code == ErrorCode::Environment &&
         !lanes_[lane]->judge->device().runner.lost().empty();
}

Status LocalJudge::onFirst(const std::function<Status(Lane &)> &function) {
  return queue_.onFirst([&](std::size_t lane) { return function(*lanes_[lane]); });
}

/// The first device tries wrong versions of the kernel while the others learn the right one.
Status LocalJudge::learnOthers(const Built &built, Trial &trial) {
  const Lane &leader = *lanes_[*queue_.first()];
  std::vector<Trial> trials(lanes_.size());
  std::vector<std::future<Status>> learned;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    Lane &lane = *lanes_[i];
    if (lane.hasLearned || queue_.isLost(i))
      continue;
    learned.push_back(lane.judge->device().thread->call([&, i]() -> Status {
      const Status status = lane.judge->learnAs(*leader.judge, built, trials[i]);
      lane.hasLearned = status.has_value();
      if (!status && isLoss(i, status.error())) {
        queue_.lose(i, status.error(), nullptr);
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
    if (status && tested && lane.hasLearned && &lane != tested && !queue_.isLost(i))
      status = queue_.on(i, [&]() -> Status {
        const Status taken = lane.judge->takeMutations(tested->judge->mutations());
        if (taken || !isLoss(i, taken.error()))
          return taken;
        queue_.lose(i, taken.error(), nullptr);
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
  {
    const std::lock_guard turn(queue_.turn());
    builder_.ahead(candidates);
  }
  queue_.begin(candidates);
}

bool LocalJudge::prepare(TaskQueue::Task &task) {
  const std::string hash = task.candidate.contentHash();
  if (prepared_.contains(hash)) // a device was lost while it ran this one
    return true;
  Prepared prepared = builder_.take(task.candidate);
  if (!prepared.error && prepared.ready &&
      !(prepared.trial.check == CheckId::None &&
        seenCode_.isDuplicate(prepared.trial, prepared.built.launches,
                              services_.findsDuplicates))) {
    prepared_.emplace(hash, std::move(prepared));
    return true;
  }
  prepared.trial.seconds = prepared.seconds;
  if (prepared.error)
    task.answer.set_value(tl::unexpected(*prepared.error));
  else
    task.answer.set_value(prepared.trial);
  return false;
}

void LocalJudge::work(std::size_t lane) {
  const Prepared *prepared = nullptr;
  const auto accept = [&](TaskQueue::Task &task) {
    const bool runs = prepare(task);
    prepared = runs ? &prepared_.at(task.candidate.contentHash()) : nullptr;
    return runs;
  };
  while (const auto task = queue_.next(lane, accept)) {
    Result<Trial> trial = lanes_[lane]->judge->judge(*prepared, Purpose::Search, fastest_);
    if (!trial && isLoss(lane, trial.error()))
      return queue_.lose(lane, trial.error(), task);
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
  if (!queue_.isBegun(candidate) && options_.depth > Depth::Search)
    if (const auto rendered = renderCandidate(subject_, candidate))
      compileAhead(*rendered);
  Result<Trial> trial = queue_.wait(candidate);
  const std::string hash = candidate.contentHash();
  decltype(prepared_)::node_type done;
  {
    const std::lock_guard turn(queue_.turn());
    done = prepared_.extract(hash);
  }
  if (trial && trial->verdict == Verdict::Faster) {
    const auto &[faster, isNew] = faster_.insert_or_assign(hash, std::move(done.mapped()));
    if (trial->speedup && trial->speedup->estimate > fastest_) {
      fastest_ = trial->speedup->estimate;
      compileAhead(faster->second.candidate);
    }
  }
  return trial;
}

void LocalJudge::compileAhead(const RenderedCandidate &candidate) {
  if (const auto lane = queue_.first())
    lanes_[*lane]->judge->compileAhead(candidate);
}

Result<Prepared> LocalJudge::again(const Candidate &candidate) {
  const auto known = faster_.find(candidate.contentHash());
  if (known == faster_.end()) { // judged by an earlier, interrupted run: build it again
    const std::lock_guard turn(queue_.turn());
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
  const std::lock_guard turn(queue_.turn());
  seenCode_.remember(trial, subject_.kernel, baseline_.launches);
  if (trial.verdict == Verdict::Faster && trial.speedup && trial.speedup->estimate > fastest_)
    fastest_ = trial.speedup->estimate;
}

} // namespace kopt
