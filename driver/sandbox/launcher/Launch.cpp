// SPDX-License-Identifier: Apache-2.0
// Three processes: this one, which kopt knows and may kill; the first of the new PID namespace,
// which only waits; and the program. Each dies with the one before it, and with the second all of
// the namespace does.
#include "driver/sandbox/launcher/Launch.h"

#include "driver/sandbox/launcher/Cgroup.h"
#include "driver/sandbox/launcher/Landlock.h"
#include "driver/sandbox/launcher/Privileges.h"
#include "driver/sandbox/launcher/Seccomp.h"
#include "driver/sandbox/launcher/View.h"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kopt::sandbox {

namespace {

constexpr int kOwnNamespaces = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS;

int refuse(const Outcome &outcome) {
  std::fprintf(stderr, "kopt-sandbox: %s\n", outcome.error.c_str());
  return kExitRefused;
}

Outcome writeFile(const char *path, const std::string &text) {
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  KOPT_SANDBOX_CALL(fd, std::string("open ") + path);
  const ssize_t written = write(fd, text.data(), text.size());
  const int error = errno;
  close(fd);
  errno = error;
  KOPT_SANDBOX_CALL(written, std::string("write ") + path);
  return {};
}

/// Namespaces for this process (PID: for its children). A user namespace where one can be had: then
/// no privilege is needed, and none reaches outside. Root makes do without one where user
/// namespaces are forbidden.
Outcome makeNamespaces(bool network) {
  const int wanted = kOwnNamespaces | (network ? 0 : CLONE_NEWNET);
  const uid_t user = getuid();
  const gid_t group = getgid();
  if (unshare(CLONE_NEWUSER | wanted) == 0) {
    const std::string one = " 1\n";
    KOPT_SANDBOX_STEP(writeFile("/proc/self/setgroups", "deny"));
    KOPT_SANDBOX_STEP(
        writeFile("/proc/self/uid_map", std::to_string(user) + " " + std::to_string(user) + one));
    KOPT_SANDBOX_STEP(
        writeFile("/proc/self/gid_map", std::to_string(group) + " " + std::to_string(group) + one));
  } else {
    const int error = errno;
    if (unshare(wanted) != 0) {
      errno = error;
      return failed("make namespaces");
    }
  }
  unshare(CLONE_NEWCGROUP); // hides where in the machine's tree this is; older kernels have none
  return {};
}

/// The first process of the namespace: cannot be signalled from inside, and reaps what loses its
/// parent.
[[noreturn]] void waitAsFirst(pid_t program) {
  for (const int fd : {0, 1, 2})
    close(fd); // an end of file must reach kopt when the program closes its streams
  for (;;) {
    int status = 0;
    const pid_t ended = waitpid(-1, &status, 0);
    if (ended == program)
      _exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
    if (ended < 0 && errno != EINTR)
      _exit(kExitRefused);
  }
}

/// Waits until the parent says that the namespaces are whole; false where it is gone.
bool parentLives(int pipe) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  char go = 0;
  ssize_t got;
  while ((got = read(pipe, &go, 1)) < 0 && errno == EINTR) {
  }
  close(pipe);
  return got == 1;
}

/// Runs `first` as the first process of new namespaces and returns its exit code.
template <class First> int runAsFirst(First first, Cgroup *cgroup) {
  int pipe[2];
  if (pipe2(pipe, O_CLOEXEC) != 0)
    return refuse(failed("make a pipe"));
  const pid_t child = fork();
  if (child < 0)
    return refuse(failed("start a process in the new namespaces"));
  if (child == 0) {
    close(pipe[1]);
    if (!parentLives(pipe[0]))
      _exit(kExitRefused);
    setsid(); // what signals its group must not reach kopt's side
    _exit(first());
  }
  close(pipe[0]);
  const int messages = fcntl(2, F_DUPFD_CLOEXEC, 3);
  for (const int fd : {0, 1, 2})
    close(fd);
  [[maybe_unused]] const ssize_t sent = write(pipe[1], "x", 1);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (cgroup && cgroup->killed() > 0 && messages >= 0)
    dprintf(messages, "kopt-sandbox: killed for want of memory: its limit was reached\n");
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/// The streams and nothing else: what else kopt has open is none of the program's business.
void closeOthers() {
  for (int fd = 3; fd < 1024; ++fd)
    fcntl(fd, F_SETFD, FD_CLOEXEC);
}

} // namespace

int becomeProgram(const Options &options, bool wholeView) {
  if (!options.cwd.empty() && chdir(options.cwd.c_str()) != 0)
    return refuse(failed("enter " + options.cwd));
  closeOthers();
  if (const Outcome done = limitResources(options); !done.ok())
    return refuse(done);
  if (const Outcome done = dropPrivileges(); !done.ok())
    return refuse(done);
  if (options.landlock)
    if (const Outcome done = applyLandlock(options, wholeView); !done.ok())
      return refuse(done);
  // The message of a failed exec is prepared first: the filter is the last thing before it.
  std::vector<char *> argv;
  for (const std::string &argument : options.program)
    argv.push_back(const_cast<char *>(argument.c_str()));
  argv.push_back(nullptr);
  if (options.seccomp) {
    CallRules rules;
    rules.network = options.network;
    rules.unixSockets = options.unixSockets;
    rules.fork = rules.signalOthers = options.processes != 1;
    if (const Outcome done = installCallFilter(rules); !done.ok())
      return refuse(done);
  }
  execv(argv[0], argv.data());
  std::fprintf(stderr, "kopt-sandbox: cannot start %s: %s\n", argv[0], std::strerror(errno));
  return kExitNoProgram;
}

int launchInNamespaces(const Options &options) {
  Cgroup cgroup;
  if (!options.cgroup.empty() && options.memoryBytes)
    if (const Outcome done = cgroup.enter(options.cgroup, *options.memoryBytes, options.processes);
        !done.ok())
      return refuse(done);
  if (options.namespaces == Namespaces::None) {
    // No PID namespace to end all with: the group and the death signal do what they can.
    if (options.cgroup.empty())
      return becomeProgram(options, false);
  } else if (const Outcome done = makeNamespaces(options.network); !done.ok()) {
    return refuse(done);
  }
  const bool own = options.namespaces == Namespaces::Own;
  return runAsFirst(
      [&] {
        if (own) {
          bool privateProc = false;
          if (const Outcome done = enterView(options, privateProc); !done.ok())
            return refuse(done);
          static_cast<void>(sethostname("kopt", 4));
        }
        const pid_t program = fork();
        if (program < 0)
          return refuse(failed("start a process"));
        if (program == 0) {
          prctl(PR_SET_PDEATHSIG, SIGKILL);
          setsid();
          _exit(becomeProgram(options, own));
        }
        waitAsFirst(program);
      },
      &cgroup);
}

Outcome tryNamespaces(const Options &options, bool &privateProc) {
  int pipe[2];
  if (pipe2(pipe, O_CLOEXEC) != 0)
    return failed("make a pipe");
  // In a child: namespaces are for ever.
  const pid_t child = fork();
  KOPT_SANDBOX_CALL(child, "start a process");
  if (child == 0) {
    close(pipe[0]);
    const auto tell = [&](const Outcome &outcome) {
      [[maybe_unused]] const ssize_t sent =
          write(pipe[1], outcome.error.data(), outcome.error.size());
      _exit(outcome.code > 0 && outcome.code < 250 ? outcome.code : 250);
    };
    if (const Outcome made = makeNamespaces(options.network); !made.ok())
      tell(made);
    _exit(runAsFirst(
        [&]() -> int {
          bool isPrivate = false;
          if (const Outcome entered = enterView(options, isPrivate); !entered.ok())
            tell(entered);
          return isPrivate ? 0 : 251;
        },
        nullptr));
  }
  close(pipe[1]);
  Outcome outcome;
  char text[512];
  for (ssize_t got; (got = read(pipe[0], text, sizeof text)) > 0;)
    outcome.error.append(text, std::size_t(got));
  close(pipe[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 250;
  privateProc = code == 0;
  if (code != 0 && code != 251) {
    outcome.code = code;
    if (outcome.error.empty())
      outcome.error =
          "cannot make namespaces: the attempt ended with exit code " + std::to_string(code);
  }
  return outcome;
}

int launchInBubblewrap(const Options &options) {
  const std::string self = "/.kopt-sandbox";
  char own[4096];
  const ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
  if (length < 0)
    return refuse(failed("find this program"));
  own[length] = 0;
  std::vector<std::string> words = {"bwrap",
                                    "--unshare-user",
                                    "--unshare-pid",
                                    "--unshare-ipc",
                                    "--unshare-uts",
                                    "--unshare-cgroup-try",
                                    "--die-with-parent",
                                    "--new-session",
                                    "--cap-drop",
                                    "ALL",
                                    "--hostname",
                                    "kopt"};
  const auto add = [&](std::initializer_list<std::string> more) {
    words.insert(words.end(), more);
  };
  if (!options.network)
    add({"--unshare-net"});
  for (const std::string &path : systemPaths()) {
    char target[4096];
    if (const ssize_t n = readlink(path.c_str(), target, sizeof target - 1); n > 0)
      add({"--symlink", std::string(target, std::size_t(n)), path});
    else
      add({"--ro-bind-try", path, path});
  }
  add({"--tmpfs", "/tmp", "--dir", "/dev", "--tmpfs", "/dev/shm", "--proc", "/proc"});
  for (const std::string &node : basicDevices())
    add({"--dev-bind-try", node, node});
  for (const std::string &node : options.devices)
    add({"--dev-bind-try", node, node});
  if (options.sysfs)
    add({"--ro-bind-try", "/sys", "/sys"});
  for (const std::string &path : options.readable)
    add({"--ro-bind-try", path, path});
  for (const std::string &path : options.writable)
    add({"--bind-try", path, path});
  for (const std::string &path : options.hidden) {
    struct stat info{};
    if (stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode))
      add({"--tmpfs", path});
    else if (access(path.c_str(), F_OK) == 0)
      add({"--ro-bind", "/dev/null", path});
  }
  if (!options.cwd.empty())
    add({"--dir", options.cwd});
  add({"--ro-bind", own, self, "--", self, "--inside"});
  if (options.landlock)
    add({"--landlock"});
  if (options.seccomp)
    add({"--seccomp"});
  if (options.network)
    add({"--network"});
  if (options.unixSockets)
    add({"--unix-sockets"});
  for (const auto &[name, value] :
       {std::pair{"--cpu-seconds", options.cpuSeconds},
        std::pair{"--file-bytes", options.fileBytes}, std::pair{"--open-files", options.openFiles},
        std::pair{"--address-bytes", options.addressBytes}})
    if (value)
      add({name, std::to_string(*value)});
  add({"--processes", std::to_string(options.processes)});
  if (!options.cwd.empty())
    add({"--cwd", options.cwd});
  for (const std::string &path : options.writable)
    add({"--writable", path});
  for (const std::string &node : options.devices)
    add({"--device", node});
  add({"--"});
  words.insert(words.end(), options.program.begin(), options.program.end());

  Cgroup cgroup;
  if (!options.cgroup.empty() && options.memoryBytes)
    if (const Outcome done = cgroup.enter(options.cgroup, *options.memoryBytes, options.processes);
        !done.ok())
      return refuse(done);
  std::vector<char *> argv;
  for (const std::string &word : words)
    argv.push_back(const_cast<char *>(word.c_str()));
  argv.push_back(nullptr);
  execvp("bwrap", argv.data());
  return refuse(failed("start bubblewrap (bwrap)"));
}

} // namespace kopt::sandbox
