// SPDX-License-Identifier: Apache-2.0
#include "driver/sandbox/launcher/Cgroup.h"

#include <cerrno>
#include <csignal>
#include <dirent.h>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

namespace kopt::sandbox {

namespace {

constexpr const char *kPrefix = "kopt-";

bool write(const std::string &path, const std::string &text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0)
    return false;
  const bool done = ::write(fd, text.data(), text.size()) == ssize_t(text.size());
  const int error = errno;
  close(fd);
  errno = error;
  return done;
}

bool holdsWord(const std::string &path, const std::string &word) {
  std::ifstream file(path);
  for (std::string found; file >> found;)
    if (found == word)
      return true;
  return false;
}

/// The path in the line of cgroup v2, "0::/user.slice/…".
std::string pathIn(const std::string &own) {
  std::istringstream lines(own);
  for (std::string line; std::getline(lines, line);)
    if (line.rfind("0::", 0) == 0)
      return line.substr(3);
  return "";
}

/// True for the cgroup of a kopt-sandbox that was killed before it could remove it. An empty cgroup
/// may also belong to a live one that has not moved into it yet.
bool isLeftOver(const std::string &name) {
  const std::string prefix = kPrefix;
  if (name.rfind(prefix, 0) != 0)
    return false;
  const pid_t pid = pid_t(std::atol(name.c_str() + prefix.size()));
  return pid > 0 && kill(pid, 0) != 0 && errno == ESRCH;
}

} // namespace

std::string cgroupFolder(const std::string &root, const std::string &own, std::string &why) {
  const std::string path = pathIn(own);
  if (path.empty() || access((root + "/cgroup.controllers").c_str(), R_OK) != 0) {
    why = "there is no cgroup v2 at " + root;
    return "";
  }
  const std::string parent = path == "/" ? "" : path.substr(0, path.rfind('/'));
  const std::string folder = root + parent;
  if (!holdsWord(folder + "/cgroup.subtree_control", "memory")) {
    why = "the memory controller is not on in " + folder;
    return "";
  }
  if (access(folder.c_str(), W_OK) != 0 || access((folder + "/cgroup.procs").c_str(), W_OK) != 0) {
    why = "this user may make no cgroups in " + folder;
    return "";
  }
  return folder;
}

Outcome Cgroup::enter(const std::string &folder, std::uint64_t memoryBytes,
                      std::uint64_t processes) {
  if (DIR *entries = opendir(folder.c_str())) {
    while (const dirent *entry = readdir(entries))
      if (isLeftOver(entry->d_name))
        rmdir((folder + "/" + entry->d_name).c_str()); // fails while a process is in it
    closedir(entries);
  }
  std::ifstream self("/proc/self/cgroup");
  const std::string own = pathIn(std::string(std::istreambuf_iterator<char>(self), {}));
  const std::string path = folder + "/" + kPrefix + std::to_string(getpid());
  KOPT_SANDBOX_CALL(mkdir(path.c_str(), 0755), "make the cgroup " + path);
  path_ = path;
  if (!write(path + "/memory.max", std::to_string(memoryBytes)))
    return failed("limit the memory of " + path);
  write(path + "/memory.swap.max", "0"); // absent if there is no swap
  write(path + "/memory.oom.group", "1");
  // If that controller is on. kopt-sandbox itself is two processes.
  if (processes > 0)
    write(path + "/pids.max", std::to_string(processes + 2));
  if (!write(path + "/cgroup.procs", std::to_string(getpid())))
    return failed("move into the cgroup " + path);
  home_ = folder + own.substr(own.rfind('/'));
  return {};
}

std::uint64_t Cgroup::killed() const {
  if (path_.empty())
    return 0;
  std::ifstream events(path_ + "/memory.events");
  std::uint64_t count = 0;
  for (std::string name; events >> name >> count;)
    if (name == "oom_kill")
      return count;
  return 0;
}

Cgroup::~Cgroup() {
  if (path_.empty())
    return;
  if (!home_.empty())
    write(home_ + "/cgroup.procs", std::to_string(getpid()));
  rmdir(path_.c_str());
}

} // namespace kopt::sandbox
