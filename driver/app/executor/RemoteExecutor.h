// SPDX-License-Identifier: Apache-2.0
// Judges on other machines, by workers there.
#pragma once

#include "driver/app/executor/Executor.h"
#include "driver/app/executor/Hosts.h"
#include "driver/app/executor/RemotePrograms.h"
#include "driver/app/executor/VersionsTask.h"

#include <filesystem>
#include <map>

namespace kopt {

class RemoteExecutor final : public Executor {
public:
  /// Starts all workers, and goes on with those that come up. Their devices are of one kind, or of
  /// HostSettings::archs, the first of which is this executor's. Fails with Usage if the kinds
  /// differ otherwise, and with Environment if none comes up.
  static Result<std::unique_ptr<RemoteExecutor>> open(const Services &services,
                                                      const HostSettings &settings);

  /// What compilations may read besides the toolkit. To be called before makeJudge().
  void useFiles(const std::vector<std::filesystem::path> &files);
  std::vector<Executor *> otherKinds() override;

  /// The programs of the first worker's host, in `root` or what the settings name in its place. The
  /// executor must outlive it.
  std::unique_ptr<ProgramHost> programs(const std::filesystem::path &root) const;

  /// As VersionBench::compare(), by the first worker that is left.
  Status compareVersions(const TuneSubject &base, const TuneSubject &head, bool sameLaunches,
                         const JudgeOptions &options, GateKernel &kernel);

  const DeviceInfo &device() const override { return hello_.device; }
  std::vector<std::string> gpus() const override { return gpus_; }
  std::string toolchain() const override { return hello_.toolchain; }
  const std::vector<SandboxLayer> &layers() const override { return hello_.sandbox; }
  Result<MeasuredRates> measureRates() override;
  Duration queued() const override { return allocation_ ? allocation_->waited() : Duration(); }
  Result<std::unique_ptr<Judge>> makeJudge(Subject subject, JudgeOptions options,
                                           const std::string &folder,
                                           std::function<double()> secondsLeft) override;

private:
  RemoteExecutor(const Services &services, std::string folder)
      : services_(services), folder_(std::move(folder)) {}
  /// Shares out workers by kind; the first of `archs` becomes this executor's. Fails with Usage.
  Status useWorkers(std::vector<std::unique_ptr<Worker>> workers,
                    const std::vector<WorkerHello> &hellos, const std::vector<std::string> &archs);
  std::vector<Worker *> workers() const;
  Result<std::vector<WorkerFile>> filesOf(const Subject &subject);
  Result<JudgeTask> taskOf(Subject subject, JudgeOptions options);
  Result<WorkerFile> fileOf(const std::string &path);
  /// Brings contents that are where the program ran here, if another host needs them.
  Status bring(const std::vector<WorkerFile> &files);

  Services services_;
  std::string folder_; ///< HostSettings::folder
  std::shared_ptr<Allocation> allocation_;
  std::vector<std::unique_ptr<Worker>> workers_;
  WorkerHello hello_; ///< of the first one
  std::vector<std::string> gpus_;
  std::vector<std::filesystem::path> files_;
  std::map<std::string, WorkerFile> known_; ///< by path
  std::vector<std::unique_ptr<RemoteExecutor>> others_;
  std::vector<Worker *> holders_; ///< the first has contents of launches; empty: an own one
};

} // namespace kopt
