// SPDX-License-Identifier: Apache-2.0
#include "driver/app/executor/ServeWorker.h"

#include "driver/cli/Command.h"
#include "driver/cli/Flags.h"

#include <fcntl.h>
#include <unistd.h>

namespace kopt {
namespace {

class WorkerCli final : public Command {
public:
  explicit WorkerCli(CLI::App &app) {
    config_.add(app, {"device", "model-gpu", "sandbox", "build-cache"});
    app.add_option("--gpu", gpu_, "ordinal of the GPU (default 0)")->check(CLI::NonNegativeNumber);
  }

  Result<Answer> run(Invocation &call) override {
    KOPT_TRY(const Config config, config_.load({}));
    const KernelRequest request = kernelRequest(config);
    // Standard output has the protocol's messages alone.
    const int out = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (out < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
      return makeError(ErrorCode::Environment, "standard output is closed");
    KOPT_CHECK(serveWorker(call.services,
                           {request.device, gpu_, request.sandbox, request.buildCache},
                           STDIN_FILENO, out));
    return Answer();
  }

private:
  ConfigFlags config_;
  int gpu_ = 0;
};

} // namespace

std::unique_ptr<Command> makeWorker(CLI::App &app) { return std::make_unique<WorkerCli>(app); }

} // namespace kopt
