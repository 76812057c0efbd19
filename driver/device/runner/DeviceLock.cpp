// SPDX-License-Identifier: Apache-2.0
#include "driver/device/runner/DeviceLock.h"
#include "driver/device/runner/RunnerClient.h"

#include <cctype>
#include <cerrno>
#include <chrono>
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

DeviceLock::DeviceLock(std::filesystem::path file, std::string device, RunnerHooks hooks)
    : file_(std::move(file)), device_(std::move(device)), hooks_(std::move(hooks)) {}

DeviceLock::~DeviceLock() {
  if (descriptor_ >= 0)
    ::close(descriptor_);
}

Status DeviceLock::open() {
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

Result<bool> DeviceLock::tryLock() {
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

/// The process that claims to hold the lock, for messages only.
std::string DeviceLock::holder() const {
  char text[16] = "";
  const ssize_t size = ::pread(descriptor_, text, sizeof text - 1, 0);
  const long pid = size > 0 ? std::strtol(text, nullptr, 10) : 0;
  return pid > 0 ? fmt::format("another kopt (process {})", pid) : "another kopt";
}

Result<DeviceLock::Hold> DeviceLock::take() {
  if (file_.empty())
    return Hold(nullptr);
  {
    const std::lock_guard guard(mutex_);
    if (holds_ > 0) {
      ++holds_;
      return Hold(this);
    }
  }
  for (;; std::this_thread::sleep_for(kPoll)) {
    KOPT_TRY(const bool locked, tryLock());
    if (locked)
      break;
    if (hooks_.interrupted && hooks_.interrupted())
      return makeError(ErrorCode::Interrupted,
                       fmt::format("interrupted while waiting for {}", device_),
                       "continue with the same command and --resume");
    if (!hasTold_ && descriptor_ >= 0 && hooks_.tell)
      hooks_.tell(fmt::format("{} uses {}: kopt takes turns with it", holder(), device_));
    hasTold_ |= descriptor_ >= 0;
  }
  const std::string text = fmt::format("{}\n", ::getpid());
  static_cast<void>(::ftruncate(descriptor_, 0));
  static_cast<void>(::pwrite(descriptor_, text.data(), text.size(), 0));
  const std::lock_guard guard(mutex_);
  ++holds_;
  return Hold(this);
}

Result<std::string> DeviceLock::otherHolder(std::chrono::milliseconds watch) {
  std::error_code ignored;
  if (file_.empty() || !std::filesystem::exists(file_, ignored))
    return std::string(); // nobody has used the device
  for (std::chrono::milliseconds waited{0};; waited += kPoll) {
    KOPT_TRY(const bool locked, tryLock());
    if (!locked && descriptor_ >= 0)
      return holder();
    if (locked)
      ::flock(descriptor_, LOCK_UN);
    if (waited >= watch)
      return std::string();
    std::this_thread::sleep_for(kPoll);
  }
}

void DeviceLock::release() {
  const std::lock_guard guard(mutex_);
  if (--holds_ == 0)
    ::flock(descriptor_, LOCK_UN);
}

} // namespace kopt
