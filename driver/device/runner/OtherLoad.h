// SPDX-License-Identifier: Apache-2.0
// Whether others compute on a GPU while it is timed. kopt itself looks: the runner's sandbox has
// different process ids.
#pragma once

#include "runtime/cuda/Nvml.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kopt {

/// What the driver says of one GPU. A seam: tests have their own.
class GpuActivity {
public:
  virtual ~GpuActivity() = default;
  virtual std::optional<std::vector<runtime::cuda::GpuProcess>>
  processes() const = 0; ///< nothing: unknown
  virtual std::optional<std::vector<runtime::cuda::GpuLoad>>
  loads() const = 0; ///< nothing: unknown
};

/// NVML's, of the GPU with that PCI address; without NVML all is unknown.
std::unique_ptr<GpuActivity> makeGpuActivity(const std::string &pciBusId);

class OtherLoad {
public:
  explicit OtherLoad(std::unique_ptr<GpuActivity> activity, std::filesystem::path proc = "/proc")
      : activity_(std::move(activity)), proc_(std::move(proc)) {}

  /// Why the others on the GPU cannot be known here; empty: they can. `own` processes of this kopt
  /// hold the GPU.
  std::string blindness(unsigned own) const;

  /// Right before what must not be disturbed; and after each start of a process of ours, which is
  /// known by its id then, even once it has ended.
  void begin();
  /// Right after it: who computed meanwhile, in words. A process counts that holds the GPU and was
  /// seen computing in the last second and a half that anybody was; where the driver does not say
  /// who computes, each that holds it. Other kopt-runners do not: the device's lock keeps them off.
  /// Who comes and goes between two of the driver's samples (a few a second at most) is not seen.
  std::vector<std::string> end(unsigned own);

private:
  using Processes = std::vector<runtime::cuda::GpuProcess>;
  bool isOurs(unsigned pid) const;
  bool knowsOurs(const Processes &processes) const;
  std::string nameOf(unsigned pid) const;

  std::unique_ptr<GpuActivity> activity_;
  std::filesystem::path proc_;
  Processes before_;
  std::set<unsigned> ours_; ///< that were met on the GPU
};

} // namespace kopt
