// SPDX-License-Identifier: Apache-2.0
#include "driver/app/executor/Hosts.h"

#include "driver/model/Version.h"
#include "driver/support/CommandWords.h"
#include "driver/support/Hash.h"
#include "driver/support/Text.h"

#include <cstdlib>
#include <fmt/format.h>
#include <regex>

namespace kopt {

namespace fs = std::filesystem;

namespace {

/// A link that is gone is noticed in 15 s; nothing asks for a password.
const std::vector<std::string> kSsh = {"ssh", "-T",
                                       "-o",  "BatchMode=yes",
                                       "-o",  "ServerAliveInterval=5",
                                       "-o",  "ServerAliveCountMax=3"};

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
  look.argv = ssh(host, fmt::format("test -x {} && echo there; true", program));
  look.timeout = Duration(60);
  KOPT_TRY(const ProcessResult looked, services.processes.run(look));
  if (!looked.ok())
    return hostError(host, looked);
  if (looked.out.find("there") != looked.out.npos)
    return program;
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
  send.argv = ssh(host, fmt::format("set -e; mkdir -p {0}.new; tar -xz -C {0}.new; rm -rf {0}; "
                                    "mv {0}.new {0}",
                                    folder));
  send.input = std::move(packed.out);
  KOPT_TRY(const ProcessResult sent, services.processes.run(send));
  if (!sent.ok())
    return hostError(host, sent);
  return program;
}

} // namespace

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
      KOPT_TRY(program, sendPackage(services, host, package));
    }
    for (const int gpu : settings.gpus) {
      std::vector<std::string> words = {program, "worker", fmt::format("--gpu={}", gpu)};
      words.insert(words.end(), settings.flags.begin(), settings.flags.end());
      workers.push_back({ssh(host, "exec " + joinCommand(words)),
                         settings.gpus.size() > 1 ? fmt::format("{} (GPU {})", host, gpu) : host});
    }
  }
  return workers;
}

Result<Allocation> Allocation::open(const Services &services,
                                    const std::vector<std::string> &options) {
  Allocation allocation(services.processes);
  if (const char *job = std::getenv("SLURM_JOB_ID"); job && options.empty()) {
    const char *tasks = std::getenv("SLURM_NTASKS");
    allocation.job_ = job;
    allocation.tasks_ = tasks ? std::max(1, std::atoi(tasks)) : 1;
    return allocation;
  }
  services.terminal.status("waiting for Slurm");
  ProcessSpec spec;
  spec.argv = {"salloc", "--no-shell", "--job-name=kopt"};
  spec.argv.insert(spec.argv.end(), options.begin(), options.end());
  KOPT_TRY(const ProcessResult result, services.processes.run(spec));
  static const std::regex kGranted("Granted job allocation ([0-9]+)");
  std::smatch granted;
  if (!std::regex_search(result.err, granted, kGranted))
    return makeError(ErrorCode::Environment,
                     fmt::format("Slurm gave no allocation: {}", std::string(trim(result.err))),
                     "try the same with: " + joinCommand(spec.argv));
  allocation.job_ = granted[1];
  allocation.isOurs_ = true;
  ProcessSpec ask;
  ask.argv = {"scontrol", "show", "job", allocation.job_};
  KOPT_TRY(const ProcessResult shown, services.processes.run(ask));
  static const std::regex kTasks("NumTasks=([0-9]+)");
  if (std::smatch tasks; std::regex_search(shown.out, tasks, kTasks))
    allocation.tasks_ = std::max(1, std::stoi(tasks[1]));
  return allocation;
}

Allocation::Allocation(Allocation &&other) noexcept
    : processes_(other.processes_), job_(std::move(other.job_)), tasks_(other.tasks_),
      isOurs_(std::exchange(other.isOurs_, false)) {}

Allocation::~Allocation() {
  if (!isOurs_)
    return;
  ProcessSpec spec;
  spec.argv = {"scancel", job_};
  spec.timeout = Duration(30);
  static_cast<void>(processes_->run(spec)); // Slurm ends it at its time limit
}

std::vector<WorkerCommand> slurmWorkers(const Allocation &allocation, const HostSettings &settings,
                                        const fs::path &self) {
  const bool hasGpus = std::ranges::any_of(settings.choice.options, [](const std::string &option) {
    return option.find("gpu") != option.npos || option.find("gres") != option.npos;
  });
  std::vector<WorkerCommand> workers;
  for (unsigned task = 0; task < allocation.tasks(); ++task) {
    std::vector<std::string> argv = {"srun",       "--jobid=" + allocation.job(),
                                     "--ntasks=1", "--nodes=1",
                                     "--exact",    "--unbuffered",
                                     "--quiet"};
    if (hasGpus)
      argv.push_back("--gpus-per-task=1");
    argv.insert(argv.end(),
                {settings.program.empty() ? self.string() : settings.program, "worker", "--gpu=0"});
    argv.insert(argv.end(), settings.flags.begin(), settings.flags.end());
    workers.push_back({std::move(argv), fmt::format("task {} of job {}", task, allocation.job())});
  }
  return workers;
}

} // namespace kopt
