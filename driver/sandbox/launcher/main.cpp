// SPDX-License-Identifier: Apache-2.0
// kopt-sandbox: runs one program with access to nothing except what the command line gives it. kopt
// starts programs with it that it does not trust; see README.md of driver/sandbox.
#include "driver/sandbox/launcher/Bubblewrap.h"
#include "driver/sandbox/launcher/Cgroup.h"
#include "driver/sandbox/launcher/Landlock.h"
#include "driver/sandbox/launcher/Launch.h"
#include "driver/sandbox/launcher/Privileges.h"
#include "driver/sandbox/launcher/Seccomp.h"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kopt::sandbox {
namespace {

void say(const char *layer, bool active, const std::string &detail,
         const std::string &remedy = "") {
  std::printf("%s\t%d\t%s\t%s\n", layer, int(active), detail.c_str(), active ? "" : remedy.c_str());
}

bool readsOne(const char *file) {
  std::ifstream setting(file);
  int value = 0;
  return bool(setting >> value) && value == 1;
}

std::string namespaceRemedy(const std::string &why) {
  if (why.find("Unknown option") != why.npos)
    return "install bubblewrap 0.7 or later";
  if (why.find("setuid mode") != why.npos)
    return "use a bubblewrap that is not installed set-user-ID, and allow user namespaces";
  if (readsOne("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"))
    return "AppArmor forbids user namespaces to programs without a profile: install one for "
           "bubblewrap, or set the sysctl kernel.apparmor_restrict_unprivileged_userns to 0";
  std::ifstream count("/proc/sys/user/max_user_namespaces");
  long most = 1;
  if (count >> most; most == 0)
    return "the sysctl user.max_user_namespaces is 0: raise it";
  std::ifstream debian("/proc/sys/kernel/unprivileged_userns_clone");
  int allowed = 1;
  if (debian >> allowed; allowed == 0)
    return "the sysctl kernel.unprivileged_userns_clone is 0: set it to 1";
  return "in a container, allow user namespaces (its seccomp profile refuses them), or run kopt "
         "outside of it";
}

/// True if a child process can be started and `step` succeeds in it.
template <class Step> bool works(Step step) {
  const pid_t child = fork();
  if (child == 0)
    _exit(step() ? 0 : 1);
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

/// Probes the two layers that bubblewrap makes. Returns the options that use them.
std::string probeNamespaces() {
  const std::string none = " --namespaces none";
  Options options;
  options.bubblewrap = findBubblewrap();
  if (options.bubblewrap.empty()) {
    say("namespaces", false, "bubblewrap (bwrap) is not installed", "install bubblewrap");
    say("private /proc", false, "needs namespaces", "install bubblewrap");
    return none;
  }
  // Try the fastest way first. If bubblewrap grants no capabilities (installed set-user-ID,
  // AppArmor), it has to do more itself; if the kernel refuses a new /proc, show the machine's.
  options.guardProc = true;
  Outcome made = tryNamespaces(options);
  if (!made.ok()) {
    options.guardProc = false;
    made = tryNamespaces(options);
  }
  const bool isPrivate = made.ok();
  if (!isPrivate) {
    options.sharedProc = true;
    made = tryNamespaces(options);
  }
  if (!made.ok()) {
    say("namespaces", false, made.error, namespaceRemedy(made.error));
    say("private /proc", false, "needs namespaces", namespaceRemedy(made.error));
    return none;
  }
  say("namespaces", true, "user, mount, PID, network, IPC and UTS namespaces, made by bubblewrap");
  say("private /proc", isPrivate,
      isPrivate ? "shows the child's own processes alone"
                : "the kernel refuses one, so what runs CUDA runs without namespaces",
      "a container that hides parts of /proc must not, or run kopt outside of it");
  return " --namespaces " + options.bubblewrap + (options.guardProc ? " --guard-proc" : "") +
         (options.sharedProc ? " --shared-proc" : "");
}

bool filterWorks() {
  return works([] {
    return dropPrivileges().ok() && installCallFilter({}).ok() &&
           ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == -1 && errno == EPERM;
  });
}

/// Finds out by trying which layers of a sandbox this machine supports for this user. Prints a line
/// for each layer: its name, 1 or 0, how it works or why not, and the remedy, separated by tabs.
/// The line "use" has options for the command line instead of a layer. Returns the exit code.
int probe() {
  std::string use = probeNamespaces();
  const bool filter = filterWorks();
  if (filter)
    use += " --seccomp";
  say("system call filter", filter, filter ? "seccomp" : "the kernel refuses seccomp filters",
      "use a kernel with CONFIG_SECCOMP_FILTER");

  const int version = landlockVersion();
  const std::string why = version > 0 ? "" : std::strerror(errno);
  if (version > 0)
    use += " --landlock";
  say("Landlock", version > 0,
      version > 0 ? "version " + std::to_string(version) : "the kernel has none: " + why,
      "use Linux 5.13 or later with landlock in the kernel's lsm= list");

  std::ifstream file("/proc/self/cgroup");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  std::string reason, folder = cgroupFolder("/sys/fs/cgroup", text, reason);
  if (!folder.empty() && !works([&] {
        Cgroup cgroup;
        const Outcome entered = cgroup.enter(folder, 1u << 30, 0);
        return entered.ok();
      })) {
    reason = "cgroups can be made in " + folder + " but not entered";
    folder.clear();
  }
  if (!folder.empty())
    use += " --cgroup " + folder;
  say("memory limit", !folder.empty(), folder.empty() ? reason : "cgroup v2 in " + folder,
      "run kopt in a session that systemd has delegated a cgroup to: systemd-run --user --scope -p "
      "Delegate=yes kopt …");

  say("resource limits", true, "processor time, file size, open files, no core files");
  say("no new privileges", true, "no capabilities, and none to be gained");
  say("use", true, use);
  return 0;
}

} // namespace
} // namespace kopt::sandbox

int main(int argc, char **argv) {
  using namespace kopt::sandbox;
  std::string why;
  const std::optional<Options> options = parseOptions(argc, argv, why);
  if (!options) {
    std::fprintf(stderr, "kopt-sandbox: %s\n", why.c_str());
    return kExitUsage;
  }
  if (options->probe)
    return probe();
  return options->inside ? launchInside(*options) : launch(*options);
}
