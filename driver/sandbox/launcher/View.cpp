// SPDX-License-Identifier: Apache-2.0
#include "driver/sandbox/launcher/View.h"

#include <algorithm>
#include <cctype>
#include <dirent.h>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef __NR_mount_setattr
#define __NR_mount_setattr 442
#endif
#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif

namespace kopt::sandbox {

namespace {

constexpr const char *kOld = "/.old"; ///< where the machine's own root is while the view is made

struct MountAttributes { // struct mount_attr of linux/mount.h
  std::uint64_t set, clear, propagation, userns;
};
constexpr std::uint64_t kReadOnly = 1, kNoSuid = 2, kNoDevices = 4;

Outcome makeFolders(const std::string &path) {
  for (std::size_t slash = path.find('/', 1); slash != path.npos; slash = path.find('/', slash + 1))
    if (mkdir(path.substr(0, slash).c_str(), 0755) != 0 && errno != EEXIST)
      return failed("make the folder " + path.substr(0, slash));
  if (mkdir(path.c_str(), 0755) != 0 && errno != EEXIST)
    return failed("make the folder " + path);
  return {};
}

/// A place to mount on: a folder or an empty file, as `source` is.
Outcome makeTarget(const std::string &path, const struct stat &source) {
  struct stat there{};
  if (lstat(path.c_str(), &there) == 0)
    return {};
  if (S_ISDIR(source.st_mode))
    return makeFolders(path);
  if (const std::size_t slash = path.rfind('/'); slash > 0)
    KOPT_SANDBOX_STEP(makeFolders(path.substr(0, slash)));
  const int fd = open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
  KOPT_SANDBOX_CALL(fd, "make " + path);
  close(fd);
  return {};
}

/// Kernels before 5.12: every mount at or below `path` one by one, keeping the flags that are
/// locked.
Outcome restrictOneByOne(const std::string &path, unsigned long flags) {
  std::ifstream table("/proc/self/mountinfo");
  if (!table)
    table.open(std::string(kOld) + "/proc/self/mountinfo");
  for (std::string line; std::getline(table, line);) {
    std::istringstream words(line);
    std::string id, parent, device, root, target;
    words >> id >> parent >> device >> root >> target;
    if (target != path && target.rfind(path + "/", 0) != 0)
      continue;
    struct statvfs now{};
    if (statvfs(target.c_str(), &now) != 0)
      continue; // hidden by another mount
    unsigned long kept = 0;
    for (const auto &[seen, flag] :
         {std::pair{ST_NOSUID, MS_NOSUID}, std::pair{ST_NODEV, MS_NODEV},
          std::pair{ST_NOEXEC, MS_NOEXEC}, std::pair{ST_NOATIME, MS_NOATIME},
          std::pair{ST_NODIRATIME, MS_NODIRATIME}, std::pair{ST_RELATIME, MS_RELATIME},
          std::pair{ST_RDONLY, MS_RDONLY}})
      if (now.f_flag & static_cast<unsigned long>(seen))
        kept |= static_cast<unsigned long>(flag);
    KOPT_SANDBOX_CALL(
        mount(nullptr, target.c_str(), nullptr, MS_REMOUNT | MS_BIND | kept | flags, nullptr),
        "restrict the mount of " + target);
  }
  return {};
}

Outcome restrictMount(const std::string &path, std::uint64_t set) {
  MountAttributes attributes{set, 0, 0, 0};
  if (syscall(__NR_mount_setattr, AT_FDCWD, path.c_str(), AT_RECURSIVE, &attributes,
              sizeof attributes) == 0)
    return {};
  if (errno != ENOSYS)
    return failed("restrict the mount of " + path);
  return restrictOneByOne(path, (set & kReadOnly ? MS_RDONLY : 0u) |
                                    (set & kNoSuid ? MS_NOSUID : 0u) |
                                    (set & kNoDevices ? MS_NODEV : 0u));
}

/// What the machine has at `path` at the same place of the view. What does not exist is left out.
Outcome show(const std::string &path, std::uint64_t restrictions) {
  const std::string source = kOld + path;
  struct stat info{};
  if (stat(source.c_str(), &info) != 0)
    return {};
  KOPT_SANDBOX_STEP(makeTarget(path, info));
  KOPT_SANDBOX_CALL(mount(source.c_str(), path.c_str(), nullptr, MS_BIND | MS_REC, nullptr),
                    "show " + path);
  return restrictMount(path, restrictions);
}

Outcome hide(const std::string &path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0)
    return {};
  if (S_ISDIR(info.st_mode)) {
    KOPT_SANDBOX_CALL(
        mount("none", path.c_str(), "tmpfs", MS_NOSUID | MS_NODEV | MS_RDONLY, "size=4k,mode=0755"),
        "hide " + path);
  } else {
    KOPT_SANDBOX_CALL(mount("/dev/null", path.c_str(), nullptr, MS_BIND, nullptr), "hide " + path);
  }
  return {};
}

/// /bin, /lib and their like are links into /usr on most systems and folders on others.
Outcome showSystem() {
  for (const std::string &path : systemPaths()) {
    const std::string source = kOld + path;
    char target[4096];
    const ssize_t length = readlink(source.c_str(), target, sizeof target - 1);
    if (length < 0) {
      KOPT_SANDBOX_STEP(show(path, kReadOnly | kNoSuid | kNoDevices));
      continue;
    }
    target[length] = 0;
    if (const std::size_t slash = path.rfind('/'); slash > 0)
      KOPT_SANDBOX_STEP(makeFolders(path.substr(0, slash)));
    KOPT_SANDBOX_CALL(symlink(target, path.c_str()), "link " + path);
  }
  return {};
}

Outcome makeTemporary(const char *path, const std::string &options) {
  KOPT_SANDBOX_STEP(makeFolders(path));
  KOPT_SANDBOX_CALL(mount("none", path, "tmpfs", MS_NOSUID | MS_NODEV, options.c_str()),
                    std::string("mount ") + path);
  return {};
}

Outcome showDevices(const Options &options) {
  for (const std::string &node : basicDevices())
    KOPT_SANDBOX_STEP(show(node, kNoSuid));
  for (const std::string &node : options.devices)
    KOPT_SANDBOX_STEP(show(node, kNoSuid));
  for (const auto &[name, target] :
       {std::pair{"/dev/fd", "/proc/self/fd"}, std::pair{"/dev/stdin", "/proc/self/fd/0"},
        std::pair{"/dev/stdout", "/proc/self/fd/1"}, std::pair{"/dev/stderr", "/proc/self/fd/2"}})
    KOPT_SANDBOX_CALL(symlink(target, name), std::string("link ") + name);
  return {};
}

/// What /proc has beside processes is the kernel's, and some of it root may write without any
/// capability.
Outcome guardKernelFiles() {
  DIR *entries = opendir("/proc");
  if (!entries)
    return failed("list /proc");
  std::vector<std::string> guarded;
  while (const dirent *entry = readdir(entries)) {
    const std::string path = std::string("/proc/") + entry->d_name;
    struct stat info{};
    if (entry->d_name[0] == '.' || std::isdigit(static_cast<unsigned char>(entry->d_name[0])) ||
        lstat(path.c_str(), &info) != 0)
      continue;
    if (S_ISDIR(info.st_mode) || (S_ISREG(info.st_mode) && (info.st_mode & 0222) != 0))
      guarded.push_back(path);
  }
  closedir(entries);
  for (const std::string &path : guarded) {
    KOPT_SANDBOX_CALL(mount(path.c_str(), path.c_str(), nullptr, MS_BIND | MS_REC, nullptr),
                      "guard " + path);
    KOPT_SANDBOX_STEP(restrictMount(path, kReadOnly | kNoSuid | kNoDevices));
  }
  return {};
}

/// A private one can be written to where it is of the processes in it: CUDA's driver names its
/// threads there, and gives up where it cannot (seen with 580).
Outcome mountProc(bool &isPrivate) {
  KOPT_SANDBOX_STEP(makeFolders("/proc"));
  isPrivate = mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) == 0;
  if (!isPrivate) {
    if (errno != EPERM)
      return failed("mount /proc");
    KOPT_SANDBOX_CALL(
        mount((std::string(kOld) + "/proc").c_str(), "/proc", nullptr, MS_BIND | MS_REC, nullptr),
        "show /proc");
    return restrictMount("/proc", kReadOnly | kNoSuid);
  }
  // Where the kernel counts processes by namespace: at most 512, whoever asks for them.
  if (const int limit = open("/proc/sys/kernel/pid_max", O_WRONLY | O_CLOEXEC); limit >= 0) {
    [[maybe_unused]] const ssize_t written = write(limit, "512", 3);
    close(limit);
  }
  return guardKernelFiles();
}

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

Outcome enterView(const Options &options, bool &privateProc) {
  KOPT_SANDBOX_CALL(mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr), "detach the mounts");
  KOPT_SANDBOX_CALL(mount("none", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "size=4m,mode=0755"),
                    "mount a root");
  KOPT_SANDBOX_CALL(mkdir((std::string("/tmp") + kOld).c_str(), 0755),
                    "make a folder in the new root");
  KOPT_SANDBOX_CALL(chdir("/tmp"), "enter the new root");
  KOPT_SANDBOX_CALL(syscall(__NR_pivot_root, ".", kOld + 1), "change the root");
  KOPT_SANDBOX_CALL(chdir("/"), "enter the new root");

  const std::string size =
      "size=" + std::to_string(options.scratchBytes.value_or(64u << 20)) + ",mode=1777";
  KOPT_SANDBOX_STEP(showSystem());
  KOPT_SANDBOX_STEP(makeTemporary("/tmp", size));
  KOPT_SANDBOX_STEP(makeFolders("/dev"));
  KOPT_SANDBOX_STEP(makeTemporary("/dev/shm", size));
  KOPT_SANDBOX_STEP(showDevices(options));
  KOPT_SANDBOX_STEP(mountProc(privateProc));
  if (options.sysfs)
    KOPT_SANDBOX_STEP(show("/sys", kReadOnly | kNoSuid | kNoDevices));

  // A folder before what lies in it.
  std::vector<std::pair<std::string, bool>> places;
  for (const std::string &path : options.readable)
    places.emplace_back(path, false);
  for (const std::string &path : options.writable)
    places.emplace_back(path, true);
  std::sort(places.begin(), places.end());
  for (const auto &[path, writable] : places)
    KOPT_SANDBOX_STEP(show(path, kNoSuid | kNoDevices | (writable ? 0 : kReadOnly)));
  for (const std::string &path : options.hidden)
    KOPT_SANDBOX_STEP(hide(path));
  if (!options.cwd.empty()) {
    struct stat there{};
    if (stat(options.cwd.c_str(), &there) != 0)
      KOPT_SANDBOX_STEP(makeFolders(options.cwd));
  }

  KOPT_SANDBOX_CALL(umount2(kOld, MNT_DETACH), "leave the old root");
  KOPT_SANDBOX_CALL(rmdir(kOld), "remove the old root's folder");
  MountAttributes readOnly{kReadOnly, 0, 0, 0};
  if (syscall(__NR_mount_setattr, AT_FDCWD, "/", 0, &readOnly, sizeof readOnly) != 0 &&
      mount(nullptr, "/", nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV,
            nullptr) != 0)
    return failed("make the root read-only");
  return {};
}

} // namespace kopt::sandbox
