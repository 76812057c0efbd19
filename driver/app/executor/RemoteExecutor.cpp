// SPDX-License-Identifier: Apache-2.0
#include "driver/app/executor/RemoteExecutor.h"

#include "driver/app/programs/LeftThere.h"
#include "driver/device/runner/RunnerPool.h"
#include "driver/device/worker/Protocol.h"
#include "driver/judge/remote/RemoteJudge.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Hash.h"
#include "driver/support/MappedFile.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <set>

namespace kopt {

namespace fs = std::filesystem;

namespace {

/// What keeps two workers from judging the same candidates; empty: nothing.
std::string difference(const WorkerHello &one, const WorkerHello &other) {
  const std::string kind = differenceInKind(one.device, other.device);
  return kind.empty() && one.toolchain != other.toolchain
             ? fmt::format("compilers {} and {}", one.toolchain, other.toolchain)
             : kind;
}

} // namespace

Result<std::unique_ptr<RemoteExecutor>> RemoteExecutor::open(const Services &services,
                                                             const HostSettings &settings) {
  std::unique_ptr<RemoteExecutor> executor(new RemoteExecutor(services, settings.folder));
  KOPT_TRY(WorkerCommands commands, workerCommands(services, settings));
  executor->allocation_ = commands.allocation;
  services.terminal.status(fmt::format("starting {} workers", commands.all.size()));
  const auto tell = [&terminal = services.terminal](const std::string &text) {
    terminal.line(text);
  };
  std::vector<std::future<Result<WorkerHello>>> coming;
  std::vector<std::unique_ptr<Worker>> started;
  for (WorkerCommand &command : commands.all) {
    started.push_back(std::make_unique<Worker>(
        WorkerStart{services.processes, tell, Duration(120), settings.restarts},
        std::move(command)));
    Worker &worker = *started.back();
    coming.push_back(worker.thread().call([&worker]() -> Result<WorkerHello> {
      KOPT_TRY(const WorkerLink *link, worker.link());
      return link->hello();
    }));
  }
  std::vector<std::unique_ptr<Worker>> up;
  std::vector<WorkerHello> hellos;
  std::optional<Error> problem;
  for (std::size_t i = 0; i < coming.size(); ++i) {
    Result<WorkerHello> hello = coming[i].get();
    if (hello) {
      up.push_back(std::move(started[i]));
      hellos.push_back(std::move(*hello));
    } else {
      problem = hello.error();
      tell(fmt::format("note: {} judges nothing: {}", started[i]->name(), inWords(*problem)));
    }
  }
  if (up.empty())
    return tl::unexpected(*problem);
  KOPT_CHECK(executor->useWorkers(std::move(up), hellos, settings.archs));
  return executor;
}

Status RemoteExecutor::useWorkers(std::vector<std::unique_ptr<Worker>> workers,
                                  const std::vector<WorkerHello> &hellos,
                                  const std::vector<std::string> &archs) {
  std::vector<std::size_t> order(workers.size());
  std::iota(order.begin(), order.end(), 0);
  const auto rank = [&](std::size_t i) {
    return std::ranges::find(archs, hellos[i].device.arch) - archs.begin();
  };
  std::ranges::stable_sort(order, {}, rank);
  const bool isAny = archs == std::vector<std::string>{"all"};
  for (const std::size_t i : order) {
    const WorkerHello &hello = hellos[i];
    if (!archs.empty() && !isAny && rank(i) == std::ptrdiff_t(archs.size())) {
      services_.terminal.line(fmt::format("note: {} judges nothing: its {} is not of --archs",
                                          workers[i]->name(), hello.device.arch));
      continue;
    }
    std::vector<RemoteExecutor *> kinds = {this};
    for (const auto &other : others_)
      kinds.push_back(other.get());
    const auto own = std::ranges::find_if(kinds, [&](const RemoteExecutor *kind) {
      return kind->workers_.empty() || difference(kind->hello_, hello).empty();
    });
    RemoteExecutor *kind = own == kinds.end() ? nullptr : *own;
    if (!kind && archs.empty())
      return makeError(ErrorCode::Usage,
                       fmt::format("{} and {} have devices of different kinds: {}",
                                   workers_.front()->name(), workers[i]->name(),
                                   difference(hello_, hello)),
                       "name only hosts with the same kind of GPU and compiler, or with --archs "
                       "those for which you ask for a verdict");
    if (!kind)
      kind = others_.emplace_back(new RemoteExecutor(services_, folder_)).get();
    if (kind->workers_.empty())
      kind->hello_ = hello;
    for (const SandboxLayer &layer : hello.sandbox)
      if (!layer.active && !kind->workers_.empty()) // of the first, the flow says it
        services_.terminal.line(fmt::format("note: candidates on {} run without {}: {}",
                                            workers[i]->name(), layer.name, layer.detail));
    kind->gpus_.push_back(hello.host + "/" + hello.gpu);
    kind->workers_.push_back(std::move(workers[i]));
  }
  if (workers_.empty())
    return makeError(ErrorCode::Usage, "no host has a GPU of --archs",
                     "the notes above say which ones they have");
  for (const auto &other : others_)
    other->holders_ = this->workers();
  return {};
}

void RemoteExecutor::useFiles(const std::vector<fs::path> &files) {
  files_ = files;
  for (const auto &other : others_)
    other->files_ = files;
}

std::vector<Executor *> RemoteExecutor::otherKinds() {
  std::vector<Executor *> kinds;
  for (const auto &other : others_)
    kinds.push_back(other.get());
  return kinds;
}

Result<MeasuredRates> RemoteExecutor::measureRates() {
  return workers_.front()->askThere([](WorkerLink &link) {
    return link.askFor<MeasuredRates>(worker_protocol::kRates, nlohmann::json::object());
  });
}

std::vector<Worker *> RemoteExecutor::workers() const {
  std::vector<Worker *> workers;
  for (const auto &worker : workers_)
    workers.push_back(worker.get());
  return workers;
}

std::unique_ptr<ProgramHost> RemoteExecutor::programs(const fs::path &root) const {
  const fs::path here = fs::weakly_canonical(root);
  return std::make_unique<RemotePrograms>(
      workers(),
      ProjectPlace{
          here, folder_.empty() ? here : fs::path(folder_ + "/").lexically_normal().parent_path()});
}

Result<WorkerFile> RemoteExecutor::fileOf(const std::string &path) {
  if (!isThere(path)) {
    const fs::path trace = fs::path(path).parent_path().parent_path().parent_path();
    for (const WorkerFile &left : filesLeftThere(trace))
      if (left.path == path)
        return left;
  }
  KOPT_TRY(const MappedFile content, MappedFile::open(path));
  return WorkerFile{path, hashHex(content.bytes()), content.bytes().size()};
}

Status RemoteExecutor::bring(const std::vector<WorkerFile> &files) {
  const std::vector<Worker *> holders = holders_.empty() ? workers() : holders_;
  RemotePrograms first(holders, {});
  for (Worker *worker : workers()) {
    if (files.empty() || worker == holders.front() || worker->isGone())
      continue;
    const auto missing = worker->askThere([&](WorkerLink &link) {
      return link.askFor<std::vector<std::string>>(worker_protocol::kMissing, digestsOf(files));
    });
    for (const WorkerFile &file : files) // of one that is gone, nothing is missing
      if (missing && std::ranges::find(*missing, file.digest) != missing->end() &&
          !isThere(file.path))
        KOPT_CHECK(first.fetch(file, file.path));
  }
  return {};
}

Result<std::vector<WorkerFile>> RemoteExecutor::filesOf(const Subject &subject) {
  std::set<std::string> paths;
  for (const fs::path &file : files_)
    paths.insert(fs::absolute(file).lexically_normal().string());
  for (const std::vector<Launch> *launches : {&subject.workload.launches, &subject.program})
    for (const Launch &launch : *launches)
      for (const Buffer &buffer : launch.buffers)
        if (!buffer.fill.path.empty())
          paths.insert(buffer.fill.path);
  std::vector<WorkerFile> files, elsewhere;
  for (const std::string &path : paths) {
    auto known = known_.find(path);
    if (known == known_.end()) {
      KOPT_TRY(WorkerFile file, fileOf(path));
      known = known_.emplace(path, std::move(file)).first;
    }
    files.push_back(known->second);
    if (!isThere(path))
      elsewhere.push_back(known->second);
  }
  KOPT_CHECK(bring(elsewhere));
  return files;
}

Result<JudgeTask> RemoteExecutor::taskOf(Subject subject, JudgeOptions options) {
  KOPT_TRY(std::vector<WorkerFile> files, filesOf(subject));
  options.scratch.clear();
  options.cache.clear();
  return JudgeTask{std::move(subject.kernel),
                   std::move(subject.specialization),
                   std::move(subject.sliceText),
                   std::move(subject.workload),
                   std::move(subject.declaration),
                   std::move(subject.program),
                   std::move(options),
                   std::move(files)};
}

Status RemoteExecutor::compareVersions(const TuneSubject &base, const TuneSubject &head,
                                       bool sameLaunches, const JudgeOptions &options,
                                       GateKernel &kernel) {
  KOPT_TRY(JudgeTask before, taskOf(Subject{base, {}, base.declaration}, options));
  KOPT_TRY(JudgeTask after, taskOf(Subject{head, {}, head.declaration}, options));
  after.files.clear();
  const VersionsTask task{std::move(before), std::move(after), base.label,
                          head.label,        sameLaunches,     kernel};
  KOPT_TRY(kernel, askFirst(workers(), [&](Worker &, WorkerLink &link) -> Result<GateKernel> {
             KOPT_CHECK(link.give(task.base.files));
             return link.askFor<GateKernel>(worker_protocol::kVersions, toJson(task));
           }));
  return {};
}

Result<std::unique_ptr<Judge>> RemoteExecutor::makeJudge(Subject subject, JudgeOptions options,
                                                         const std::string &,
                                                         std::function<double()> secondsLeft) {
  KOPT_TRY(JudgeTask task, taskOf(std::move(subject), std::move(options)));
  return std::make_unique<RemoteJudge>(
      workers(), std::move(task), std::move(secondsLeft),
      [&terminal = services_.terminal](const std::string &text) { terminal.line(text); });
}

} // namespace kopt
