// SPDX-License-Identifier: Apache-2.0
#include "driver/app/Workbench.h"

#include "driver/app/executor/RemoteExecutor.h"
#include "driver/app/programs/LocalPrograms.h"
#include "driver/model/Json.h"
#include "driver/support/Log.h"

#include <algorithm>
#include <fmt/format.h>
#include <future>
#include <nlohmann/json.hpp>
#include <set>

namespace kopt {

namespace fs = std::filesystem;

Result<std::unique_ptr<Workbench>> Workbench::open(Services services, const KernelRequest &request,
                                                   const std::vector<int> &gpus,
                                                   const PlanKernels &plan) {
  std::unique_ptr<Workbench> bench(new Workbench(std::move(services), request.sources));
  KOPT_TRY(bench->scratch_, TemporaryDirectory::create("kopt"));
  const bool isLocal = request.executor.choice.kind == ExecutorKind::Local;
  std::unique_ptr<RemoteExecutor> remote;
  if (!isLocal) {
    KOPT_TRY(remote, RemoteExecutor::open(bench->services_, request.executor));
    bench->programs_ = remote->programs(request.root);
  } else {
    bench->programs_ = std::make_unique<LocalPrograms>(bench->services_);
  }
  KOPT_CHECK(bench->readSources(request.selection, plan));
  KOPT_TRY(bench->contained_,
           openContained(bench->services_, request.sandbox, bench->filesOfCandidates()));
  KOPT_CHECK(bench->makeSubjects());
  if (remote) {
    remote->useFiles(bench->filesOfCandidates());
    bench->executor_ = std::move(remote);
  } else {
    KOPT_TRY(bench->executor_,
             LocalExecutor::open(bench->services_, request.device, gpus, bench->scratch(),
                                 bench->contained_, request.buildCache));
  }
  KOPT_CHECK(bench->tellOfNotes());
  bench->candidates_.emplace(bench->frontend(), bench->sources_, bench->extraction_,
                             bench->subjects_, bench->candidateDeadline_, bench->device().arch,
                             bench->scratch());
  return bench;
}

Status Workbench::readSources(const SelectionRequest &selection, const PlanKernels &planKernels) {
  KOPT_TRY(const std::unique_ptr<Frontend> reader, openFrontend(services_));
  ExtractionResult found;
  {
    services_.terminal.status("reading the sources");
    const LoggedStage logged("read the sources");
    ExtractRequest look = extractRequest(sources_, scratch() / "look");
    look.prove = !canProve(services_);
    const auto start = services_.clock.now();
    KOPT_TRY(found, reader->extract(look));
    candidateDeadline_.took(services_.clock.now() - start);
    extractSeconds_ = Duration(services_.clock.now() - start).count();
  }
  const auto tellOf = [&](NoteKind kind) {
    for (const ExtractionNote &note : found.notes)
      if (note.kind == kind)
        services_.terminal.line("note: " + note.text);
  };
  tellOf(NoteKind::FileLeftOut);
  tellOf(NoteKind::SeveralCommands);
  KOPT_TRY(const std::string note, checkKernelNames(found, selection.clauses));
  if (!note.empty())
    services_.terminal.line("note: " + note);
  plan_ = {selection, false};
  const auto symbolsOf = [](const KernelPlan &of) {
    const std::vector<std::string> symbols =
        of.selection.symbols.value_or(std::vector<std::string>());
    return std::set<std::string>(symbols.begin(), symbols.end());
  };
  KernelPlan ahead;
  std::future<Result<ExtractionResult>> proven; // its destructor waits for the result
  if (planKernels) {
    Result<KernelPlan> planned = planKernels(found, *programs_, [&](const KernelPlan &soon) {
      ahead = soon;
      proven = std::async(std::launch::async, [&] { return extract(*reader, ahead, found); });
    });
    if (!planned)
      tellOf(NoteKind::PartlyRead); // it may be why
    KOPT_TRY(plan_, std::move(planned));
  }
  services_.terminal.status("proving that the kernels can be built alone");
  const auto start = services_.clock.now();
  const bool isAhead = proven.valid() && symbolsOf(ahead) == symbolsOf(plan_);
  KOPT_TRY(extraction_, isAhead ? proven.get() : extract(*reader, plan_, found));
  extractSeconds_ += Duration(services_.clock.now() - start).count();
  return {};
}

/// Candidates may read the files that the user's own files were read with, and what their flags
/// name.
std::vector<fs::path> Workbench::filesOfCandidates() const {
  std::vector<fs::path> readable;
  std::error_code ignored;
  for (const auto &[file, hash] : extraction_.fileHashes) {
    readable.emplace_back(file);
    // These are real paths; the project may be reached by another path.
    for (const fs::path &source : sources_.files) {
      const fs::path folder = fs::absolute(source).lexically_normal().parent_path();
      const fs::path alias =
          (folder / fs::path(file).lexically_relative(fs::canonical(folder, ignored)))
              .lexically_normal();
      if (alias != file && fs::equivalent(alias, file, ignored))
        readable.push_back(alias);
    }
  }
  for (const KernelSpec &kernel : extraction_.kernels)
    for (const auto &[file, hash] : kernel.projectFiles)
      readable.emplace_back(file);
  return readable;
}

Result<ExtractionResult> Workbench::extract(Frontend &reader, const KernelPlan &plan,
                                            const ExtractionResult &found) {
  // Report problems of the selection before proving slices, which takes long.
  if (!plan.leaveOut)
    KOPT_CHECK(selectSubjects(found, plan.selection));
  if (!canProve(services_))
    return found;
  KOPT_TRY(const std::vector<KernelInstance> wanted, selectInstances(found, plan.selection));
  const LoggedStage logged("prove the slices");
  const ExtractRequest request = proofRequest(sources_, scratch() / "extract", wanted);
  const auto start = services_.clock.now();
  KOPT_TRY(ExtractionResult extraction, reader.extract(request));
  candidateDeadline_.took(services_.clock.now() - start);
  return extraction;
}

Status Workbench::makeSubjects() {
  KOPT_TRY(const std::vector<KernelInstance> chosen, selectInstances(extraction_, plan_.selection));
  for (const KernelInstance &instance : chosen) {
    Result<TuneSubject> subject = makeSubject(extraction_, instance, plan_.selection);
    if (subject)
      subjects_.push_back(std::move(*subject));
    else if (plan_.leaveOut)
      leftOut_.push_back({instance.specialization->symbol, instance.specialization->expression,
                          subject.error().what});
    else
      return tl::unexpected(subject.error());
  }
  return {};
}

Status Workbench::tellOfNotes() {
  for (const SandboxLayer &layer : layers())
    if (!layer.active)
      services_.terminal.line(
          fmt::format("note: candidates run without {}: {}", layer.name, layer.detail));
  for (const ExtractionNote &note : extraction_.notes)
    services_.terminal.line("note: " + note.text);
  std::vector<TuneSubject> kept;
  for (TuneSubject &subject : subjects_) {
    const Specialization &specialization = subject.specialization;
    if (specialization.route == Route::Slice && !specialization.reason.empty() &&
        !device().modelled)
      services_.terminal.line(
          fmt::format("note: the baseline of {} may differ from the code in your own build: {}",
                      subject.label, specialization.reason));
    if (specialization.route == Route::InPlace && device().modelled) {
      const auto error = makeError(
          ErrorCode::BaselineFailed,
          fmt::format(
              "kernel '{}' could not be lifted out ({}), so it is built in its own file, which the "
              "emulated device cannot run",
              subject.label, specialization.reason),
          "use --device cuda on a machine with a GPU and nvcc", placeOf(subject.kernel));
      if (!plan_.leaveOut)
        return error;
      leftOut_.push_back({specialization.symbol, subject.label, error.value().what});
      continue;
    }
    if (specialization.route == Route::InPlace)
      services_.terminal.line(fmt::format(
          "note: {} could not be lifted out ({}): its candidates are built in {} as a whole",
          subject.label, specialization.reason, subject.kernel.unit));
    kept.push_back(std::move(subject));
  }
  subjects_ = std::move(kept);
  return {};
}

void Workbench::measureRates() {
  if (rates_ || device().modelled)
    return;
  services_.terminal.status("measuring what the device reaches");
  const LoggedStage logged("measure the rates of the device");
  Result<MeasuredRates> measured = executor_->measureRates();
  rates_ = measured ? std::move(*measured)
                    : MeasuredRates{0, 0, 0, 0, "all rates: " + measured.error().what};
}

nlohmann::json Workbench::describe() const {
  nlohmann::json described = toJson(device());
  described["gpus"] = executor_->gpus();
  described["toolchain"] = executor_->toolchain();
  described["sandbox"] = describeLayers(executor_->layers());
  if (rates_)
    described["measured"] = toJson(*rates_);
  return described;
}

Result<std::unique_ptr<Judge>> Workbench::makeJudge(Executor &executor, const TuneSubject &subject,
                                                    const Workload &workload, JudgeOptions options,
                                                    const std::string &folder,
                                                    std::function<double()> secondsLeft) {
  if (options.arch.empty() || &executor != executor_.get())
    options.arch = executor.device().arch;
  return executor.makeJudge(Subject{subject, workload, keptByLaunches(subject, workload.launches)},
                            std::move(options), folder, std::move(secondsLeft));
}

} // namespace kopt
