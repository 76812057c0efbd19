// SPDX-License-Identifier: Apache-2.0
// Measures the call of cuBLAS or CUB that computes what a kernel's heaviest launch does, as the
// time that the kernel can be compared with. Nothing is said of a call whose output is not that of
// the kernel.
#pragma once

#include "driver/app/library/LibraryCall.h"
#include "driver/device/CudaToolkit.h"
#include "driver/device/Toolchain.h"
#include "driver/device/runner/RunnerPool.h"
#include "driver/model/SlicedKernel.h"
#include "driver/model/Trial.h"

#include <future>
#include <memory>
#include <optional>
#include <string>

namespace kopt {

struct LibraryTools {
  const PooledRunner &device;
  Toolchain &toolchain;
  ProcessRunner &processes;
  const CudaToolkit &cuda;
  std::filesystem::path scratch; ///< a folder for what is built
};

/// The time of a call, as a program of knowledge/libraries prints it.
struct LibraryTime {
  double seconds = 0, low = 0, high = 0; ///< the median and its 95% interval
  std::size_t samples = 0;
};
KOPT_FIELDS(LibraryTime, seconds, low, high, samples)
struct LibraryTimes {
  LibraryTime warm, cold; ///< by the state of L2
};
KOPT_FIELDS(LibraryTimes, warm, cold)

class LibraryRoof {
public:
  /// The id of the finding in a trial's diagnosis.
  static constexpr const char *kId = "library-call";

  LibraryRoof(LibraryTools tools, const SlicedKernel &kernel)
      : tools_(std::move(tools)), kernel_(kernel) {}

  /// Runs the heaviest launch, looks for a call that computes the same, and begins to compile it.
  void recognise(const Workload &workload);
  /// Adds to the diagnosis of a trial how the call compares with it, if its output is the same, and
  /// that at least as much is left. For that the call is made once, when the baseline comes: waits
  /// a while for the compiler, and compares what the call writes with what the kernel writes, as
  /// the judge compares. `workload` is as the baseline's measurement left it. A trial of the search
  /// without counters gets nothing, as it stands for what is known of its parent.
  void finish(Trial &trial, const Workload &workload);
  /// Why there is nothing to tell; empty: there is.
  const std::string &why() const { return why_; }

private:
  /// The files of a launch's buffers.
  struct Seen {
    std::vector<std::filesystem::path> before, after;
  };
  Result<ModuleId> load(const std::string &name, BuildRequest request);
  Result<RunOutcome> idle(Launch launch, const char *slot);
  /// What the kernel finds, and what it leaves.
  Result<Seen> look(const Launch &launch);
  Result<std::optional<LibraryCall>> find(const Launch &launch);
  Status recogniseLaunch(Launch launch);
  Status notBuilt(const std::string &why) const;
  Status compile() const;
  Status measure(const Workload &workload);
  /// Runs a step on the device's thread, keeps why it failed, and gives memory back.
  void onDevice(const Workload &workload, const std::function<Status()> &step);

  LibraryTools tools_;
  const SlicedKernel &kernel_;
  std::size_t launch_ = 0;            ///< of the workload's
  ModuleId module_ = 0, nothing_ = 0; ///< the kernel, and one that does nothing
  std::optional<LibraryCall> call_;
  std::string launchName_;
  std::optional<LibraryTimes> times_;
  std::string why_;
  std::future<Status> compiled_; ///< last, as it uses the others
};

} // namespace kopt
