// SPDX-License-Identifier: Apache-2.0
// The part of `kopt worker` that runs the user's program.
#pragma once

#include "driver/app/executor/FileKeep.h"
#include "driver/app/executor/ProgramMessages.h"
#include "driver/app/programs/LocalPrograms.h"

namespace kopt {

class ServePrograms {
public:
  /// `scratch` is a folder for traces and copies; all three must outlive it.
  ServePrograms(const Services &services, std::filesystem::path scratch, FileKeep &keep)
      : processes_(services.processes, services.interrupted),
        programs_({processes_, services.clock, services.terminal, services.installation,
                   services.interrupted}),
        scratch_(std::move(scratch)), keep_(keep) {}

  /// Answers a request of RemotePrograms, in its folder. Fails with Environment if that is missing,
  /// and as ProgramHost and ProgramPair do.
  Result<nlohmann::json> answer(const std::string &method, const nlohmann::json &params);

private:
  Result<nlohmann::json> observe(const ObserveRequest &request);
  Result<nlohmann::json> build(const ProgramsToBuild &request);

  /// Ends what it runs when the worker is to end.
  class StoppedProcesses final : public ProcessRunner {
  public:
    StoppedProcesses(ProcessRunner &inner, const std::atomic<bool> *stop)
        : inner_(inner), stop_(stop) {}
    Result<ProcessResult> run(const ProcessSpec &spec) override;
    Result<std::unique_ptr<InteractiveProcess>> start(const ProcessSpec &spec) override {
      return inner_.start(spec);
    }

  private:
    ProcessRunner &inner_;
    const std::atomic<bool> *stop_;
  };

  StoppedProcesses processes_;
  LocalPrograms programs_;
  std::filesystem::path scratch_;
  FileKeep &keep_;
  std::unique_ptr<ProgramPair> pair_; ///< the one that was opened last
};

} // namespace kopt
