// SPDX-License-Identifier: Apache-2.0
// The one interface over a place that runs kernels. The runner never sees expected results; outputs
// come back as files that the judge compares. Protocol: runtime/runner/README.md.
#pragma once

#include "driver/model/Device.h"
#include "driver/support/Result.h"

namespace kopt {

class Runner {
public:
  virtual ~Runner() = default;
  virtual const DeviceInfo &device() const = 0;
  /// Loads a cubin (cuda) or an emulated module (.so) and finds its kernel: `symbol`, or the only
  /// one if empty. Fails with BaselineFailed where the module itself is at fault (refused by the
  /// device, crashes the runner).
  virtual Result<ModuleInfo> load(const std::filesystem::path &module,
                                  const std::string &symbol) = 0;
  virtual void unload(ModuleId module) = 0;
  /// A candidate's failure is a status in the outcome. An Error is kopt's or the machine's:
  /// Environment, Internal. The files of an outcome last until the next run() or time() into the
  /// same slot.
  virtual Result<RunOutcome> run(ModuleId module, const Launch &launch,
                                 const RunOptions &options) = 0;
  virtual Result<TimingOutcome> time(ModuleId a, const Launch &launchA, ModuleId b,
                                     const Launch &launchB, const TimeOptions &options) = 0;
  /// Counters of one launch: the emulated device's own; a GPU's through CUPTI, else Nsight Compute,
  /// or, where neither may count, what the driver knows of the kernel, with the reason and its
  /// remedy in `detail` the first time.
  virtual Result<ProfileOutcome> profile(ModuleId module, const Launch &launch,
                                         const RunOptions &options) = 0;
  /// One launch under each of these tools of compute-sanitizer (memcheck, racecheck, initcheck,
  /// synccheck), each in a separate process, all at once. As many reports as tools.
  virtual Result<std::vector<SanitizerReport>>
  sanitize(ModuleId, const Launch &, const std::vector<std::string> &tools, const RunOptions &) {
    return std::vector<SanitizerReport>(
        tools.size(), {false, 0, "compute-sanitizer does not support this device"});
  }
  /// One launch under Nsight Compute, in a separate process: these sections, or the set "detailed"
  /// if none is named, and its source counters.
  virtual Result<NcuReport> inspect(ModuleId, const Launch &,
                                    const std::vector<std::string> & /*sections*/,
                                    const RunOptions &) {
    return NcuReport{false, "Nsight Compute (ncu) watches GPUs, not this device", {}, {}, {}};
  }
  /// True where the runner had to be restarted since the last call of this. Module ids stay valid:
  /// modules are loaded again when they are next used.
  virtual bool restarted() = 0;
  /// The next call finds a fresh process: what code and memory lie at by chance is drawn anew.
  /// Module ids stay valid.
  virtual void renew() {}
  /// So many fresh processes will be wanted soon: they are started, and get ready, while this one
  /// runs on. None of them does anything while a launch is timed.
  virtual void prepareRenewals(unsigned /*processes*/) {}
  /// Why the device is not used any more (a quarantine, a process that cannot be started); empty:
  /// it is. Calls fail with Environment then.
  virtual std::string lost() const { return {}; }
  /// What went wrong without being a candidate's failure since this was last called.
  virtual std::vector<Incident> takeIncidents() { return {}; }
};

} // namespace kopt
