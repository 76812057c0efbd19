// SPDX-License-Identifier: Apache-2.0
// Four processes take part: this one, which kopt knows and may kill; bubblewrap; this program
// again, as the first process of the new PID namespace, which only waits; and the contained
// program. The third ends when the first has ended, and then the kernel ends the whole namespace.
// Death signals do not suffice: if bubblewrap dies before it has released its own child, that child
// waits for ever.
#include "driver/sandbox/launcher/Launch.h"

#include "driver/sandbox/launcher/Bubblewrap.h"
#include "driver/sandbox/launcher/Cgroup.h"
#include "driver/sandbox/launcher/Landlock.h"
#include "driver/sandbox/launcher/Privileges.h"
#include "driver/sandbox/launcher/Seccomp.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kopt::sandbox {

namespace {

/// The first of three descriptors that keep the program's streams while bubblewrap has others.
/// Otherwise bubblewrap would keep the program's streams open until its end, and its own messages
/// could not be distinguished from the program's.
constexpr int kKeptStreams = 10;
constexpr unsigned kCloseOnExec = 1u << 2; ///< CLOSE_RANGE_CLOEXEC, Linux 5.11

int refuse(const Outcome &outcome) {
  std::fprintf(stderr, "kopt-sandbox: %s\n", outcome.error.c_str());
  return kExitRefused;
}

/// Closes all descriptors except the streams on exec, so that the program does not inherit other
/// files that kopt has open.
void closeOthers() {
  if (syscall(SYS_close_range, 3, ~0u, kCloseOnExec) == 0)
    return;
  for (int fd = 3; fd < 1024; ++fd)
    fcntl(fd, F_SETFD, FD_CLOEXEC);
}

std::vector<char *> pointers(const std::vector<std::string> &words) {
  std::vector<char *> argv;
  for (const std::string &word : words)
    argv.push_back(const_cast<char *>(word.c_str()));
  argv.push_back(nullptr);
  return argv;
}

int waitFor(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/// Gives up privileges, then becomes the program. Returns an exit code only on failure. `wholeView`
/// as in applyLandlock().
int becomeProgram(const Options &options, bool wholeView) {
  closeOthers();
  if (const Outcome done = limitResources(options); !done.ok())
    return refuse(done);
  if (const Outcome done = dropPrivileges(); !done.ok())
    return refuse(done);
  if (options.landlock)
    if (const Outcome done = applyLandlock(options, wholeView); !done.ok())
      return refuse(done);
  // Install the filter last, right before the program.
  const std::vector<char *> argv = pointers(options.program);
  if (options.seccomp) {
    CallRules rules;
    rules.unixSockets = options.unixSockets;
    rules.connect = wholeView;
    rules.fork = rules.signalOthers = options.processes != 1;
    if (const Outcome done = installCallFilter(rules); !done.ok())
      return refuse(done);
  }
  execv(argv[0], argv.data());
  std::fprintf(stderr, "kopt-sandbox: cannot start %s: %s\n", argv[0], std::strerror(errno));
  return kExitNoProgram;
}

int becomeProgramOutside(const Options &options) {
  if (!options.cwd.empty() && chdir(options.cwd.c_str()) != 0)
    return refuse(failed("enter " + options.cwd));
  return becomeProgram(options, false);
}

/// Becomes bubblewrap. Standard error must be the pipe from which the caller reads its messages.
int becomeBubblewrap(const std::vector<std::string> &command) {
  for (const char *variable : {"LD_LIBRARY_PATH", "LD_PRELOAD"})
    unsetenv(variable); // the command line sets them for the program
  execv(command[0].c_str(), pointers(command).data());
  std::fprintf(stderr, "cannot start %s: %s", command[0].c_str(), std::strerror(errno));
  return kExitRefused;
}

void moveStreams(int complaints) {
  closeOthers();
  complaints = fcntl(complaints, F_DUPFD_CLOEXEC, kKeptStreams + 3);
  for (const int fd : {0, 1, 2})
    dup2(fd, kKeptStreams + fd);
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  dup2(nothing, 0);
  dup2(nothing, 1);
  dup2(complaints, 2);
}

struct Ended {
  int code = kExitRefused;
  std::string complaint; ///< why there are no namespaces
};

/// The messages of bubblewrap, on one line.
std::string readComplaint(int pipe) {
  std::string all;
  char text[512];
  for (ssize_t got; (got = read(pipe, text, sizeof text)) > 0;)
    all.append(text, std::size_t(got));
  while (!all.empty() && all.back() == '\n')
    all.pop_back();
  for (char &c : all)
    if (c == '\n' || c == '\t')
      c = ' ';
  return all;
}

/// Starts the child that becomes the program or bubblewrap, and waits until it ends.
Ended supervise(const Options &options, bool closesStreams) {
  const std::vector<std::string> command =
      options.bubblewrap.empty() ? std::vector<std::string>() : bubblewrapCommand(options);
  Ended ended;
  Cgroup cgroup;
  if (!options.cgroup.empty() && options.memoryBytes)
    if (const Outcome done = cgroup.enter(options.cgroup, *options.memoryBytes, options.processes);
        !done.ok())
      return {kExitRefused, done.error};
  int pipe[2];
  if (pipe2(pipe, O_CLOEXEC | O_NONBLOCK) != 0)
    return {kExitRefused, failed("make a pipe").error};
  const pid_t parent = getpid(), child = fork();
  if (child < 0)
    return {kExitRefused, failed("start a process").error};
  if (child == 0) {
    if (command.empty()) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      _exit(getppid() == parent ? becomeProgramOutside(options) : kExitRefused);
    }
    moveStreams(pipe[1]);
    _exit(becomeBubblewrap(command));
  }
  close(pipe[1]);
  if (closesStreams) // so that kopt sees the end of file when the program closes its streams
    for (const int fd : {0, 1})
      close(fd);
  ended.code = waitFor(child);
  ended.complaint = readComplaint(pipe[0]);
  if (cgroup.killed() > 0)
    std::fprintf(stderr, "kopt-sandbox: killed for want of memory: its limit was reached\n");
  return ended;
}

Outcome guardProc() {
  // Since Linux 6.14 the kernel can limit the processes of a namespace; allow 512.
  if (const int limit = open("/proc/sys/kernel/pid_max", O_WRONLY | O_CLOEXEC); limit >= 0) {
    [[maybe_unused]] const ssize_t written = write(limit, "512", 3);
    close(limit);
  }
  constexpr unsigned long kFlags = MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC;
  for (const std::string &path : kernelFilesOfProc()) {
    const char *at = path.c_str();
    KOPT_SANDBOX_CALL(mount(at, at, nullptr, MS_BIND, nullptr), "guard " + path);
    KOPT_SANDBOX_CALL(mount(nullptr, at, nullptr, MS_REMOUNT | MS_BIND | kFlags, nullptr),
                      "guard " + path);
  }
  return {};
}

/// True if the process outside, which holds the other end of this pipe, has ended.
bool isAlone(const pollfd &outside) { return (outside.revents & POLLERR) != 0; }

/// Runs the first process of the namespace, which cannot be signalled from inside and reaps
/// orphans, until the program ends. `open`: the signals that may interrupt its waiting.
int waitAsFirst(pid_t program, pollfd outside, const sigset_t &open) {
  prctl(PR_SET_DUMPABLE, 0); // cannot be traced either
  for (const int fd : {0, 1, 2})
    close(fd);
  while (!isAlone(outside)) {
    int status = 0;
    const pid_t ended = waitpid(-1, &status, WNOHANG);
    if (ended == program)
      return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    if (ended == 0)
      ppoll(&outside, 1, nullptr, &open);
  }
  return kExitRefused;
}

} // namespace

int launch(const Options &options) {
  // Without a PID namespace, only the process group and the death signal end the program's
  // processes.
  if (options.bubblewrap.empty() && options.cgroup.empty())
    return becomeProgramOutside(options);
  const Ended ended = supervise(options, true);
  return ended.complaint.empty() ? ended.code : refuse({ended.complaint, 0});
}

int launchInside(const Options &options) {
  if (options.guardProc)
    if (const Outcome done = guardProc(); !done.ok()) {
      std::fprintf(stderr, "%s", done.error.c_str());
      return kExitRefused;
    }
  pollfd outside{fcntl(2, F_DUPFD_CLOEXEC, kKeptStreams), 0, 0};
  for (const int fd : {0, 1, 2}) {
    dup2(kKeptStreams + fd, fd);
    close(kKeptStreams + fd);
  }
  if (options.program.empty())
    return 0;
  sigset_t child, before;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child, &before);
  signal(SIGCHLD, [](int) {});
  if (poll(&outside, 1, 0) < 0 || isAlone(outside))
    return kExitRefused;
  const pid_t program = fork();
  if (program < 0)
    return refuse(failed("start a process"));
  if (program > 0)
    return waitAsFirst(program, outside, before);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  setsid(); // signals to the program's group must not reach kopt's processes
  _exit(becomeProgram(options, true));
}

Outcome tryNamespaces(const Options &options) {
  const Ended ended = supervise(options, false);
  if (ended.code == 0 || !ended.complaint.empty())
    return {ended.complaint, ended.code};
  return {options.bubblewrap + " ended with exit code " + std::to_string(ended.code), ended.code};
}

} // namespace kopt::sandbox
