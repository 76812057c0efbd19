// SPDX-License-Identifier: Apache-2.0
// Finds out whether other processes compute on a GPU while something is timed. kopt itself does
// this, because process ids differ inside the runner's sandbox.
#pragma once

#include "runtime/cuda/Nvml.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kopt {

/// What the driver reports about one GPU. An interface, so that tests can replace it.
class GpuActivity {
public:
  virtual ~GpuActivity() = default;
  virtual std::optional<std::vector<runtime::cuda::GpuProcess>>
  processes() const = 0; ///< nothing: unknown
  virtual std::optional<std::vector<runtime::cuda::GpuLoad>>
  loads() const = 0; ///< nothing: unknown
};

/// The activity of the GPU with that PCI address, from NVML; without NVML everything is unknown.
std::unique_ptr<GpuActivity> makeGpuActivity(const std::string &pciBusId);

class OtherLoad {
public:
  explicit OtherLoad(std::unique_ptr<GpuActivity> activity, std::filesystem::path proc = "/proc")
      : activity_(std::move(activity)), proc_(std::move(proc)) {}

  /// Why other processes on the GPU cannot be seen here; empty if they can. `own` is the number of
  /// this kopt's processes that hold the GPU.
  std::string blindness(unsigned own) const;

  /// Call it right before a measurement, and after each start of one of kopt's processes, so that
  /// its id is known even after it has ended.
  void begin();
  /// Call it right after the measurement: returns which other processes computed meanwhile, in
  /// words. A process counts if it holds the GPU and one of its samples in the last 1.5 seconds
  /// shows it computing; if the driver does not report who computes, each process that holds the
  /// GPU counts. Other kopt-runners do not count, because the device's lock makes them wait. A
  /// process that comes and goes between two of the driver's samples (a few each second at most) is
  /// missed.
  std::vector<std::string> end(unsigned own);

private:
  using Processes = std::vector<runtime::cuda::GpuProcess>;
  bool isOurs(unsigned pid) const;
  bool knowsOurs(const Processes &processes) const;
  std::string nameOf(unsigned pid) const;

  std::unique_ptr<GpuActivity> activity_;
  std::filesystem::path proc_;
  Processes before_;
  std::set<unsigned> ours_; ///< our processes that were seen on the GPU
};

} // namespace kopt
