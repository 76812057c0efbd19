// SPDX-License-Identifier: Apache-2.0
#include "driver/device/runner/DeviceLock.h"
#include "driver/support/FileSystem.h"

#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace kopt {

namespace {

/// Shorter than the pauses between two requests of the holder, so that nobody waits long.
constexpr std::chrono::milliseconds kPoll{5};

} // namespace

std::filesystem::path deviceLockFile(const std::string &uuid) {
  const char *folder = std::getenv("KOPT_LOCK_DIR");
  // The name comes from the runner, so it must not be able to name a path.
  std::string name;
  for (const char c : uuid)
    name += std::isalnum(static_cast<unsigned char>(c)) || c == '-' ? c : '_';
  return std::filesystem::path(folder && *folder ? folder : "/tmp") / ("kopt-" + name + ".lock");
}

LockFile::~LockFile() {
  if (descriptor_ >= 0)
    ::close(descriptor_);
}

Status LockFile::open() {
  if (descriptor_ >= 0)
    return {};
  // Another user's file is opened, too, but never through a link, and only if it is a plain file.
  // O_CREAT is used only if the file is missing, because Linux refuses it for other users' files in
  // /tmp.
  constexpr int kFlags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  int descriptor = -1;
  for (const int flags : {kFlags, kFlags | O_CREAT | O_EXCL, kFlags})
    if (descriptor = ::open(file_.c_str(), flags, 0666); descriptor >= 0)
      break;
  const int error = errno;
  struct stat info{};
  if (descriptor < 0 || ::fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode) ||
      info.st_nlink > 1) {
    const std::string why = descriptor < 0
                                ? std::error_code(error, std::generic_category()).message()
                                : std::string("it is not a plain file, or has several names");
    if (descriptor >= 0)
      ::close(descriptor);
    return makeError(
        ErrorCode::Environment,
        fmt::format("cannot open {}, the lock file of {}: {}", file_.string(), device_, why),
        "remove it, or name another folder for lock files in KOPT_LOCK_DIR", file_.string());
  }
  // Writable for all users, whatever the umask: it contains only a number.
  if (info.st_uid == ::geteuid() && (info.st_mode & 0777) != 0666)
    static_cast<void>(::fchmod(descriptor, 0666));
  descriptor_ = descriptor;
  return {};
}

Result<bool> LockFile::tryLock() {
  KOPT_CHECK(open());
  int result;
  while ((result = ::flock(descriptor_, LOCK_EX | LOCK_NB)) != 0 && errno == EINTR) {
  }
  if (result != 0)
    return false;
  // Someone may have removed the file; then another kopt would lock a new one.
  struct stat ours{}, named{};
  if (::fstat(descriptor_, &ours) == 0 && ::lstat(file_.c_str(), &named) == 0 &&
      ours.st_dev == named.st_dev && ours.st_ino == named.st_ino)
    return true;
  ::close(std::exchange(descriptor_, -1));
  return false;
}

bool LockFile::exists() const { return isThere(file_); }

void LockFile::unlock() { ::flock(descriptor_, LOCK_UN); }

std::string LockFile::holder() const {
  char text[16] = "";
  const ssize_t size = ::pread(descriptor_, text, sizeof text - 1, 0);
  const long pid = size > 0 ? std::strtol(text, nullptr, 10) : 0;
  return pid > 0 ? fmt::format("another kopt (process {})", pid) : "another kopt";
}

void LockFile::writeHolder() {
  const std::string text = fmt::format("{}\n", ::getpid());
  static_cast<void>(::ftruncate(descriptor_, 0));
  static_cast<void>(::pwrite(descriptor_, text.data(), text.size(), 0));
}

DeviceLock::DeviceLock(const std::filesystem::path &file, std::string device, RunnerHooks hooks)
    : isShared_(!file.empty()), device_(std::move(device)), hooks_(std::move(hooks)),
      lock_(file, device_), turn_(file.string() + ".next", device_) {}

Status DeviceLock::waitFor(LockFile &file) {
  for (;; std::this_thread::sleep_for(kPoll)) {
    KOPT_TRY(const bool locked, file.tryLock());
    if (locked)
      return {};
    if (hooks_.interrupted && hooks_.interrupted())
      return makeError(ErrorCode::Interrupted,
                       fmt::format("interrupted while waiting for {}", device_),
                       "continue with the same command and --resume");
    if (!lock_.isOpen() || std::exchange(hasTold_, true) || !hooks_.tell)
      continue;
    hooks_.tell(fmt::format("{} uses {}: kopt takes turns with it", lock_.holder(), device_));
  }
}

Result<DeviceLock::Hold> DeviceLock::take() {
  if (!isShared_)
    return Hold(nullptr);
  {
    const std::lock_guard guard(mutex_);
    if (holds_ > 0) {
      ++holds_;
      return Hold(this);
    }
  }
  KOPT_CHECK(waitFor(turn_));
  const Status locked = waitFor(lock_);
  turn_.unlock();
  KOPT_CHECK(locked);
  lock_.writeHolder();
  const std::lock_guard guard(mutex_);
  ++holds_;
  return Hold(this);
}

Result<std::string> DeviceLock::otherHolder(std::chrono::milliseconds watch) {
  if (!isShared_ || !lock_.exists())
    return std::string(); // nobody has used the device
  for (std::chrono::milliseconds waited{0};; waited += kPoll) {
    KOPT_TRY(const bool locked, lock_.tryLock());
    if (!locked && lock_.isOpen())
      return lock_.holder();
    if (locked)
      lock_.unlock();
    if (waited >= watch)
      return std::string();
    std::this_thread::sleep_for(kPoll);
  }
}

void DeviceLock::release() {
  const std::lock_guard guard(mutex_);
  if (--holds_ == 0)
    lock_.unlock();
}

} // namespace kopt
