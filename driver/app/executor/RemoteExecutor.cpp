// SPDX-License-Identifier: Apache-2.0
#include "driver/app/executor/RemoteExecutor.h"

#include "driver/device/runner/RunnerPool.h"
#include "driver/device/worker/Protocol.h"
#include "driver/judge/remote/RemoteJudge.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Hash.h"

#include <fmt/format.h>
#include <set>

namespace kopt {

namespace fs = std::filesystem;

Result<std::unique_ptr<RemoteExecutor>> RemoteExecutor::open(const Services &services,
                                                             const HostSettings &settings) {
  std::unique_ptr<RemoteExecutor> executor(new RemoteExecutor(services));
  std::vector<WorkerCommand> commands;
  if (settings.choice.kind == ExecutorKind::Slurm) {
    KOPT_TRY(const auto allocation, Allocation::open(services, settings.choice.options));
    commands =
        slurmWorkers(allocation, settings, services.installation.runner.parent_path() / "kopt");
  } else {
    KOPT_TRY(commands, sshWorkers(services, settings));
  }
  services.terminal.status(fmt::format("starting {} workers", commands.size()));
  const auto tell = [&terminal = services.terminal](const std::string &text) {
    terminal.line(text);
  };
  std::vector<std::future<Result<WorkerHello>>> coming;
  for (WorkerCommand &command : commands) {
    executor->workers_.push_back(std::make_unique<Worker>(
        WorkerStart{services.processes, tell, Duration(120), settings.restarts},
        std::move(command)));
    Worker &worker = *executor->workers_.back();
    coming.push_back(worker.thread().call([&worker]() -> Result<WorkerHello> {
      KOPT_TRY(const WorkerLink *link, worker.link());
      return link->hello();
    }));
  }
  std::vector<std::unique_ptr<Worker>> up;
  std::optional<Error> problem;
  for (std::size_t i = 0; i < coming.size(); ++i) {
    const Result<WorkerHello> hello = coming[i].get();
    if (!hello) {
      tell(fmt::format("note: {} judges nothing: {}", executor->workers_[i]->name(),
                       inWords(hello.error())));
      problem = hello.error();
      continue;
    }
    if (up.empty())
      executor->hello_ = *hello;
    else if (const std::string other = differenceInKind(executor->hello_.device, hello->device);
             !other.empty())
      return makeError(ErrorCode::Usage,
                       fmt::format("{} and {} have devices of different kinds: {}",
                                   up.front()->name(), executor->workers_[i]->name(), other),
                       "name only hosts with the same kind of GPU");
    executor->gpus_.push_back(hello->host + "/" + hello->gpu);
    up.push_back(std::move(executor->workers_[i]));
  }
  executor->workers_ = std::move(up);
  if (executor->workers_.empty())
    return tl::unexpected(*problem);
  return executor;
}

Result<MeasuredRates> RemoteExecutor::measureRates() {
  Worker &first = *workers_.front();
  return first.thread()
      .call([&first]() -> Result<MeasuredRates> {
        KOPT_TRY(WorkerLink *const link, first.link());
        return link->askFor<MeasuredRates>(worker_protocol::kRates, nlohmann::json::object());
      })
      .get();
}

Result<std::vector<WorkerFile>> RemoteExecutor::filesOf(const Subject &subject) const {
  std::set<std::string> paths;
  for (const fs::path &file : files_)
    paths.insert(fs::absolute(file).lexically_normal().string());
  for (const std::vector<Launch> *launches : {&subject.workload.launches, &subject.program})
    for (const Launch &launch : *launches)
      for (const Buffer &buffer : launch.buffers)
        if (!buffer.fill.path.empty())
          paths.insert(buffer.fill.path);
  std::vector<WorkerFile> files;
  for (const std::string &path : paths) {
    KOPT_TRY(const std::string content, readFile(path));
    files.push_back({path, hashHex(content), content.size()});
  }
  return files;
}

Result<std::unique_ptr<Judge>> RemoteExecutor::makeJudge(Subject subject, JudgeOptions options,
                                                         const std::string &,
                                                         std::function<double()> secondsLeft) {
  KOPT_TRY(std::vector<WorkerFile> files, filesOf(subject));
  options.scratch.clear();
  options.cache.clear();
  JudgeTask task{std::move(subject.kernel),
                 std::move(subject.specialization),
                 std::move(subject.sliceText),
                 std::move(subject.workload),
                 std::move(subject.declaration),
                 std::move(subject.program),
                 std::move(options),
                 std::move(files)};
  std::vector<Worker *> workers;
  for (const auto &worker : workers_)
    workers.push_back(worker.get());
  return std::make_unique<RemoteJudge>(
      std::move(workers), std::move(task), std::move(secondsLeft),
      [&terminal = services_.terminal](const std::string &text) { terminal.line(text); });
}

} // namespace kopt
