// SPDX-License-Identifier: Apache-2.0
// Judges on other machines, by workers there.
#pragma once

#include "driver/app/executor/Executor.h"
#include "driver/app/executor/Hosts.h"
#include "driver/device/worker/Worker.h"

#include <filesystem>

namespace kopt {

class RemoteExecutor final : public Executor {
public:
  /// Starts all workers, and goes on with those that come up, if their devices are of one kind.
  /// Fails with Usage if the kinds differ, and with Environment if none comes up.
  static Result<std::unique_ptr<RemoteExecutor>> open(const Services &services,
                                                      const HostSettings &settings);

  /// What compilations may read besides the toolkit. To be called before makeJudge().
  void useFiles(std::vector<std::filesystem::path> files) { files_ = std::move(files); }

  const DeviceInfo &device() const override { return hello_.device; }
  std::vector<std::string> gpus() const override { return gpus_; }
  std::string toolchain() const override { return hello_.toolchain; }
  const std::vector<SandboxLayer> &layers() const override { return hello_.sandbox; }
  Result<MeasuredRates> measureRates() override;
  Result<std::unique_ptr<Judge>> makeJudge(Subject subject, JudgeOptions options,
                                           const std::string &folder,
                                           std::function<double()> secondsLeft) override;

private:
  explicit RemoteExecutor(const Services &services) : services_(services) {}
  Result<std::vector<WorkerFile>> filesOf(const Subject &subject) const;

  Services services_;
  std::vector<std::unique_ptr<Worker>> workers_;
  WorkerHello hello_; ///< of the first one
  std::vector<std::string> gpus_;
  std::vector<std::filesystem::path> files_;
};

} // namespace kopt
