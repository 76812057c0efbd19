// SPDX-License-Identifier: Apache-2.0
// The kopt-runner process: starts it in its sandbox, sends requests, watches and kills it.
// Classifies each failure as caused by the candidate, by the machine, or ambiguous.
#pragma once

#include "driver/model/Device.h"
#include "driver/sandbox/Sandbox.h"
#include "runtime/runner/Protocol.h"

#include <deque>
#include <memory>
#include <optional>
#include <random>

namespace kopt {

/// The outcome of one request. `message` is the reply, if there was one.
struct RunnerReply {
  RunStatus status = RunStatus::Ok; ///< TimedOut, Crashed, or the status in the reply
  std::string detail;
  runtime::protocol::Message message;
  FaultClass fault = FaultClass::None; ///< the cause of a status other than Ok
};

class RunnerProcess {
public:
  RunnerProcess(ProcessRunner &processes, std::vector<std::string> command, Sandbox sandbox,
                SandboxPolicy policy, std::map<std::string, std::string> environment = {})
      : processes_(processes), command_(std::move(command)), sandbox_(std::move(sandbox)),
        policy_(std::move(policy)), environment_(std::move(environment)) {}

  const std::vector<std::string> &command() const { return command_; }

  /// Starts a process and sends it the request `hello` with `descriptors`. Fails with Environment
  /// if no process starts or no device answers, also at the second attempt.
  Result<RunnerReply> start(const runtime::protocol::Message &hello,
                            const std::vector<int> &descriptors);
  /// Starts processes until `processes` are waiting to be used, and sends hello without waiting for
  /// the replies. If one cannot be started, or its reply is not Ok, start() starts another.
  void startAhead(unsigned processes, const runtime::protocol::Message &hello,
                  const std::vector<int> &descriptors);
  /// Waits until the processes that were started ahead are ready and idle.
  void awaitAhead();
  /// The number of processes that were started ahead.
  unsigned ahead() const { return unsigned(ahead_.size()); }
  void stopAhead() { ahead_.clear(); }
  /// The number of processes used so far. A module is loaded in one of them.
  unsigned generation() const { return generation_; }

  /// True if a process runs that can take a request. A process that has died since its last
  /// request, or has written something unrequested, is ended here, so that the next candidate is
  /// not blamed.
  bool ready();
  /// Sends a request to the process, which must be ready(). Fails with Environment if there is no
  /// device, and with Internal if the runner refuses the request.
  Result<RunnerReply> ask(runtime::protocol::Message request, Duration deadline,
                          const std::vector<int> &descriptors);
  /// Loads a kernel's module, and sets its number in the process if the reply is Ok; unloads it.
  Result<RunnerReply> load(const std::filesystem::path &module, const std::string &symbol,
                           std::uint32_t &number);
  Result<RunnerReply> unload(std::uint32_t number);
  void stop();
  bool isRunning() const { return process_ != nullptr; }

  /// The incidents since the last call.
  std::vector<Incident> takeIncidents() { return std::exchange(incidents_, {}); }
  void note(FaultClass fault, std::string what) { incidents_.push_back({fault, std::move(what)}); }

  /// True if the device has to pass a probe before a failure counts.
  bool mustProbe() const { return mustProbe_; }
  void probed() { mustProbe_ = false; }
  void mustProbeAgain() { mustProbe_ = true; }

private:
  struct Ahead {
    std::unique_ptr<InteractiveProcess> process;
    std::uint64_t id = 0;               ///< id of its hello
    std::optional<std::string> reply{}; ///< set when it came
    ~Ahead() {                          // kill it first, as teardown of its context may take long
      if (process)
        process->kill();
    }
    Ahead(std::unique_ptr<InteractiveProcess> started, std::uint64_t hello)
        : process(std::move(started)), id(hello) {}
    Ahead(Ahead &&) = default;
    Ahead &operator=(Ahead &&) = default;
  };
  Result<std::unique_ptr<InteractiveProcess>> spawn();
  Result<RunnerReply> receive(const Result<std::string> &line, std::uint64_t id, Duration deadline);
  RunnerReply crashed(const std::string &what);
  RunnerReply lost(RunStatus status, FaultClass fault, std::string what);

  ProcessRunner &processes_;
  std::vector<std::string> command_;
  Sandbox sandbox_;
  SandboxPolicy policy_;
  std::map<std::string, std::string> environment_; ///< variables in addition to those of the policy
  std::unique_ptr<InteractiveProcess> process_;
  unsigned generation_ = 0;
  std::mt19937_64 requests_{
      std::random_device{}()}; ///< random ids, so that a candidate cannot forge a reply
  std::deque<Ahead> ahead_;
  bool mustProbe_ = false;
  std::vector<Incident> incidents_;
};

} // namespace kopt
