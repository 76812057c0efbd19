// SPDX-License-Identifier: Apache-2.0
// Judges on the devices of this machine.
#pragma once

#include "driver/app/executor/Executor.h"
#include "driver/app/executor/OpenDevices.h"
#include "driver/device/sass/CodeCounter.h"

#include <atomic>
#include <optional>

namespace kopt {

class LocalExecutor final : public Executor {
public:
  /// Opens devices as openDevices() does. `scratch` and `contained` must outlive it.
  static Result<std::unique_ptr<LocalExecutor>>
  open(const Services &services, const DeviceConfig &config, const std::vector<int> &gpus,
       const std::filesystem::path &scratch, const Contained &contained, std::int64_t buildCache);

  Frontend &frontend() { return *contained_.frontend; }
  Runner &runner() { return devices_.runner(); }
  const std::vector<PooledRunner> &pool() const { return devices_.pool; }
  Toolchain &compiler() { return *devices_.toolchain; }

  const DeviceInfo &device() const override { return devices_.device(); }
  std::vector<std::string> gpus() const override;
  std::string toolchain() const override { return devices_.toolchain->name(); }
  const std::vector<SandboxLayer> &layers() const override { return contained_.sandbox.layers(); }
  BuildCache::Counts builds() const override { return devices_.builds->counts(); }
  Result<MeasuredRates> measureRates() override;
  Result<std::unique_ptr<Judge>> makeJudge(Subject subject, JudgeOptions options,
                                           const std::string &folder,
                                           std::function<double()> secondsLeft) override {
    return makeJudge(std::move(subject), std::move(options), folder, std::move(secondsLeft), true);
  }
  /// `findsDuplicates` is as JudgeServices has it.
  Result<std::unique_ptr<Judge>> makeJudge(Subject subject, JudgeOptions options,
                                           const std::string &folder,
                                           std::function<double()> secondsLeft,
                                           bool findsDuplicates);

private:
  LocalExecutor(const Services &services, std::filesystem::path scratch, const Contained &contained)
      : services_(services), scratch_(std::move(scratch)), contained_(contained) {}

  Services services_;
  std::filesystem::path scratch_;
  const Contained &contained_;
  OpenDevices devices_;
  std::optional<CodeCounter> code_;    ///< of cubins
  std::atomic<unsigned> emulated_ = 0; ///< emulated devices opened in addition to GPUs
};

} // namespace kopt
