// SPDX-License-Identifier: Apache-2.0
// Four processes: this one, which kopt knows and may kill; bubblewrap; this program once more as
// the first process of the new PID namespace, which only waits; and the contained program. The
// third ends when the first has, and with it all of the namespace does. Death signals would not do:
// bubblewrap's own child waits for ever if bubblewrap dies before it has set that child free.
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

/// Where the program's three streams are while bubblewrap has others: it would keep them open to
/// its end, and its own complaints have to be told from the program's.
constexpr int kKeptStreams = 10;
constexpr unsigned kCloseOnExec = 1u << 2; ///< CLOSE_RANGE_CLOEXEC, Linux 5.11

int refuse(const Outcome &outcome) {
  std::fprintf(stderr, "kopt-sandbox: %s\n", outcome.error.c_str());
  return kExitRefused;
}

/// The streams and nothing else: the program does not get what else kopt has open.
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

/// Gives up privileges, then becomes the program. Does not return where that works. `wholeView` as
/// applyLandlock().
int becomeProgram(const Options &options, bool wholeView) {
  closeOthers();
  if (const Outcome done = limitResources(options); !done.ok())
    return refuse(done);
  if (const Outcome done = dropPrivileges(); !done.ok())
    return refuse(done);
  if (options.landlock)
    if (const Outcome done = applyLandlock(options, wholeView); !done.ok())
      return refuse(done);
  // The filter is the last thing before the program.
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

/// Standard error of this process is the pipe on which the caller waits for complaints.
int becomeBubblewrap(const std::vector<std::string> &command) {
  for (const char *variable : {"LD_LIBRARY_PATH", "LD_PRELOAD"})
    unsetenv(variable); // on its command line, for the program
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

/// All that bubblewrap has said, on one line.
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

/// Starts the child that becomes the program, or bubblewrap, and waits for its end.
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
  if (closesStreams) // an end of file must reach kopt when the program closes its own
    for (const int fd : {0, 1})
      close(fd);
  ended.code = waitFor(child);
  ended.complaint = readComplaint(pipe[0]);
  if (cgroup.killed() > 0)
    std::fprintf(stderr, "kopt-sandbox: killed for want of memory: its limit was reached\n");
  return ended;
}

Outcome guardProc() {
  // Where the kernel counts processes by namespace (Linux 6.14): at most 512, whoever asks for
  // them.
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

/// Whether the process outside has ended: it reads the other end of this pipe.
bool isAlone(const pollfd &outside) { return (outside.revents & POLLERR) != 0; }

/// The first process of the namespace: cannot be signalled from inside, and reaps what loses its
/// parent. `open`: the signals that may interrupt its waiting.
int waitAsFirst(pid_t program, pollfd outside, const sigset_t &open) {
  prctl(PR_SET_DUMPABLE, 0); // nor traced
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
  // No PID namespace to end all with: the group and the death signal do what they can.
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
  setsid(); // what signals its group must not reach kopt's side
  _exit(becomeProgram(options, true));
}

Outcome tryNamespaces(const Options &options) {
  const Ended ended = supervise(options, false);
  if (ended.code == 0 || !ended.complaint.empty())
    return {ended.complaint, ended.code};
  return {options.bubblewrap + " ended with exit code " + std::to_string(ended.code), ended.code};
}

} // namespace kopt::sandbox
