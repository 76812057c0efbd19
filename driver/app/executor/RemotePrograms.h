// SPDX-License-Identifier: Apache-2.0
// Programs of the host of a worker.
#pragma once

#include "driver/app/executor/ProgramMessages.h"
#include "driver/device/worker/Worker.h"

namespace kopt {

/// The root of the project, absolute, here and on the hosts.
struct ProjectPlace {
  std::filesystem::path here, there;
};

/// Asks the first worker that is left. One that is lost meanwhile is started and asked again.
class RemotePrograms final : public ProgramHost {
public:
  /// The workers must outlive it.
  RemotePrograms(std::vector<Worker *> workers, ProjectPlace place)
      : workers_(std::move(workers)), place_(std::move(place)) {}

  Result<std::uint64_t> snapshotBytes(const TraceSettings &limits,
                                      const std::filesystem::path &folder) override;
  Result<std::string> identityOf(const std::vector<std::string> &command) override;
  Result<ObservedTrace> observe(const std::vector<std::string> &command,
                                const std::vector<SnapshotOrder> &orders,
                                const TraceSettings &limits, const std::filesystem::path &folder,
                                ProgramRun &run) override;
  bool holds(const std::filesystem::path &trace) override;
  Result<BuildWay> findBuildWay(BuildWayRequest request) override;
  Result<std::unique_ptr<ProgramPair>>
  open(ProgramRequest request, const std::filesystem::path &scratch, TakeSeconds ran) override;

  struct Message {
    const char *method = "";
    nlohmann::json about;
    bool hasPaths = true; ///< as they are here
  };
  /// One start of a worker.
  struct Start {
    std::string worker;
    unsigned number = 0;
    std::string host;
    bool operator==(const Start &) const = default;
  };
  /// Asks, after `before` if this start of the worker was not asked that yet; `start` says which
  /// was. Errors name the worker.
  Result<nlohmann::json> ask(const Message &message, const std::vector<Message> &before = {},
                             Start *start = nullptr);
  /// Copies a file that the worker keeps.
  Status fetch(const WorkerFile &file, const std::filesystem::path &to);

private:
  template <class Record> Result<Record> askFor(const char *method, nlohmann::json about) {
    KOPT_TRY(const nlohmann::json answer, ask({method, std::move(about)}));
    return fromJson<Record>(answer);
  }

  std::vector<Worker *> workers_;
  ProjectPlace place_;
};

} // namespace kopt
