// SPDX-License-Identifier: Apache-2.0
// A `kopt worker` elsewhere, and what it is asked. The protocol is in README.md.
#pragma once

#include "driver/model/Json.h"
#include "driver/sandbox/Sandbox.h"
#include "driver/support/Process.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace kopt {

/// What a worker says first.
struct WorkerHello {
  std::string version; ///< of kopt
  std::string host;
  std::string gpu; ///< as PooledRunner::name
  DeviceInfo device;
  std::string toolchain; ///< as Toolchain::name()
  std::vector<SandboxLayer> sandbox;
};
KOPT_FIELDS(WorkerHello, version, host, gpu, device, toolchain, sandbox)

/// An Error, as a message has it.
struct WorkerError {
  int code = 0;
  std::string what, where, hint;
  std::vector<std::string> context;

  static WorkerError of(const Error &error) {
    return {int(error.code), error.what, error.where, error.hint, error.context};
  }
  Error error() const { return {ErrorCode(code), what, where, hint, context}; }
};
KOPT_FIELDS(WorkerError, code, what, where, hint, context)

/// A file that a worker must have, by its content.
struct WorkerFile {
  std::string path; ///< absolute, on this machine
  std::string digest;
  std::uint64_t bytes = 0;
};
KOPT_FIELDS(WorkerFile, path, digest, bytes)

/// The bytes of a file from byte `at` on, or some of them.
struct FilePart {
  std::string digest;
  std::uint64_t at = 0, size = 0; ///< size: of the file
  std::string bytes;
};
KOPT_FIELDS(FilePart, digest, at, size, bytes)

/// What asks a worker which of the files it does not have.
nlohmann::json digestsOf(const std::vector<WorkerFile> &files);

/// How a worker is started, and what it is called in messages.
struct WorkerCommand {
  /// Asked anew for each start; may wait until `stop` says otherwise, and fail with Environment.
  std::function<Result<std::vector<std::string>>(const std::function<bool()> &stop)> argv;
  std::string name; ///< "gpu1", "Slurm task 3"
};

/// Used by one thread at a time, which must be the one that started it.
class WorkerLink {
public:
  using Tell = std::function<void(const std::string &)>;

  /// Starts the worker and waits for its greeting. `tell` is given what the worker says to the
  /// user. Fails with Environment, with the last words of its standard error, if it does not come
  /// up within `patience` or is another version of kopt.
  static Result<std::unique_ptr<WorkerLink>> start(ProcessRunner &processes,
                                                   std::vector<std::string> argv, std::string name,
                                                   Tell tell, Duration patience);

  const WorkerHello &hello() const { return hello_; }
  const std::string &name() const { return name_; }
  /// True once a request failed because the worker, its link or its device is gone. Everything else
  /// that a request fails with is the worker's own answer.
  bool isLost() const { return isLost_; }

  /// Asks, and waits for the answer as long as the worker shows that it is alive.
  Result<nlohmann::json> ask(const std::string &method, nlohmann::json params);
  /// As ask(), and reads the answer as a record.
  template <class Record> Result<Record> askFor(const std::string &method, nlohmann::json params) {
    KOPT_TRY(const nlohmann::json answer, ask(method, std::move(params)));
    return fromJson<Record>(answer);
  }
  /// Sends the worker those of these files that its host does not have yet. Fails also with
  /// StaleInput if a file is not what its digest says.
  Status give(const std::vector<WorkerFile> &files);

private:
  WorkerLink(std::unique_ptr<InteractiveProcess> process, std::string name, Tell tell)
      : process_(std::move(process)), name_(std::move(name)), tell_(std::move(tell)) {}
  Result<nlohmann::json> next(Duration silence);
  Result<nlohmann::json> answer();
  tl::unexpected<Error> lost(const std::string &why);

  std::unique_ptr<InteractiveProcess> process_;
  std::string name_;
  Tell tell_;
  WorkerHello hello_;
  std::uint64_t asked_ = 0;
  bool isLost_ = false;
};

} // namespace kopt
