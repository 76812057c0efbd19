// SPDX-License-Identifier: Apache-2.0
#include "driver/app/executor/Hosts.h"

#include "driver/model/Version.h"
#include "driver/support/CommandWords.h"
#include "driver/support/Hash.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <regex>

namespace kopt {

namespace fs = std::filesystem;

namespace {

/// A link that is gone is noticed in 15 s; nothing asks for a password.
const std::vector<std::string> kSsh = {"ssh",
                                       "-T",
                                       "-C",
                                       "-o",
                                       "BatchMode=yes",
                                       "-o",
                                       "ServerAliveInterval=5",
                                       "-o",
                                       "ServerAliveCountMax=3"};

std::vector<std::string> ssh(const std::string &host, const std::string &command) {
  std::vector<std::string> argv = kSsh;
  argv.insert(argv.end(), {"--", host, command});
  return argv;
}

tl::unexpected<Error> hostError(const std::string &host, const ProcessResult &result) {
  const std::string_view said = trim(result.err);
  return makeError(ErrorCode::Environment,
                   fmt::format("{}: {}", host,
                               said.empty() ? fmt::format("exit code {}", result.exitCode)
                                            : std::string(said.substr(said.rfind('\n') + 1))),
                   fmt::format("try: ssh -o BatchMode=yes {} true", host));
}

fs::path selfPath() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored);
}

/// The folder of the package that this kopt was installed from.
Result<fs::path> ownPackage() {
  const fs::path root = selfPath().parent_path().parent_path();
  if (!fs::exists(root / "share" / "kopt"))
    return makeError(ErrorCode::Environment,
                     "this kopt is no installed package, so it cannot be sent to a host",
                     "install the package, or name kopt on the hosts with --executor-program");
  return root;
}

/// Sends the package to the host unless it is there, and returns where kopt is on it.
Result<std::string> sendPackage(const Services &services, const std::string &host,
                                const fs::path &root) {
  std::error_code ignored;
  const std::string name = fmt::format(
      "{}-{}", koptVersion(),
      hashFields(
          std::to_string(fs::file_size(selfPath(), ignored)),
          std::to_string(fs::last_write_time(selfPath(), ignored).time_since_epoch().count()))
          .substr(0, 12));
  const std::string folder = ".cache/kopt/packages/" + name;
  const std::string program = folder + "/bin/kopt";
  ProcessSpec look;
  look.argv = ssh(host, "test -x " + program);
  look.timeout = Duration(60);
  KOPT_TRY(const ProcessResult looked, services.processes.run(look));
  if (looked.ok())
    return program;
  if (looked.exitCode != 1)
    return hostError(host, looked);
  services.terminal.status(fmt::format("sending kopt to {}", host));
  ProcessSpec pack;
  pack.argv = {"tar", "-C", root.string(), "-cz", "bin", "lib", "share"};
  if (fs::exists(root / "include"))
    pack.argv.push_back("include");
  pack.outputLimit = 1u << 30;
  KOPT_TRY(ProcessResult packed, services.processes.run(pack));
  if (!packed.ok() || packed.truncated)
    return makeError(ErrorCode::Environment, "cannot pack " + root.string() + ": " + packed.err);
  ProcessSpec send;
  send.argv = ssh(host, fmt::format("set -e; new={0}.$$; mkdir -p $new; tar -xz -C $new; "
                                    "rm -rf {0}; mv $new {0}",
                                    folder));
  send.input = std::move(packed.out);
  KOPT_TRY(const ProcessResult sent, services.processes.run(send));
  if (!sent.ok())
    return hostError(host, sent);
  return program;
}

} // namespace

Result<std::shared_ptr<Allocation>> Allocation::open(const Services &services,
                                                     const ExecutorChoice &choice) {
  std::shared_ptr<Allocation> allocation(new Allocation(services, choice));
  if (const char *job = std::getenv("SLURM_JOB_ID");
      job && choice.options.empty() && choice.hosts.empty()) {
    const char *tasks = std::getenv("SLURM_NTASKS");
    allocation->job_ = job;
    allocation->tasks_ = tasks ? std::max(1, std::atoi(tasks)) : 1;
    return allocation;
  }
  services.terminal.status("waiting for Slurm");
  allocation->isOurs_ = true;
  KOPT_CHECK(allocation->ask([] { return false; }));
  return allocation;
}

std::vector<std::string> Allocation::asked(const std::vector<std::string> &argv) const {
  return choice_.hosts.empty() ? argv : ssh(choice_.hosts.front(), joinCommand(argv));
}

/// What holds the allocation ends with its input, so also if kopt is killed or a link is cut.
Status Allocation::ask(const std::function<bool()> &stop) {
  if (stop())
    return makeError(ErrorCode::Interrupted, "nobody waits for Slurm");
  std::vector<std::string> words = {"salloc", "--job-name=kopt", "--kill-command=TERM"};
  words.insert(words.end(), choice_.options.begin(), choice_.options.end());
  words.insert(words.end(), {"sh", "-c",
                             "scontrol --oneliner show job $SLURM_JOB_ID; echo kopt holds it; "
                             "cat; scancel $SLURM_JOB_ID"});
  ProcessSpec spec;
  spec.argv = asked(words);
  KOPT_TRY(holder_, services_.processes.start(spec));
  static const std::regex kJob("JobId=([0-9]+).* NumTasks=([0-9]+)");
  for (;;) {
    const auto line = holder_->readLine(Duration(0.5));
    std::smatch job;
    if (line && std::regex_search(*line, job, kJob)) {
      job_ = job[1];
      tasks_ = unsigned(std::max(1, std::stoi(job[2])));
    } else if (line && line->ends_with("kopt holds it") && !job_.empty()) {
      return {};
    } else if (stop() || (services_.interrupted && *services_.interrupted)) {
      return makeError(ErrorCode::Interrupted, "interrupted");
    } else if (!line && line.error().code != ErrorCode::BudgetEnded) {
      return makeError(
          ErrorCode::Environment,
          fmt::format("Slurm gave no allocation: {}", std::string(trim(holder_->errorTail()))),
          "try the same with: " + joinCommand(spec.argv));
    }
  }
}

Result<std::string> Allocation::job(const std::function<bool()> &stop) {
  const std::lock_guard lock(mutex_);
  if (!isOurs_ || !holder_->hasEnded())
    return job_;
  const auto set = [this](auto now) {
    const std::lock_guard times(times_);
    if (waitsSince_)
      waited_ += std::chrono::steady_clock::now() - *waitsSince_;
    waitsSince_ = now;
  };
  set(std::optional(std::chrono::steady_clock::now()));
  const Status asked = ask(stop);
  set(std::nullopt);
  KOPT_CHECK(asked);
  return job_;
}

Duration Allocation::waited() const {
  const std::lock_guard times(times_);
  Duration all = waited_;
  if (waitsSince_)
    all += std::chrono::steady_clock::now() - *waitsSince_;
  return all;
}

namespace {

Result<std::vector<WorkerCommand>> sshWorkers(const Services &services,
                                              const HostSettings &settings) {
  fs::path package;
  if (settings.program.empty()) {
    KOPT_TRY(package, ownPackage());
  }
  std::vector<WorkerCommand> workers;
  for (const std::string &host : settings.choice.hosts) {
    std::string program = settings.program;
    if (program.empty()) {
      const auto sent = sendPackage(services, host, package);
      if (!sent) { // the others judge
        workers.push_back(
            {[error = sent.error()](const auto &) { return tl::unexpected(error); }, host});
        continue;
      }
      program = *sent;
    }
    for (const int gpu : settings.gpus) {
      std::vector<std::string> words = {program, settings.command};
      if (settings.gpus.size() > 1 || gpu > 0)
        words.push_back(fmt::format("--gpu={}", gpu));
      words.insert(words.end(), settings.flags.begin(), settings.flags.end());
      workers.push_back(
          {[argv = ssh(host, "exec " + joinCommand(words))](const auto &) { return argv; },
           settings.gpus.size() > 1 ? fmt::format("{} (GPU {})", host, gpu) : host});
    }
  }
  return workers;
}

std::vector<WorkerCommand> slurmWorkers(const std::shared_ptr<Allocation> &allocation,
                                        const HostSettings &settings, const std::string &program) {
  std::vector<std::string> words = {"--ntasks=1", "--nodes=1", "--exact", "--unbuffered",
                                    "--quiet"};
  if (std::ranges::any_of(settings.choice.options, [](const std::string &option) {
        return option.find("gpu") != option.npos || option.find("gres") != option.npos;
      }))
    words.push_back("--gpus-per-task=1");
  words.insert(words.end(), {program, settings.command});
  words.insert(words.end(), settings.flags.begin(), settings.flags.end());
  std::vector<WorkerCommand> workers;
  for (unsigned task = 0; task < allocation->tasks(); ++task)
    workers.push_back({[allocation, words](const auto &stop) -> Result<std::vector<std::string>> {
                         KOPT_TRY(const std::string job, allocation->job(stop));
                         std::vector<std::string> argv = {"srun", "--jobid=" + job};
                         argv.insert(argv.end(), words.begin(), words.end());
                         return allocation->asked(argv);
                       },
                       fmt::format("Slurm task {}", task)});
  return workers;
}

} // namespace

Result<WorkerCommands> workerCommands(const Services &services, const HostSettings &settings) {
  WorkerCommands commands;
  if (settings.choice.kind == ExecutorKind::Ssh) {
    KOPT_TRY(commands.all, sshWorkers(services, settings));
    return commands;
  }
  std::string program = settings.program;
  if (program.empty() && settings.choice.hosts.empty())
    program = (services.installation.runner.parent_path() / "kopt").string();
  if (program.empty()) {
    KOPT_TRY(const fs::path package, ownPackage());
    KOPT_TRY(program, sendPackage(services, settings.choice.hosts.front(), package));
  }
  KOPT_TRY(commands.allocation, Allocation::open(services, settings.choice));
  commands.all = slurmWorkers(commands.allocation, settings, program);
  return commands;
}

} // namespace kopt
