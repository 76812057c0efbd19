// SPDX-License-Identifier: Apache-2.0
// What every command that evaluates candidates needs: the kernels, a device, the compiler for it.
#pragma once

#include "driver/app/Sources.h"
#include "driver/device/runner/RunnerClient.h"
#include "driver/device/runner/RunnerPool.h"
#include "driver/device/sass/CodeCounter.h"
#include "driver/judge/LocalJudge.h"
#include "driver/sandbox/CompilerSandbox.h"
#include "driver/source/Subjects.h"
#include "driver/source/candidate/CandidateFile.h"
#include "driver/source/candidate/HostChanges.h"
#include "driver/support/FileSystem.h"
#include "driver/support/RelativeDeadline.h"

#include <atomic>
#include <memory>
#include <optional>

namespace kopt {

/// Which kernels a workbench is for.
struct KernelPlan {
  SelectionRequest selection;
  /// kopt chose them itself: one that cannot be lifted out is left out, unless none remains.
  bool leaveOut = false;
};
/// Decides it from what the files hold; their slices are not proven yet.
/// Slices that the plan will ask for may be proven while it is still being made: nvcc takes its
/// time, and so does a program that is observed.
using ProveAhead = std::function<void(const KernelPlan &)>;
using PlanKernels =
    std::function<Result<KernelPlan>(const ExtractionResult &found, const ProveAhead &prove)>;

/// A kernel that was wanted, and why it is not among the subjects.
struct LeftOutKernel {
  std::string symbol, label, reason;
};

class Workbench {
public:
  /// Makes the sandbox, reads the sources, then opens the device, or as many as there are `gpus`
  /// (as startRunners() takes them), and finds its compiler. The sources are read twice: all of
  /// them for their kernels, and those of the selected kernels for proven slices of these. `plan`,
  /// where there is one, is asked between the two. Fails with Usage, BaselineFailed (a file does
  /// not compile) or Environment.
  static Result<std::unique_ptr<Workbench>> open(Services services, const SourceSettings &sources,
                                                 const SelectionRequest &selection,
                                                 const DeviceConfig &device, SandboxMode sandbox,
                                                 const std::vector<int> &gpus = {0},
                                                 const PlanKernels &plan = {});

  Frontend &frontend() { return *frontend_; }
  Runner &runner() { return *pool_.front().runner; } ///< where there is one
  const std::vector<PooledRunner> &pool() const { return pool_; }
  Toolchain &toolchain() { return *toolchain_; }
  const Sandbox &sandbox() const { return sandbox_; }
  const CompilerSandbox &compilers() const { return compilers_; }
  const DeviceInfo &device() const { return pool_.front().runner->device(); }
  const ExtractionResult &extraction() const { return extraction_; }
  std::vector<TuneSubject> &subjects() { return subjects_; }
  const std::vector<LeftOutKernel> &leftOut() const { return leftOut_; }
  double extractSeconds() const { return extractSeconds_; } ///< that reading the sources took
  const std::filesystem::path &scratch() const { return scratch_->path(); }

  /// Reads a candidate's file with the flags of the baseline. Where those name no GPU to build for,
  /// and the file uses what nvcc's default does not have, it is read for `arch` (empty: the
  /// device's). Host code that it changes is found, too. Fails as readCandidateFile() and
  /// Frontend::hostText().
  Result<CandidateFile> readCandidate(const std::filesystem::path &file, const std::string &arch);

  /// `folder` is a name for its scratch folder.
  Result<std::unique_ptr<Judge>> makeJudge(const TuneSubject &subject, const Workload &workload,
                                           JudgeOptions options, const std::string &folder);

private:
  Workbench(Services services, SourceSettings sources)
      : services_(std::move(services)), sources_(std::move(sources)) {}

  Status readSources(const SelectionRequest &selection, const PlanKernels &planKernels);
  Status makeSubjects(const KernelPlan &plan);
  Result<ExtractionResult> extract(Frontend &reader, const KernelPlan &plan,
                                   const ExtractionResult &found);
  Status tellOfRoutes();
  Status readHostCode(CandidateFile &file);
  Result<HostText> hostTextOf(const KernelSpec &kernel, const std::filesystem::path &file);
  Status openDevices(const DeviceConfig &config, const std::vector<int> &gpus);
  Result<std::unique_ptr<Runner>> openEmulated();
  RunnerHooks hooks();

  Services services_;
  SourceSettings sources_;
  Sandbox sandbox_;
  CompilerSandbox compilers_;
  std::optional<TemporaryDirectory> scratch_; ///< outlives the runner, which writes there
  std::unique_ptr<Frontend> frontend_;
  std::vector<PooledRunner> pool_; ///< at least one
  std::unique_ptr<Toolchain> toolchain_;
  std::unique_ptr<Toolchain> emulator_; ///< of the emulated devices beside a GPU
  std::optional<CodeCounter> code_;     ///< of cubins
  std::atomic<unsigned> emulated_ = 0;  ///< emulated devices opened beside GPUs
  unsigned candidates_ = 0;             ///< files that were read
  ExtractionResult extraction_;
  std::vector<TuneSubject> subjects_;
  bool leavesOut_ = false; ///< as KernelPlan::leaveOut
  std::vector<LeftOutKernel> leftOut_;
  double extractSeconds_ = 0;
  /// A text that is made to be slow to compile takes a multiple of the user's own file, which may
  /// have come from the cache.
  RelativeDeadline candidateDeadline_{Duration(60), Duration(300), 20};
  std::map<std::string, HostText> hostTexts_; ///< of the user's files, by path
};

} // namespace kopt
