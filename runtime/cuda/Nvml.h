// SPDX-License-Identifier: Apache-2.0
// What NVML says of one GPU, for the record and for doubts about a measurement: nothing here
// changes a setting. Functions and numbers are those of nvml.h, found in libnvidia-ml.so.1 at run
// time.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kopt::runtime::cuda {

/// A process with a CUDA context on the GPU. Drivers give its id as the host counts, whatever the
/// namespace of who asks.
struct GpuProcess {
  unsigned pid = 0;
  unsigned instance = ~0u; ///< of the GPU, where MIG is on; else all ones
};

/// That a process computed for a while before a moment. The driver takes a few such samples a
/// second at most.
struct GpuLoad {
  unsigned pid = 0;
  unsigned long long microseconds = 0; ///< of the driver's clock: only differences mean anything
  unsigned percent = 0; ///< of the time that something of it was on the multiprocessors
};

class Nvml {
public:
  /// `pciBusId` as cuDeviceGetPCIBusId prints it. Without NVML every answer is "unknown".
  explicit Nvml(const std::string &pciBusId);
  ~Nvml();
  Nvml(const Nvml &) = delete;
  Nvml &operator=(const Nvml &) = delete;

  /// MHz now, 0 where unknown.
  unsigned smClockMHz() const;
  /// Why the clocks are lower than they could be, where that spoils a measurement: hw-slowdown,
  /// sw-thermal, hw-thermal, power-brake. A power limit that caps the clocks of a busy GPU is its
  /// ordinary state and is not named.
  std::vector<std::string> throttleReasons() const;
  /// By name, what is known: driver_version, max_sm_clock_mhz, power_limit_w, temperature_c, ecc,
  /// mig, persistence (on, off), compute_processes.
  std::map<std::string, std::string> facts() const;

  /// Nothing where it is unknown.
  std::optional<std::vector<GpuProcess>> computeProcesses() const;
  /// What the driver's buffer holds of the last seconds; nothing where it does not say (MIG,
  /// virtual GPUs).
  std::optional<std::vector<GpuLoad>> loads() const;

private:
  template <class Signature> Signature *find(const char *name) const;
  /// The value that a getter of one unsigned fills in; false where it is unknown.
  bool get(const char *name, unsigned &value) const;
  bool getOf(const char *name, int which, unsigned &value) const;

  void *library_ = nullptr;
  void *device_ = nullptr;
};

} // namespace kopt::runtime::cuda
