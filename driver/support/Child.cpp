// SPDX-License-Identifier: Apache-2.0
#include "driver/support/Child.h"

#include "driver/support/Text.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

extern char **environ;

namespace kopt {
namespace {

namespace fs = std::filesystem;
using SteadyClock = std::chrono::steady_clock;

struct Pipe {
  Fd read, write;
};

/// Moves the descriptor above 2, so that dup2() onto a standard stream always makes a new
/// descriptor.
bool moveAboveStreams(Fd &fd) {
  if (fd.get() > 2)
    return true;
  Fd moved(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 3));
  if (!moved.open())
    return false;
  fd = std::move(moved);
  return true;
}

/// Makes a pipe whose ends close on exec, or a socket, through which descriptors can be sent. The
/// socket, too, carries data in one direction only.
bool makePipe(Pipe &out, bool isSocket = false) {
  int ends[2];
  if ((isSocket ? ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)
                : ::pipe2(ends, O_CLOEXEC)) != 0)
    return false;
  out.read = Fd(ends[0]);
  out.write = Fd(ends[1]);
  return (!isSocket || ::shutdown(out.write.get(), SHUT_RD) == 0) && moveAboveStreams(out.read) &&
         moveAboveStreams(out.write);
}

bool isKept(const ProcessSpec &spec, const std::string &name) {
  if (!spec.keepEnv)
    return std::find(spec.unsetEnv.begin(), spec.unsetEnv.end(), name) == spec.unsetEnv.end();
  return std::any_of(spec.keepEnv->begin(), spec.keepEnv->end(), [&](const std::string &kept) {
    return kept.ends_with('*') ? name.starts_with(kept.substr(0, kept.size() - 1)) : name == kept;
  });
}

std::vector<std::string> childEnvironment(const ProcessSpec &spec) {
  std::vector<std::string> result;
  for (char **entry = environ; entry && *entry; ++entry) {
    std::string_view text = *entry;
    std::string name(text.substr(0, text.find('=')));
    if (isKept(spec, name) && !spec.env.count(name))
      result.emplace_back(text);
  }
  for (const auto &[name, value] : spec.env)
    result.push_back(name + "=" + value);
  return result;
}

std::vector<char *> pointers(std::vector<std::string> &strings) {
  std::vector<char *> result;
  for (std::string &text : strings)
    result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

/// What the child reports to the parent if it could not become the program.
struct StartFailure {
  char step = 0; ///< 'd' chdir, 'l' limits, 'x' exec, 'r' redirection
  int error = 0;
};

struct ChildPlan {
  const char *program;
  char *const *argv;
  char *const *envp;
  const char *cwd; ///< null: the parent's
  int in, out, err, report;
  std::optional<std::size_t> cpuSeconds;
  pid_t parent;
};

/// Runs between fork and exec: nothing but async-signal-safe calls, since other threads of the
/// parent may hold locks.
[[noreturn]] void becomeProgram(const ChildPlan &plan) {
  auto fail = [&](char step) {
    StartFailure failure{step, errno};
    [[maybe_unused]] ssize_t n = ::write(plan.report, &failure, sizeof failure);
    ::_exit(127);
  };
  ::setpgid(0, 0);
  // If kopt is killed, no candidate may stay behind in an endless loop.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != plan.parent)
    ::_exit(127);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (int signal : {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGCHLD})
    ::signal(signal, SIG_DFL);
  if (::dup2(plan.in, 0) < 0 || ::dup2(plan.out, 1) < 0 || ::dup2(plan.err, 2) < 0)
    fail('r');
  if (plan.cwd && ::chdir(plan.cwd) != 0)
    fail('d');
  if (plan.cpuSeconds) {
    rlimit limit{rlim_t(*plan.cpuSeconds), rlim_t(*plan.cpuSeconds + 1)};
    if (::setrlimit(RLIMIT_CPU, &limit) != 0)
      fail('l');
  }
  ::execve(plan.program, plan.argv, plan.envp);
  fail('x');
  ::_exit(127);
}

tl::unexpected<Error> startError(const ProcessSpec &spec, const StartFailure &failure) {
  if (failure.step == 'd')
    return makeError(ErrorCode::Environment,
                     "cannot run " + spec.argv[0] + " in " + spec.cwd.string() + ": " +
                         systemMessage(failure.error),
                     "check that the folder exists", spec.cwd.string());
  const char *verb = failure.step == 'l' ? "limit the processor time of" : "start";
  return makeError(ErrorCode::Environment, std::string("cannot ") + verb + " " + spec.argv[0] +
                                               ": " + systemMessage(failure.error));
}

} // namespace

std::optional<fs::path> findInPath(const std::string &name, const char *path) {
  if (name.empty())
    return std::nullopt;
  std::error_code ignored;
  auto executable = [&](const fs::path &file) {
    return ::access(file.c_str(), X_OK) == 0 && !fs::is_directory(file, ignored);
  };
  if (name.find('/') != std::string::npos)
    return executable(name) ? std::optional(fs::absolute(name, ignored)) : std::nullopt;
  std::string_view rest = path ? path : "/usr/local/bin:/usr/bin:/bin";
  while (true) {
    std::size_t colon = rest.find(':');
    std::string_view folder = rest.substr(0, colon);
    fs::path file = fs::path(folder.empty() ? std::string_view(".") : folder) / name;
    if (executable(file))
      return fs::absolute(file, ignored);
    if (colon == std::string_view::npos)
      return std::nullopt;
    rest.remove_prefix(colon + 1);
  }
}

void Child::signalGroup(int signal) const {
  if (pid_ > 0)
    ::kill(-pid_, signal);
}

bool Child::reap(bool block) {
  if (pid_ <= 0)
    return true;
  siginfo_t info{};
  int flags = WEXITED | WNOWAIT | (block ? 0 : WNOHANG);
  int rc;
  while ((rc = ::waitid(P_PID, id_t(pid_), &info, flags)) != 0 && errno == EINTR) {
  }
  if (rc == 0 && info.si_pid == 0)
    return false;
  signalGroup(SIGKILL);
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  status_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  pid_ = -1;
  return true;
}

bool Child::endWithin(Duration limit) {
  if (pid_ <= 0 && !out.open())
    return true;
  signalGroup(SIGKILL);
  const auto end = SteadyClock::now() + limit;
  char dropped[4096];
  while (SteadyClock::now() < end) {
    const bool reaped = reap(false);
    ssize_t n = 0;
    for (int i = 0; i < 64 && out.open() && (n = ::read(out.get(), dropped, sizeof dropped)) > 0;
         ++i) {
    }
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
      out.reset();
    if (reaped && !out.open())
      return true;
    pollfd fd{out.get(), POLLIN, 0};
    ::poll(&fd, out.open() ? 1 : 0, reaped ? 50 : 1);
  }
  return false;
}

Result<Child> Child::start(const ProcessSpec &spec, bool socketInput) {
  if (spec.argv.empty())
    return makeError(ErrorCode::Internal, "a process was started without a program name");
  std::string wanted = spec.argv[0];
  if (wanted.find('/') != std::string::npos && wanted[0] != '/' && !spec.cwd.empty())
    wanted = (spec.cwd / wanted).string();
  auto path = spec.env.find("PATH");
  std::optional<fs::path> program =
      findInPath(wanted, path != spec.env.end() ? path->second.c_str() : ::getenv("PATH"));
  if (!program)
    return makeError(ErrorCode::Environment,
                     wanted.find('/') == std::string::npos ? "program not found in PATH: " + wanted
                                                           : "not an executable file: " + wanted,
                     "install it, or put its folder into PATH");

  std::vector<std::string> arguments = spec.argv, environment = childEnvironment(spec);
  std::vector<char *> argv = pointers(arguments), envp = pointers(environment);
  Pipe in, out, err, report;
  if (!makePipe(in, socketInput) || !makePipe(out) || !makePipe(err) || !makePipe(report))
    return makeError(ErrorCode::Environment, "cannot create a pipe: " + systemMessage(errno),
                     "raise the limit of open files (ulimit -n)");

  ChildPlan plan{program->c_str(), argv.data(),
                 envp.data(),      spec.cwd.empty() ? nullptr : spec.cwd.c_str(),
                 in.read.get(),    out.write.get(),
                 err.write.get(),  report.write.get(),
                 spec.cpuSeconds,  ::getpid()};
  pid_t pid = ::fork();
  if (pid < 0)
    return makeError(ErrorCode::Environment,
                     "cannot start " + spec.argv[0] + ": " + systemMessage(errno),
                     "the machine is out of processes or memory");
  if (pid == 0)
    becomeProgram(plan);
  // In the parent too, so that the group exists for a kill, whichever process runs first.
  ::setpgid(pid, pid);

  Child child;
  child.pid_ = pid;
  child.in = std::move(in.write);
  child.out = std::move(out.read);
  child.err = std::move(err.read);
  // Close this process's copies of the child's ends, so that reading ends when the child ends.
  for (Fd *end : {&report.write, &in.read, &out.write, &err.write})
    end->reset();
  for (const Fd *fd : {&child.in, &child.out, &child.err})
    ::fcntl(fd->get(), F_SETFL, O_NONBLOCK);
  StartFailure failure;
  ssize_t n;
  while ((n = ::read(report.read.get(), &failure, sizeof failure)) < 0 && errno == EINTR) {
  }
  if (n == sizeof failure)
    return startError(spec, failure);
  return child;
}

} // namespace kopt
