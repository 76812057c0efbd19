// SPDX-License-Identifier: Apache-2.0
#include "driver/app/agent/ProjectBench.h"

#include "driver/app/KnowledgeFlow.h"
#include "driver/diagnose/Known.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {

namespace fs = std::filesystem;

void CallTerminal::attend(const ToolCall *call) {
  const std::lock_guard lock(mutex_);
  call_ = call;
}

void CallTerminal::status(std::string_view text) {
  inner_.status(text);
  const std::lock_guard lock(mutex_);
  if (call_)
    call_->progress(++steps_, 0, std::string(text));
}

ProjectBench::ProjectBench(const Services &services, KernelRequest request, JudgeOptions options)
    : stopped_(services.interrupted), terminal_(services.terminal),
      services_{services.processes, services.clock, terminal_, services.installation},
      request_(std::move(request)), options_(std::move(options)), settings_{request_} {
  if (!request_.program.empty())
    settings_.programs = {request_.program};
}

void ProjectBench::attend(const ToolCall *call) {
  terminal_.attend(call);
  services_.interrupted = call ? &call->cancelled : nullptr;
}

Status ProjectBench::stopIfCancelled() const {
  if (services_.interrupted && *services_.interrupted)
    return makeError(ErrorCode::Interrupted, "cancelled");
  return {};
}

Status ProjectBench::open() {
  if (bench_)
    return {};
  planner_.emplace(services_, settings_);
  Services kept = services_;
  kept.interrupted = stopped_; // the bench outlives the call
  KOPT_TRY(bench_,
           Workbench::open(
               kept, request_, {0},
               [&](const ExtractionResult &found, ProgramHost &host, const ProveAhead &prove) {
                 return planner_->plan(found, host, prove).map([](KernelPlan plan) {
                   plan.leaveOut = true; // one kernel's trouble is its own
                   return plan;
                 });
               }));
  if (!planner_->observed().empty())
    observed_ = planner_->observed().front().trace;
  for (const TuneSubject &subject : bench_->subjects())
    open_[subject.label].subject = &subject;
  return stopIfCancelled();
}

Result<std::vector<AgentKernel>> ProjectBench::kernels() {
  KOPT_CHECK(open());
  std::vector<AgentKernel> all;
  for (const TuneSubject &subject : bench_->subjects())
    all.push_back({subject.label, subject.kernel.file, subject.kernel.line,
                   planner_->shareOf(subject.specialization.symbol), ""});
  for (const LeftOutKernel &left : bench_->leftOut())
    all.push_back({left.label, "", 0, planner_->shareOf(left.symbol), left.reason});
  std::ranges::stable_sort(all, std::ranges::greater(), &AgentKernel::share);
  return all;
}

Result<ProjectBench::Open *> ProjectBench::find(const std::string &kernel) {
  KOPT_CHECK(open());
  std::vector<std::string> names;
  std::vector<Open *> alike;
  for (auto &[label, open] : open_) {
    if (label == kernel)
      return &open;
    names.push_back(label);
    if (open.subject->kernel.name == kernel || kernel.empty())
      alike.push_back(&open);
  }
  if (alike.size() == 1)
    return alike.front();
  return makeError(ErrorCode::Usage,
                   kernel.empty() ? "there are several kernels"
                                  : fmt::format("there is no kernel '{}'", kernel),
                   "name one of: " + join(names, ", "));
}

Result<ProjectBench::Open *> ProjectBench::begun(const std::string &kernel) {
  KOPT_TRY(Open *const open, find(kernel));
  if (!open->trials) {
    auto trials = std::make_unique<SubjectTrials>(
        services_, *bench_, options_, request_.sources.buildDirectory, *open->subject, observed_);
    terminal_.status(open->subject->label + ": measuring the baseline");
    KOPT_CHECK(trials->begin());
    open->trials = std::move(trials);
  }
  KOPT_CHECK(stopIfCancelled());
  return open;
}

Result<KernelView> ProjectBench::view(const std::string &kernel) {
  KOPT_TRY(const Open *const open, begun(kernel));
  KOPT_TRY(const RuleBook rules, RuleBook::load());
  const TuneSubject &subject = *open->subject;
  const Workload &workload = open->trials->workload();
  const Launch &heaviest = *std::ranges::max_element(workload.launches, {}, &Launch::weight);
  const Trial &baseline = open->trials->baseline();
  return KernelView{
      subject,
      workload,
      baseline,
      bench_->device(),
      rules.diagnose(baseline.counters, knownOf(heaviest, subject.specialization, std::nullopt)),
      planner_->shareOf(subject.specialization.symbol)};
}

Result<TrialOutcome> ProjectBench::judge(const std::string &kernel, const fs::path &candidate,
                                         Stage upTo) {
  KOPT_TRY(const Open *const open, begun(kernel));
  terminal_.status(open->subject->label + ": reading the candidate");
  KOPT_TRY(const CandidateFile file, bench_->readCandidate(candidate, options_.arch));
  KOPT_CHECK(stopIfCancelled());
  Result<TrialOutcome> outcome = open->trials->judge(file, upTo);
  if (!outcome && outcome.error().code == ErrorCode::Environment) { // such as a device that is gone
    open_.clear();
    bench_.reset(); // the next call opens it anew
  }
  return outcome;
}

Result<Candidate> ProjectBench::read(const Open &kernel, const fs::path &candidate) {
  if (candidate.empty())
    return Candidate();
  KOPT_TRY(const CandidateFile file, bench_->readCandidate(candidate, options_.arch));
  if (file.compileError)
    return tl::unexpected(*file.compileError);
  KOPT_TRY(FileCandidate made, kernel.trials->candidateOf(file));
  if (!made.refusal.empty())
    return makeError(ErrorCode::StaleInput, made.refusal);
  return std::move(made.candidate);
}

Result<ProfileReport> ProjectBench::profile(const std::string &kernel, const fs::path &candidate,
                                            bool ncu) {
  KOPT_TRY(const Open *const open, begun(kernel));
  KOPT_TRY(const Candidate made, read(*open, candidate));
  ProfileRequest request{request_};
  request.candidate = candidate;
  request.ncu = ncu;
  return profileKernel(services_, *bench_, request, *open->subject, open->trials->workload(), made);
}

Result<MachineCode> ProjectBench::code(const std::string &kernel, const fs::path &candidate) {
  KOPT_TRY(const Open *const open, begun(kernel));
  KOPT_TRY(const Candidate made, read(*open, candidate));
  ProfileRequest request{request_};
  request.candidate = candidate;
  return machineCode(services_, *bench_, request, *open->subject, made);
}

Result<std::vector<Memo>> ProjectBench::memos(const std::string &kernel) {
  KOPT_TRY(ExperienceBase base, openExperience());
  KOPT_TRY(const std::int64_t now, base.last());
  KOPT_TRY(const std::vector<Remembered> rows, base.ofKernels(now, kernel));
  return memosOf(rows);
}

Result<std::vector<Passage>> ProjectBench::passages(const std::string &words) {
  KOPT_TRY(Passages passages, openPassages());
  return passages.search(words, 4);
}

} // namespace kopt
