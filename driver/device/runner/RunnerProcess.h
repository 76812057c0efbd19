// SPDX-License-Identifier: Apache-2.0
// The kopt-runner process and what became of it: started contained, asked, watched, killed, probed.
// Classifies what happens to it: caused by the candidate, by the machine, or undecidable
// yet.
#pragma once

#include "driver/model/Device.h"
#include "driver/sandbox/Sandbox.h"
#include "runtime/runner/Protocol.h"

#include <deque>
#include <memory>
#include <optional>
#include <random>

namespace kopt {

/// To load a module or to give it back.
inline constexpr Duration kLoadDeadline{30};

/// What came of one request. `message` is the reply where one came.
struct RunnerReply {
  RunStatus status = RunStatus::Ok; ///< TimedOut, Crashed, or what the reply says
  std::string detail;
  runtime::protocol::Message message;
  FaultClass fault = FaultClass::None; ///< of a status that is not Ok
};

class RunnerProcess {
public:
  RunnerProcess(ProcessRunner &processes, std::vector<std::string> command, Sandbox sandbox,
                SandboxPolicy policy, std::map<std::string, std::string> environment = {})
      : processes_(processes), command_(std::move(command)), sandbox_(std::move(sandbox)),
        policy_(std::move(policy)), environment_(std::move(environment)) {}

  const std::vector<std::string> &command() const { return command_; }

  /// Starts a process and says hello; `hello` is the request, `descriptors` come with it. Fails
  /// with Environment where none starts or no device answers, at the second attempt too.
  Result<RunnerReply> start(const runtime::protocol::Message &hello,
                            const std::vector<int> &descriptors);
  /// Starts processes until so many wait to be the next, and says hello without waiting for their
  /// answers. One that cannot be started, or does not answer well, is none: start() starts another.
  void startAhead(unsigned processes, const runtime::protocol::Message &hello,
                  const std::vector<int> &descriptors);
  /// Waits until those that were started ahead are ready and do nothing more.
  void awaitAhead();
  /// Those that wait.
  unsigned ahead() const { return unsigned(ahead_.size()); }
  void stopAhead() { ahead_.clear(); }
  /// How many have been started. A module is loaded in one of them.
  unsigned generation() const { return generation_; }

  /// True while a process runs that is fit to be asked. One that has died since it was last asked,
  /// or has said what nobody asked for, is ended here: that is not the fault of who comes next.
  bool ready();
  /// Asks the process, which must be ready(). Fails with Environment where the runner says that it
  /// cannot go on, with Internal where it does not understand.
  Result<RunnerReply> ask(runtime::protocol::Message request, Duration deadline,
                          const std::vector<int> &descriptors);
  void stop();
  bool isRunning() const { return process_ != nullptr; }

  /// What happened beside the replies, since this was last called.
  std::vector<Incident> takeIncidents() { return std::exchange(incidents_, {}); }
  void note(FaultClass fault, std::string what) { incidents_.push_back({fault, std::move(what)}); }

  /// True where the device has to show that it still works before a failure is anybody's.
  bool mustProbe() const { return mustProbe_; }
  void probed() { mustProbe_ = false; }
  void mustProbeAgain() { mustProbe_ = true; }

private:
  struct Ahead {
    std::unique_ptr<InteractiveProcess> process;
    std::uint64_t id = 0;               ///< of its hello
    std::optional<std::string> reply{}; ///< once it came
    ~Ahead() {                          // a process whose context exists ends as others do
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
  std::map<std::string, std::string> environment_; ///< variables beside those of the policy
  std::unique_ptr<InteractiveProcess> process_;
  unsigned generation_ = 0;
  std::mt19937_64 requests_{
      std::random_device{}()}; ///< ids that a candidate cannot guess, to forge a reply
  std::deque<Ahead> ahead_;
  bool mustProbe_ = false;
  std::vector<Incident> incidents_;
};

} // namespace kopt
