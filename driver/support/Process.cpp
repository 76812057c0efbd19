// SPDX-License-Identifier: Apache-2.0
#include "driver/support/Process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace kopt {
namespace {

namespace fs = std::filesystem;
using SteadyClock = std::chrono::steady_clock;

constexpr Duration kTerminationGrace{2}; ///< between SIGTERM and SIGKILL
constexpr Duration kWriteDeadline{60};   ///< for one line into an interactive child
constexpr std::size_t kErrorTail = 64u << 10;

std::string reason(int error) { return std::error_code(error, std::generic_category()).message(); }

class Fd {
public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd &operator=(Fd &&other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() { reset(); }
  int get() const { return fd_; }
  bool open() const { return fd_ >= 0; }
  void reset() {
    if (fd_ >= 0)
      ::close(fd_);
    fd_ = -1;
  }

private:
  int fd_ = -1;
};

struct Pipe {
  Fd read, write;
};

/// Both ends close on exec and are above 2, so that dup2 onto a standard stream always makes a
/// fresh descriptor.
bool makePipe(Pipe &out) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return false;
  std::array<Fd, 2> fds{Fd(ends[0]), Fd(ends[1])};
  for (Fd &fd : fds) {
    if (fd.get() > 2)
      continue;
    Fd moved(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 3));
    if (!moved.open())
      return false;
    fd = std::move(moved);
  }
  out.read = std::move(fds[0]);
  out.write = std::move(fds[1]);
  return true;
}

/// A child that closed its input must not kill kopt. Only this thread's SIGPIPE is held back, so
/// `kopt | head` still ends as users expect.
class SigpipeGuard {
public:
  SigpipeGuard() {
    sigset_t pending;
    sigpending(&pending);
    wasPending_ = sigismember(&pending, SIGPIPE) == 1;
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &old_);
  }
  ~SigpipeGuard() {
    timespec none{};
    if (!wasPending_)
      while (sigtimedwait(&pipe_, nullptr, &none) == -1 && errno == EINTR) {
      }
    pthread_sigmask(SIG_SETMASK, &old_, nullptr);
  }

private:
  sigset_t pipe_{}, old_{};
  bool wasPending_ = false;
};

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

std::vector<std::string> childEnvironment(const ProcessSpec &spec) {
  std::vector<std::string> result;
  for (char **entry = environ; entry && *entry; ++entry) {
    std::string_view text = *entry;
    std::string name(text.substr(0, text.find('=')));
    bool removed =
        std::find(spec.unsetEnv.begin(), spec.unsetEnv.end(), name) != spec.unsetEnv.end();
    if (!removed && !spec.env.count(name))
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

/// What the child tells the parent when it could not become the program.
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
  // A kopt that is killed must not leave a candidate looping for ever.
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

/// A started child with its ends of the pipes. Owns the process group: destroyed, it kills and
/// reaps it.
class Child {
public:
  static Result<Child> start(const ProcessSpec &spec);
  Child(Child &&other) noexcept
      : in(std::move(other.in)), out(std::move(other.out)), err(std::move(other.err)),
        pid_(std::exchange(other.pid_, -1)), status_(other.status_) {}
  Child &operator=(Child &&) = delete;
  ~Child() {
    if (pid_ > 0) {
      signalGroup(SIGKILL);
      reap(true);
    }
  }

  void signalGroup(int signal) const {
    if (pid_ > 0)
      ::kill(-pid_, signal);
  }

  /// True once the leader has ended. Until it is reaped its id, and so the group's, cannot be
  /// reused: what it left behind in its group is killed in between.
  bool reap(bool block) {
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

  int exitCode() const { return status_; }

  Fd in, out, err;

private:
  Child() = default;
  pid_t pid_ = -1;
  int status_ = 0;
};

tl::unexpected<Error> startError(const ProcessSpec &spec, const StartFailure &failure) {
  if (failure.step == 'd')
    return makeError(ErrorCode::Environment,
                     "cannot run " + spec.argv[0] + " in " + spec.cwd.string() + ": " +
                         reason(failure.error),
                     "check that the folder exists", spec.cwd.string());
  if (failure.step == 'l')
    return makeError(ErrorCode::Environment, "cannot limit the processor time of " + spec.argv[0] +
                                                 ": " + reason(failure.error));
  return makeError(ErrorCode::Environment,
                   "cannot start " + spec.argv[0] + ": " + reason(failure.error));
}

Result<Child> Child::start(const ProcessSpec &spec) {
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
  if (!makePipe(in) || !makePipe(out) || !makePipe(err) || !makePipe(report))
    return makeError(ErrorCode::Environment, "cannot create a pipe: " + reason(errno),
                     "raise the limit of open files (ulimit -n)");

  ChildPlan plan{program->c_str(), argv.data(),
                 envp.data(),      spec.cwd.empty() ? nullptr : spec.cwd.c_str(),
                 in.read.get(),    out.write.get(),
                 err.write.get(),  report.write.get(),
                 spec.cpuSeconds,  ::getpid()};
  pid_t pid = ::fork();
  if (pid < 0)
    return makeError(ErrorCode::Environment, "cannot start " + spec.argv[0] + ": " + reason(errno),
                     "the machine is out of processes or memory");
  if (pid == 0)
    becomeProgram(plan);
  ::setpgid(pid, pid); // also here: whoever of the two comes first, a kill of the group finds it

  Child child;
  child.pid_ = pid;
  child.in = std::move(in.write);
  child.out = std::move(out.read);
  child.err = std::move(err.read);
  report.write.reset();
  StartFailure failure;
  ssize_t n;
  while ((n = ::read(report.read.get(), &failure, sizeof failure)) < 0 && errno == EINTR) {
  }
  if (n == sizeof failure)
    return startError(spec, failure);
  for (const Fd *fd : {&child.in, &child.out, &child.err})
    ::fcntl(fd->get(), F_SETFL, O_NONBLOCK);
  return child;
}

/// Reads what is there. Closes the descriptor at end of file; calls `take` with each piece.
template <class Take> void drain(Fd &fd, Take take) {
  char buffer[1 << 16];
  while (fd.open()) {
    ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
    if (n > 0)
      take(std::string_view(buffer, std::size_t(n)));
    else if (n < 0 && errno == EINTR)
      continue;
    else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
      return;
    else
      fd.reset();
  }
}

/// Writes what fits and removes it from `text`. Closes the descriptor where the child has closed
/// its end.
void feed(Fd &fd, std::string_view &text) {
  while (fd.open() && !text.empty()) {
    ssize_t n = ::write(fd.get(), text.data(), text.size());
    if (n >= 0)
      text.remove_prefix(std::size_t(n));
    else if (errno == EINTR)
      continue;
    else if (errno == EAGAIN || errno == EWOULDBLOCK)
      return;
    else
      fd.reset();
  }
}

/// Waits until one of the open descriptors is ready, at most `limit`.
void waitForAny(const Fd *writeTo, std::initializer_list<const Fd *> readFrom, Duration limit) {
  std::array<pollfd, 3> fds{};
  nfds_t count = 0;
  if (writeTo && writeTo->open())
    fds[count++] = {writeTo->get(), POLLOUT, 0};
  for (const Fd *fd : readFrom)
    if (fd->open())
      fds[count++] = {fd->get(), POLLIN, 0};
  double milliseconds = std::clamp(limit.count() * 1e3, 0.0, 1e6);
  ::poll(fds.data(), count, int(milliseconds) + (milliseconds > int(milliseconds)));
}

void append(std::string &to, std::string_view piece, std::size_t limit, bool &truncated) {
  std::size_t room = limit - std::min(limit, to.size());
  truncated |= piece.size() > room;
  to.append(piece.substr(0, room));
}

ProcessResult runToEnd(Child &child, const ProcessSpec &spec) {
  ProcessResult result;
  SigpipeGuard guard;
  const auto start = SteadyClock::now();
  auto elapsed = [&] { return Duration(SteadyClock::now() - start); };
  std::string_view input = spec.input;
  bool ended = false;
  std::optional<Duration> terminated, endedAt;
  bool killed = false;
  while (true) {
    feed(child.in, input);
    if (input.empty())
      child.in.reset();
    drain(child.out,
          [&](auto piece) { append(result.out, piece, spec.outputLimit, result.truncated); });
    drain(child.err,
          [&](auto piece) { append(result.err, piece, spec.outputLimit, result.truncated); });
    if (!ended && child.reap(false)) {
      ended = true;
      endedAt = elapsed();
      child.in.reset();
    }
    const Duration now = elapsed();
    // Once the child is gone only a process that left its group can hold the pipes: it gets a
    // moment, no more.
    if (ended && ((!child.out.open() && !child.err.open()) || now - *endedAt > Duration(0.5)))
      break;
    if (!ended && spec.timeout && now >= *spec.timeout && !terminated) {
      result.timedOut = true;
      terminated = now;
      child.signalGroup(SIGTERM);
    }
    if (!ended && terminated && !killed && now - *terminated >= kTerminationGrace) {
      child.signalGroup(SIGKILL);
      killed = true;
    }
    // Pipes wake this up; the end of a child whose pipes are held elsewhere, or closed by itself,
    // is looked for.
    bool pipesOpen = child.out.open() || child.err.open();
    Duration nap = pipesOpen ? Duration(0.05) : Duration(0.002);
    if (spec.timeout && !terminated)
      nap = std::clamp(*spec.timeout - now, Duration(0), nap);
    waitForAny(&child.in, {&child.out, &child.err}, nap);
  }
  result.exitCode = child.exitCode();
  result.wall = elapsed();
  return result;
}

std::string describeExit(int code) {
  if (code <= 128)
    return "exit code " + std::to_string(code);
  const char *name = ::strsignal(code - 128);
  return "exit code " + std::to_string(code) + " (" + (name ? name : "signal") + ")";
}

class PosixInteractiveProcess final : public InteractiveProcess {
public:
  PosixInteractiveProcess(Child child, std::string name)
      : child_(std::move(child)), name_(std::move(name)) {}

  Status writeLine(const std::string &line) override {
    SigpipeGuard guard;
    std::string text = line + "\n";
    std::string_view rest = text;
    const auto limit = SteadyClock::now() + kWriteDeadline;
    while (true) {
      feed(child_.in, rest);
      if (rest.empty())
        return {};
      if (!child_.in.open())
        return tl::unexpected<Error>(endOfFile());
      Duration left = limit - SteadyClock::now();
      if (left.count() <= 0)
        return makeError(ErrorCode::Environment, name_ + " does not read its input");
      collect(); // a child that blocks on its output would never read its input
      waitForAny(&child_.in, {&child_.out, &child_.err}, left);
    }
  }

  Result<std::string> readLine(Duration deadline) override {
    const auto limit = SteadyClock::now() + std::chrono::duration_cast<SteadyClock::duration>(
                                                std::min(deadline, Duration(1e7)));
    while (true) {
      collect();
      if (std::size_t newline = buffered_.find('\n', searched_); newline != std::string::npos) {
        std::string line = buffered_.substr(0, newline);
        buffered_.erase(0, newline + 1);
        searched_ = 0;
        return line;
      }
      searched_ = buffered_.size();
      if (!child_.out.open())
        return tl::unexpected<Error>(endOfFile());
      Duration left = limit - SteadyClock::now();
      if (left.count() <= 0)
        return makeError(ErrorCode::BudgetEnded, name_ + " did not answer in time");
      waitForAny(nullptr, {&child_.out, &child_.err}, left);
    }
  }

  std::string errorTail() override {
    collect();
    return errorTail_;
  }

  void kill() override { child_.signalGroup(SIGKILL); }

  int wait() override {
    // Closing its input asks the child to end; what it still says is taken so that it can.
    child_.in.reset();
    while (!child_.reap(false)) {
      collect();
      bool pipesOpen = child_.out.open() || child_.err.open();
      waitForAny(nullptr, {&child_.out, &child_.err}, Duration(pipesOpen ? 0.05 : 0.002));
    }
    collect();
    return child_.exitCode();
  }

private:
  void collect() {
    drain(child_.out, [&](std::string_view piece) { buffered_ += piece; });
    drain(child_.err, [&](std::string_view piece) {
      errorTail_ += piece;
      if (errorTail_.size() > kErrorTail)
        errorTail_.erase(0, errorTail_.size() - kErrorTail);
    });
  }

  Error endOfFile() {
    // A child that closed its output without ending gets as long as one that was told to end.
    const auto limit = SteadyClock::now() + kTerminationGrace;
    while (!child_.reap(false) && SteadyClock::now() < limit)
      waitForAny(nullptr, {&child_.err}, Duration(0.002));
    if (!child_.reap(false)) {
      kill();
      child_.reap(true);
    }
    collect();
    return Error{ErrorCode::Environment,
                 name_ + " ended with " + describeExit(child_.exitCode()),
                 {},
                 {},
                 {}};
  }

  Child child_;
  std::string name_;
  std::string buffered_, errorTail_;
  std::size_t searched_ = 0; ///< bytes of buffered_ known to hold no newline
};

class PosixProcessRunner final : public ProcessRunner {
public:
  Result<ProcessResult> run(const ProcessSpec &spec) override {
    auto child = Child::start(spec);
    if (!child)
      return tl::unexpected<Error>(std::move(child.error()));
    return runToEnd(*child, spec);
  }

  Result<std::unique_ptr<InteractiveProcess>> start(const ProcessSpec &spec) override {
    auto child = Child::start(spec);
    if (!child)
      return tl::unexpected<Error>(std::move(child.error()));
    return std::make_unique<PosixInteractiveProcess>(std::move(*child),
                                                     fs::path(spec.argv[0]).filename().string());
  }
};

} // namespace

std::unique_ptr<ProcessRunner> makeProcessRunner() {
  return std::make_unique<PosixProcessRunner>();
}

std::optional<fs::path> findProgram(const std::string &name) {
  return findInPath(name, ::getenv("PATH"));
}

} // namespace kopt
