// SPDX-License-Identifier: Apache-2.0
#include "strategies/RecordedKernel.h"

#include "clang_plugin/output/Variants.h"
#include "driver/diagnose/RuleBook.h"
#include "driver/search/SearchLoop.h"
#include "driver/search/policy/Arms.h"
#include "driver/search/proposers/RecallProposer.h"
#include "driver/support/FileSystem.h"
#include "fakes/FakeInbox.h"
#include "fakes/MemoryStore.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>

namespace kopt::fakes {
namespace {

constexpr const char *kNumber = "trial"; ///< the constant that tells which one a candidate is

std::size_t numberOf(const Candidate &candidate) {
  const auto known = candidate.constants.find(kNumber);
  return known == candidate.constants.end() ? 0 : std::size_t(known->second);
}

RecordedTrial trialFrom(const nlohmann::json &json) {
  RecordedTrial trial;
  if (!json.at("parent").is_null())
    trial.parent = json.at("parent").get<std::size_t>();
  trial.proposer = json.at("proposer");
  trial.technique = json.at("technique");
  trial.title = json.at("title");
  const auto names = spellings(Verdict());
  const auto name = std::ranges::find(names, json.at("verdict").get<std::string>());
  if (name == names.end())
    throw std::invalid_argument("unknown verdict " + json.at("verdict").dump());
  trial.verdict = Verdict(name - names.begin());
  trial.seconds = json.at("seconds");
  if (json.contains("estimate")) {
    trial.speedup = Speedup{};
    trial.speedup->estimate = json.at("estimate");
    trial.speedup->low = json.at("low");
    trial.speedup->high = json.at("high");
  }
  return trial;
}

} // namespace

Result<RecordedKernel> RecordedKernel::load(const std::filesystem::path &file) {
  KOPT_TRY(const std::string text, readFile(file));
  KOPT_TRY(const RuleBook rules, RuleBook::load());
  try {
    const auto json = nlohmann::json::parse(text);
    RecordedKernel kernel{json.at("program"), json.at("kernel"), json.at("device"), {}};
    kernel.arch = json.value("arch", kernel.arch);
    for (const auto &trial : json.at("trials"))
      kernel.trials.push_back(trialFrom(trial));
    for (const auto &[number, counters] : json.at("counters").items()) {
      RecordedTrial &trial = kernel.trials.at(std::stoul(number));
      trial.counters = counters.get<Counters>();
      trial.diagnosis = rules.diagnose(trial.counters);
    }
    return kernel;
  } catch (const std::exception &error) {
    return makeError(ErrorCode::Usage,
                     fmt::format("{} is no recording: {}", file.string(), error.what()),
                     "make one with tests/benchmarks/record_trials.py");
  }
}

std::vector<std::string> RecordedKernel::proposers() const {
  std::vector<std::string> names;
  for (const RecordedTrial &trial : trials)
    if (trial.parent && std::ranges::count(names, trial.proposer) == 0)
      names.push_back(trial.proposer);
  return names;
}

double RecordedKernel::best() const {
  double most = 0;
  for (const RecordedTrial &trial : trials)
    if (trial.verdict == Verdict::Faster && trial.speedup)
      most = std::max(most, std::log(trial.speedup->estimate));
  return most;
}

std::string RecordedKernel::stateOf(std::size_t trial) const {
  while (trials.at(trial).diagnosis.state.empty() && trials[trial].parent)
    trial = *trials[trial].parent;
  return trials[trial].diagnosis.state;
}

std::optional<double> RecordedKernel::gainOf(const RecordedTrial &trial) const {
  Trial as;
  as.verdict = trial.verdict;
  if (!isRight(as) || !trial.parent)
    return std::nullopt;
  const auto &before = trials.at(*trial.parent).speedup;
  return trial.speedup && trial.speedup->estimate > 0
             ? std::log(trial.speedup->estimate / (before ? before->estimate : 1))
             : 0;
}

Trial trialOf(const RecordedKernel &kernel, std::size_t number) {
  const RecordedTrial &recorded = kernel.trials.at(number);
  Trial trial;
  trial.candidate = candidateFor(kernel, number);
  trial.candidateHash = trial.candidate.contentHash();
  trial.verdict = recorded.verdict;
  trial.speedup = recorded.speedup;
  trial.seconds = recorded.seconds;
  trial.counters = recorded.counters;
  trial.diagnosis = recorded.diagnosis;
  return trial;
}

Candidate candidateFor(const RecordedKernel &kernel, std::size_t number) {
  const RecordedTrial &recorded = kernel.trials.at(number);
  Candidate candidate;
  candidate.title = recorded.title;
  candidate.proposer = recorded.proposer;
  candidate.technique = recorded.technique;
  if (recorded.parent) {
    candidate.constants[kNumber] = std::int64_t(number);
    candidate.parents = {candidateFor(kernel, *recorded.parent).contentHash()};
  }
  return candidate;
}

void RecordedProposer::start(const ProposalContext &context, Inbox &inbox) {
  const std::size_t parent = numberOf(context.parent());
  const std::string kept = parent ? context.parent().title : "";
  std::map<std::string, std::multimap<double, Candidate, std::greater<>>> left;
  bool isRecorded = false;
  for (std::size_t i = 1; i < kernel_.trials.size(); ++i) {
    const RecordedTrial &trial = kernel_.trials[i];
    if (trial.parent != parent)
      continue;
    isRecorded = true;
    Candidate candidate = candidateFor(kernel_, i);
    const std::string hash = candidate.contentHash();
    if (trial.proposer == name_ && !context.history.find(hash) &&
        std::ranges::count(context.history.waiting, hash, &WaitingCandidate::hash) == 0)
      left[trial.technique].emplace(context.problem.precedents.rank(candidate, kept),
                                    std::move(candidate));
  }
  ++asks;
  unrecorded += !isRecorded;
  // As TransformProposer: those that led on before, those that a rule recommends, and the others in
  // the order of the catalogue.
  std::vector<std::string> order;
  const auto add = [&](const std::string &technique) {
    if (left.contains(technique) && std::ranges::count(order, technique) == 0)
      order.push_back(technique);
  };
  for (const RuleHit &hit : context.parentTrial().diagnosis.hits)
    std::ranges::for_each(hit.techniques, add);
  for (const std::string_view technique : kRewriteIds)
    add(std::string(technique));
  for (const auto &[technique, candidates] : left)
    add(technique);
  std::ranges::stable_sort(order, std::greater(), [&](const std::string &technique) {
    return std::max(0.0, left[technique].begin()->first);
  });
  std::vector<Candidate> offered;
  const std::string &wanted = context.ask.technique;
  for (bool isLeft = true; isLeft && offered.size() < context.ask.limit;) {
    isLeft = false;
    for (const std::string &technique : order)
      if ((wanted.empty() || technique == wanted) && !left[technique].empty() &&
          offered.size() < context.ask.limit) {
        offered.push_back(std::move(left[technique].begin()->second));
        left[technique].erase(left[technique].begin());
        isLeft = true;
      }
  }
  ProposerAnswer answer{std::move(offered)};
  for (const auto &[technique, candidates] : left)
    if (!candidates.empty())
      answer.left[technique] = int(candidates.size());
  inbox.put({context.ask.id, std::move(answer)});
}

Result<Baseline> RecordedKernelJudge::baseline() { return Baseline{trialOf(kernel_, 0), {}}; }

Result<Trial> RecordedKernelJudge::judge(const Candidate &candidate, Purpose, Stage) {
  const Trial trial = trialOf(kernel_, numberOf(candidate));
  clock_.advance(trial.seconds);
  return trial;
}

std::map<std::string, Prior> priorsOf(const std::vector<const RecordedKernel *> &kernels,
                                      const std::string &state) {
  std::vector<TechniqueOutcomes> known;
  for (const RecordedKernel *kernel : kernels)
    for (const RecordedTrial &trial : kernel->trials)
      if (trial.parent) {
        TechniqueOutcomes each{kernel->stateOf(*trial.parent), trial.technique, "", {}};
        each.sums.add(kernel->gainOf(trial), trial.seconds);
        known.push_back(std::move(each));
      }
  return priorsFrom(known, state, "");
}

Result<Course> courseOf(const RecordedKernel &kernel, Strategy &strategy, int trials,
                        const KnownBefore &known) {
  FakeClock clock;
  FakeInbox inbox(clock);
  RecordedKernelJudge judge(kernel, clock);
  MemoryStore store;
  KOPT_TRY(Journal journal, Journal::open(store, 1));
  KOPT_TRY(const Baseline baseline, judge.baseline());
  std::vector<std::unique_ptr<Proposer>> proposers;
  for (const std::string &name : kernel.proposers())
    proposers.push_back(std::make_unique<RecordedProposer>(kernel, name));
  const std::size_t recorded = proposers.size();
  if (!known.edits.empty())
    proposers.push_back(std::make_unique<RecallProposer>(known.edits));
  SearchObserver observer;
  const SearchServices services{judge, strategy, proposers, journal, inbox, clock, observer, {}};
  KernelSpec spec;
  spec.constants = {{.name = kNumber, .valueRange = {"k.cu", 0, 1}, .usedByKernel = true}};
  const Specialization specialization;
  const DeviceInfo device;
  const std::string slice;
  const SearchProblem problem{spec,  specialization, baseline.workload,
                              slice, device,         known.precedents};
  SearchSettings settings;
  settings.budget.trials = trials + 1; // the baseline is one
  KOPT_TRY(const SearchHistory history, SearchLoop(services, problem, settings).run(baseline));
  Course course{{0}};
  double best = 0;
  for (std::size_t i = 1; i < history.trials.size(); ++i) {
    if (const Trial &trial = history.trials[i]; trial.verdict == Verdict::Faster && trial.speedup)
      best = std::max(best, std::log(trial.speedup->estimate));
    course.judged.push_back(numberOf(history.trials[i].candidate));
    course.fractions.push_back(kernel.best() > 0 ? best / kernel.best() : 0);
  }
  for (const auto &proposer : std::span(proposers).first(recorded)) {
    course.asks += static_cast<RecordedProposer &>(*proposer).asks;
    course.unrecorded += static_cast<RecordedProposer &>(*proposer).unrecorded;
  }
  return course;
}

int runChecked(int count, char **arguments,
               Result<int> (*run)(const std::vector<std::string> &files, bool isCheck)) {
  std::vector<std::string> files(arguments + 1, arguments + count);
  const bool isCheck = std::erase(files, "--check") > 0;
  const Result<int> done = run(files, isCheck);
  if (!done)
    fmt::print(stderr, "error: {}\n", done.error().what);
  return done.value_or(2);
}

} // namespace kopt::fakes
