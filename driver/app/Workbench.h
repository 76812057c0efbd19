// SPDX-License-Identifier: Apache-2.0
// What every command that evaluates candidates needs: the kernels, a device and its compiler.
#pragma once

#include "driver/app/CandidateReader.h"
#include "driver/app/KernelRequest.h"
#include "driver/app/executor/LocalExecutor.h"
#include "driver/app/programs/ProgramHost.h"
#include "driver/source/Subjects.h"
#include "driver/support/FileSystem.h"
#include "driver/support/RelativeDeadline.h"

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>

namespace kopt {

/// The kernels that a workbench is for.
struct KernelPlan {
  SelectionRequest selection;
  /// True if kopt chose the kernels itself: a kernel without a proven slice is then left out,
  /// unless none remains.
  bool leaveOut = false;
};
/// Lets PlanKernels begin to prove slices before its plan is complete, because nvcc takes time and
/// so does observing a program. If the returned plan selects other kernels, the work is discarded.
using ProveAhead = std::function<void(const KernelPlan &)>;
/// Chooses the kernels from those that the files contain, whose slices are not proven yet.
using PlanKernels = std::function<Result<KernelPlan>(const ExtractionResult &found,
                                                     ProgramHost &host, const ProveAhead &prove)>;

/// A selected kernel that is not among the subjects, with the reason.
struct LeftOutKernel {
  std::string symbol, label, reason;
};

class Workbench {
public:
  /// Makes the sandbox, reads the sources, opens the device, or one for each of `gpus` (as
  /// startRunners() takes them), and finds its compiler; or starts the workers of the request's
  /// executor before all else, so that waiting for them is no one's time. The sources are read
  /// twice: first all of them, for their kernels, then those of the selected kernels, to prove
  /// slices. In between, `plan`, if given, selects the kernels. Fails with Usage, BaselineFailed (a
  /// file does not compile) or Environment.
  static Result<std::unique_ptr<Workbench>> open(Services services, const KernelRequest &request,
                                                 const std::vector<int> &gpus = {0},
                                                 const PlanKernels &plan = {});

  Frontend &frontend() { return *contained_.frontend; }
  /// This machine's devices; null if candidates are judged elsewhere.
  LocalExecutor *local() { return dynamic_cast<LocalExecutor *>(executor_.get()); }
  Runner &runner() { return local()->runner(); }        ///< only of local()
  Toolchain &compiler() { return local()->compiler(); } ///< only of local()
  ProgramHost &programs() { return *programs_; }        ///< where the user's program runs
  std::string toolchain() const { return executor_->toolchain(); }
  std::size_t devices() const { return executor_->gpus().size(); }
  BuildCache::Counts builds() const { return executor_->builds(); }
  const CompilerSandbox &compilers() const { return contained_.compilers; }
  const std::vector<SandboxLayer> &layers() const { return executor_->layers(); }
  const DeviceInfo &device() const { return executor_->device(); }
  /// Has the first device measure what it reaches, for the ceilings of reports; once. A failure is
  /// what describe() says of them. Only while nothing else runs on the device.
  void measureRates();
  /// The device, its compiler and the sandbox, as a run's record has them.
  nlohmann::json describe() const;
  const ExtractionResult &extraction() const { return extraction_; }
  std::vector<TuneSubject> &subjects() { return subjects_; }
  /// The clauses that are not in the source.
  const std::vector<KernelClauses> &clauses() const { return plan_.selection.clauses; }
  Duration queued() const { return executor_->queued(); } ///< as Executor::queued()
  /// As Executor::otherKinds().
  std::vector<Executor *> otherKinds() { return executor_->otherKinds(); }
  const std::vector<LeftOutKernel> &leftOut() const { return leftOut_; }
  double extractSeconds() const { return extractSeconds_; } ///< time that reading the sources took
  const std::filesystem::path &scratch() const { return scratch_->path(); }

  /// As CandidateReader::read().
  Result<CandidateFile> readCandidate(const std::filesystem::path &file, const std::string &arch,
                                      const TuneSubject *beside = nullptr) {
    return candidates_->read(file, arch, beside);
  }

  /// Makes a judge. `folder` is the name of its scratch folder, and `secondsLeft` as JudgeServices
  /// has it.
  Result<std::unique_ptr<Judge>> makeJudge(const TuneSubject &subject, const Workload &workload,
                                           JudgeOptions options, const std::string &folder,
                                           std::function<double()> secondsLeft = {}) {
    return makeJudge(*executor_, subject, workload, std::move(options), folder,
                     std::move(secondsLeft));
  }
  /// The same of one of otherKinds().
  Result<std::unique_ptr<Judge>> makeJudge(Executor &executor, const TuneSubject &subject,
                                           const Workload &workload, JudgeOptions options,
                                           const std::string &folder,
                                           std::function<double()> secondsLeft = {});

private:
  Workbench(Services services, SourceSettings sources)
      : services_(std::move(services)), sources_(std::move(sources)) {}

  Status readSources(const SelectionRequest &selection, const PlanKernels &planKernels);
  std::vector<std::filesystem::path> filesOfCandidates() const;
  Status makeSubjects();
  Result<ExtractionResult> extract(Frontend &reader, const KernelPlan &plan,
                                   const ExtractionResult &found);
  Status tellOfNotes(); ///< and leaves out what the device cannot run

  Services services_;
  SourceSettings sources_;
  std::optional<TemporaryDirectory> scratch_; ///< must outlive the runner, which writes there
  Contained contained_;
  std::unique_ptr<Executor> executor_;
  std::unique_ptr<ProgramHost> programs_;
  std::optional<MeasuredRates> rates_;
  ExtractionResult extraction_;
  std::vector<TuneSubject> subjects_;
  KernelPlan plan_;
  std::vector<LeftOutKernel> leftOut_;
  double extractSeconds_ = 0;
  /// Of the time to compile the user's own files, which may have come from the cache.
  RelativeDeadline candidateDeadline_{Duration(60), Duration(300), 20};
  std::optional<CandidateReader> candidates_;
};

} // namespace kopt
