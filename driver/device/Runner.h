// SPDX-License-Identifier: Apache-2.0
// The interface to whatever runs kernels. The runner never sees expected results; outputs come back
// as files that the judge compares. Protocol: runtime/runner/README.md.
#pragma once

#include "driver/model/Device.h"
#include "driver/support/Result.h"

#include <future>

namespace kopt {

class Runner {
public:
  virtual ~Runner() = default;
  virtual const DeviceInfo &device() const = 0;
  /// Loads a cubin (cuda) or an emulated module (.so) and finds its kernel: `symbol`, or the only
  /// one if empty. Fails with BaselineFailed if the module itself is at fault (the device refuses
  /// it, or it crashes the runner).
  virtual Result<ModuleInfo> load(const std::filesystem::path &module,
                                  const std::string &symbol) = 0;
  virtual void unload(ModuleId module) = 0;
  /// Runs one launch. A candidate's failure is a status in the outcome; an Error is kopt's or the
  /// machine's fault (Environment, Internal). The files of an outcome are valid until the next
  /// run() or time() with the same slot.
  virtual Result<RunOutcome> run(ModuleId module, const Launch &launch,
                                 const RunOptions &options) = 0;
  virtual Result<TimingOutcome> time(ModuleId a, const Launch &launchA, ModuleId b,
                                     const Launch &launchB, const TimeOptions &options) = 0;
  /// Takes the counters of one launch: the emulated device's own; on a GPU through CUPTI, or else
  /// Nsight Compute. If neither can count, returns only what the driver knows about the kernel,
  /// with the reason and its remedy in `detail` the first time.
  virtual Result<ProfileOutcome> profile(ModuleId module, const Launch &launch,
                                         const RunOptions &options) = 0;
  /// Starts what profile() needs beside the device, without waiting for it.
  virtual void prepareProfile() {}
  using SanitizerReports = Result<std::vector<SanitizerReport>>; ///< one report for each tool
  /// Begins to run one launch under each of these tools of compute-sanitizer (memcheck, racecheck,
  /// initcheck, synccheck), each in a separate process, all at the same time. The runner's other
  /// calls may go on meanwhile, but a launch that is timed would be disturbed. The future's
  /// destructor waits.
  virtual std::future<SanitizerReports>
  sanitize(ModuleId, const Launch &, const std::vector<std::string> &tools, const RunOptions &) {
    return readily(std::vector<SanitizerReport>(
        tools.size(), {false, 0, 0, "compute-sanitizer does not support this device"}));
  }
  /// Runs one launch under Nsight Compute, in a separate process, with these sections, or with the
  /// set "detailed" if none is named, and always with source counters.
  virtual Result<NcuReport> inspect(ModuleId, const Launch &,
                                    const std::vector<std::string> & /*sections*/,
                                    const RunOptions &) {
    return NcuReport{false, "Nsight Compute (ncu) does not support this device", {}, {}, {}};
  }
  /// Measures what the device reaches, which takes about 0.1 s: as much of it as can be measured.
  /// Fails with Environment if the device is lost.
  virtual Result<MeasuredRates> measureRates() {
    return MeasuredRates{0, 0, 0, 0, "all rates: this device measures none"};
  }
  /// Makes the next call use a fresh process, in which code and memory are laid out anew. Module
  /// ids stay valid.
  virtual void renew() {}
  /// Starts `processes` fresh processes for the next calls of renew(). They get ready while the
  /// current one goes on, but are idle while a launch is timed.
  virtual void prepareRenewals(unsigned /*processes*/) {}
  /// Why the device is no longer used (a quarantine, a process that cannot be started); empty if it
  /// is in use. If not empty, calls fail with Environment.
  virtual std::string lost() const { return {}; }
  /// A future that has its value.
  static std::future<SanitizerReports> readily(SanitizerReports reports) {
    std::promise<SanitizerReports> promise;
    promise.set_value(std::move(reports));
    return promise.get_future();
  }
  /// The incidents since the last call: faults that are not a candidate's failure.
  virtual std::vector<Incident> takeIncidents() { return {}; }
};

} // namespace kopt
