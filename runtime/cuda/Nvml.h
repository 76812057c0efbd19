// SPDX-License-Identifier: Apache-2.0
// What NVML reports about one GPU, for the record and to judge whether a measurement was disturbed.
// Nothing here changes a setting. Functions and numbers are those of nvml.h, found in
// libnvidia-ml.so.1 at run time.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kopt::runtime::cuda {

/// A process with a CUDA context on the GPU. Drivers report process ids of the host's namespace,
/// whatever the namespace of the caller.
struct GpuProcess {
  unsigned pid = 0;
  unsigned instance = ~0u; ///< GPU instance, if MIG is on; else all ones
};

/// How much a process used the GPU shortly before a moment. The driver takes at most a few such
/// samples a second.
struct GpuLoad {
  unsigned pid = 0;
  unsigned long long microseconds = 0; ///< of the driver's clock; only differences have a meaning
  /// Percentage of the time in which the process had work on the multiprocessors.
  unsigned percent = 0;
};

class Nvml {
public:
  /// `pciBusId` as cuDeviceGetPCIBusId prints it. Without NVML, every function reports that the
  /// value is unknown.
  explicit Nvml(const std::string &pciBusId);
  ~Nvml();
  Nvml(const Nvml &) = delete;
  Nvml &operator=(const Nvml &) = delete;

  /// Current SM clock in MHz; 0: unknown.
  unsigned smClockMHz() const;
  /// Reasons for reduced clocks that spoil a measurement: hw-slowdown, sw-thermal, hw-thermal,
  /// power-brake. A power limit that caps the clocks of a busy GPU is its normal state and is not
  /// reported.
  std::vector<std::string> throttleReasons() const;
  /// Known facts by name: driver_version, max_sm_clock_mhz, power_limit_w, temperature_c, ecc, mig,
  /// persistence (on, off), compute_processes.
  std::map<std::string, std::string> facts() const;

  /// Nothing if they are unknown.
  std::optional<std::vector<GpuProcess>> computeProcesses() const;
  /// The samples of the last seconds that the driver keeps. Nothing if it does not provide them
  /// (MIG, virtual GPUs).
  std::optional<std::vector<GpuLoad>> loads() const;

private:
  template <class Signature> Signature *find(const char *name) const;
  /// Calls an NVML getter of one unsigned value. False if the value is unknown.
  bool get(const char *name, unsigned &value) const;
  bool getOf(const char *name, int which, unsigned &value) const;

  void *library_ = nullptr;
  void *device_ = nullptr;
};

} // namespace kopt::runtime::cuda
