// SPDX-License-Identifier: Apache-2.0
#include "driver/sandbox/launcher/Bubblewrap.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

namespace kopt::sandbox {

namespace {

namespace fs = std::filesystem;

/// The path of this program inside; also the name of the process.
constexpr const char *kSelf = "/kopt-sandbox";
constexpr std::uint64_t kDefaultScratchBytes = 64u << 20;

/// A bind mount in the view. `path` is both the source and the target.
struct Bind {
  std::string path, canonical;
  bool writable;
};

bool liesWithin(const std::string &path, const std::string &folder) {
  return path == folder || path.rfind(folder + "/", 0) == 0;
}

class Command {
public:
  void add(std::initializer_list<std::string> words) {
    words_.insert(words_.end(), words.begin(), words.end());
  }

  /// Adds the system's folders. /bin, /lib and others are links into /usr on most systems and
  /// folders on some.
  void addSystem() {
    for (const std::string &path : systemPaths()) {
      std::error_code failed;
      if (const fs::path target = fs::read_symlink(path, failed); !failed)
        add({"--symlink", target.string(), path});
      else
        addBind(path, false);
    }
  }

  /// Adds a bind mount, unless the path does not exist, is already visible in a folder, or leads
  /// through a link in a visible folder: bubblewrap cannot mount there, and the caller also passes
  /// the target of the link.
  void addBind(const std::string &path, bool writable) {
    std::error_code failed;
    const std::string canonical = fs::canonical(path, failed).string();
    if (failed)
      return;
    const Bind *folder = nullptr;
    for (const Bind &bind : binds_)
      if (liesWithin(path, bind.path) && (!folder || bind.path.size() >= folder->path.size()))
        folder = &bind;
    if (folder && (canonical != folder->canonical + path.substr(folder->path.size()) ||
                   writable == folder->writable))
      return;
    add({writable ? "--bind" : "--ro-bind", path, path});
    binds_.push_back({path, canonical, writable});
  }

  void addTemporary(const std::string &path, std::uint64_t bytes, const char *mode) {
    add({"--perms", mode, "--size", std::to_string(bytes), "--tmpfs", path});
  }

  void addProc(const Options &options) {
    if (options.sharedProc)
      return add({"--ro-bind", "/proc", "/proc"});
    add({"--proc", "/proc"});
    if (!options.guardProc)
      for (const std::string &path : kernelFilesOfProc())
        add({"--ro-bind-try", path, path});
  }

  void addDevices(const std::vector<std::string> &nodes) {
    for (const std::string &node : nodes)
      add({"--dev-bind-try", node, node});
  }

  void hide(const std::string &path) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) {
      addTemporary(path, 4096, "0755");
      add({"--remount-ro", path});
    } else if (fs::exists(path, ignored)) {
      add({"--ro-bind", "/dev/null", path});
    }
  }

  std::vector<std::string> take() { return std::move(words_); }

private:
  std::vector<std::string> words_;
  std::vector<Bind> binds_;
};

} // namespace

std::vector<std::string> systemPaths() {
  return {"/usr",
          "/bin",
          "/sbin",
          "/lib",
          "/lib32",
          "/lib64",
          "/libx32",
          "/opt",
          "/nix/store",
          "/gnu/store",
          "/etc/alternatives",
          "/etc/ld.so.cache",
          "/etc/ld.so.conf",
          "/etc/ld.so.conf.d",
          "/etc/localtime"};
}

std::vector<std::string> basicDevices() {
  return {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"};
}

std::vector<std::string> kernelFilesOfProc() {
  std::vector<std::string> found;
  std::error_code ignored;
  for (const fs::directory_entry &entry : fs::directory_iterator("/proc", ignored)) {
    const std::string path = entry.path().string();
    struct stat info{};
    if (std::isdigit(static_cast<unsigned char>(path[std::strlen("/proc/")])) ||
        lstat(path.c_str(), &info) != 0)
      continue;
    if (S_ISDIR(info.st_mode) || (S_ISREG(info.st_mode) && (info.st_mode & 0222) != 0))
      found.push_back(path);
  }
  return found;
}

std::string findBubblewrap() {
  const char *path = std::getenv("PATH");
  std::istringstream folders(path ? path : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (const std::string file = folder + "/bwrap";
        folder.rfind('/', 0) == 0 && access(file.c_str(), X_OK) == 0)
      return file;
  return "";
}

std::vector<std::string> bubblewrapCommand(const Options &options) {
  Command command;
  // Root works without a user namespace if those are switched off; other users need one.
  command.add({options.bubblewrap, "--unshare-user-try", "--unshare-pid", "--unshare-net",
               "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--hostname", "kopt",
               "--as-pid-1", "--cap-drop", "ALL"});
  // CAP_SETPCAP to give up the right to gain capabilities; both are dropped later.
  if (options.guardProc)
    command.add({"--cap-add", "CAP_SYS_ADMIN", "--cap-add", "CAP_SETPCAP"});
  // Set the loader's variables for the program only: bubblewrap itself uses the system's libraries.
  for (const char *variable : {"LD_LIBRARY_PATH", "LD_PRELOAD"})
    if (const char *value = std::getenv(variable))
      command.add({"--setenv", variable, value});

  command.addSystem();
  const std::uint64_t scratch = options.scratchBytes.value_or(kDefaultScratchBytes);
  command.addTemporary("/tmp", scratch, "1777");
  command.add({"--dir", "/dev"});
  command.addTemporary("/dev/shm", scratch, "1777");
  command.addDevices(basicDevices());
  command.addDevices(options.devices);
  command.add({"--symlink", "/proc/self/fd", "/dev/fd", "--symlink", "/proc/self/fd/0",
               "/dev/stdin", "--symlink", "/proc/self/fd/1", "/dev/stdout", "--symlink",
               "/proc/self/fd/2", "/dev/stderr"});
  command.addProc(options);
  if (options.sysfs)
    command.addBind("/sys", false);

  // Mount a folder before those inside it.
  std::vector<std::pair<std::string, bool>> places;
  for (const std::string &path : options.readable)
    places.emplace_back(path, false);
  for (const std::string &path : options.writable)
    places.emplace_back(path, true);
  std::sort(places.begin(), places.end());
  for (const auto &[path, writable] : places)
    command.addBind(path, writable);
  for (const std::string &path : options.hidden)
    command.hide(path);
  if (!options.cwd.empty())
    command.add({"--dir", options.cwd, "--chdir", options.cwd});

  std::error_code ignored;
  command.add({"--ro-bind", fs::read_symlink("/proc/self/exe", ignored).string(), kSelf,
               "--remount-ro", "/", "--", kSelf, "--inside"});
  for (const std::string &word : options.words)
    command.add({word});
  return command.take();
}

} // namespace kopt::sandbox
