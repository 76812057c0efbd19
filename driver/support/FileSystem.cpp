// SPDX-License-Identifier: Apache-2.0
#include "driver/support/FileSystem.h"

#include "driver/support/Text.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace kopt {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> ioError(const char *verb, const fs::path &path, int error) {
  std::string hint;
  switch (error) {
  case ENOSPC:
  case EDQUOT:
    hint = "free some disk space and run again; nothing was changed";
    break;
  case EACCES:
  case EPERM:
  case EROFS:
    hint = "check the permissions of " +
           (path.has_parent_path() ? path.parent_path().string() : std::string("the folder"));
    break;
  case ENOENT:
    hint = "check that the path exists";
    break;
  default:
    break;
  }
  return makeError(ErrorCode::Environment,
                   std::string("cannot ") + verb + " " + path.string() + ": " +
                       systemMessage(error),
                   hint, path.string());
}

class FileDescriptor {
public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() { close(); }
  FileDescriptor(const FileDescriptor &) = delete;
  FileDescriptor &operator=(const FileDescriptor &) = delete;
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  /// Returns 0 or the errno. A full network disk is often reported only here.
  int close() {
    if (fd_ < 0)
      return 0;
    int error = ::close(fd_) == 0 ? 0 : errno;
    fd_ = -1;
    return error;
  }

private:
  int fd_;
};

int writeAll(int fd, std::string_view content) {
  while (!content.empty()) {
    ssize_t n = ::write(fd, content.data(), content.size());
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return errno;
    content.remove_prefix(std::size_t(n));
  }
  return 0;
}

/// Returns 0 or the errno. If it returns 0, `temporary` has the whole content on disk.
int writeTemporary(const fs::path &temporary, const fs::path &target, std::string_view content) {
  FileDescriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file.valid())
    return errno;
  struct stat old{};
  if (::stat(target.c_str(), &old) == 0 && ::fchmod(file.get(), old.st_mode & 07777) != 0)
    return errno;
  if (int error = writeAll(file.get(), content))
    return error;
  if (::fsync(file.get()) != 0)
    return errno;
  return file.close();
}

} // namespace

Result<std::string> readFile(const fs::path &path) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid())
    return ioError("read", path, errno);
  std::string content;
  struct stat info{};
  if (::fstat(file.get(), &info) == 0 && info.st_size > 0)
    content.reserve(std::size_t(info.st_size));
  char buffer[1 << 16];
  for (;;) {
    ssize_t n = ::read(file.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return ioError("read", path, errno);
    if (n == 0)
      return content;
    content.append(buffer, std::size_t(n));
  }
}

bool isThere(const fs::path &path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

Status createDirectories(const fs::path &path) {
  if (path.empty())
    return {};
  std::error_code error;
  fs::create_directories(path, error);
  if (error)
    return ioError("create folder", path, error.value());
  return {};
}

void removeLeftovers(const fs::path &folder, const std::string &prefix) {
  std::error_code ignored;
  for (const fs::directory_entry &entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix))
      continue;
    const long process = std::strtol(name.c_str() + prefix.size(), nullptr, 10);
    if (process > 0 && ::kill(pid_t(process), 0) != 0 && errno == ESRCH)
      fs::remove_all(entry.path(), ignored);
  }
}

Status writeFileAtomically(const fs::path &path, std::string_view content) {
  // Keep a link and replace its target.
  std::error_code ignored;
  fs::path target = fs::is_symlink(path, ignored) ? fs::weakly_canonical(path, ignored) : path;
  if (target.empty())
    target = path;
  KOPT_CHECK(createDirectories(target.parent_path()));

  static std::atomic<unsigned> counter{0};
  fs::path temporary =
      target.parent_path() / ("." + target.filename().string() + ".kopt-" +
                              std::to_string(::getpid()) + "-" + std::to_string(counter++));
  if (int error = writeTemporary(temporary, target, content)) {
    ::unlink(temporary.c_str());
    return ioError("write", path, error);
  }
  if (::rename(temporary.c_str(), target.c_str()) != 0) {
    int error = errno;
    ::unlink(temporary.c_str());
    return ioError("write", path, error);
  }
  // The rename is durable only once the folder is synced. Some file systems refuse to sync folders,
  // which is not an error.
  fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  FileDescriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.valid())
    ::fsync(directory.get());
  return {};
}

Result<TemporaryDirectory> TemporaryDirectory::create(std::string_view prefix) {
  const char *base = std::getenv("TMPDIR");
  fs::path parent = base && *base ? fs::path(base) : fs::path("/tmp");
  std::string name = (parent / (std::string(prefix) + "-XXXXXX")).string();
  if (!::mkdtemp(name.data()))
    return errno == ENOSPC || errno == EDQUOT
               ? ioError("create a temporary folder in", parent, errno)
               : makeError(ErrorCode::Environment,
                           "cannot create a temporary folder: " + systemMessage(errno),
                           "set TMPDIR to a folder that exists and can be written to",
                           parent.string());
  return TemporaryDirectory(fs::path(name));
}

TemporaryDirectory::TemporaryDirectory(TemporaryDirectory &&other) noexcept
    : path_(std::exchange(other.path_, {})) {}

TemporaryDirectory &TemporaryDirectory::operator=(TemporaryDirectory &&other) noexcept {
  std::swap(path_, other.path_); // the other object's destructor removes our folder
  return *this;
}

TemporaryDirectory::~TemporaryDirectory() {
  if (path_.empty())
    return;
  std::error_code ignored; // a leftover temporary folder is not an error
  fs::remove_all(path_, ignored);
}

FolderUse trimFolder(const fs::path &folder, std::uintmax_t limit, std::string_view extension) {
  struct Entry {
    fs::file_time_type used;
    std::uintmax_t bytes;
    fs::path path;
  };
  std::vector<Entry> entries;
  std::error_code error, gone; // as another process removes some, too
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (Entry entry{it->last_write_time(gone), it->file_size(gone), it->path()}; !gone)
      entries.push_back(std::move(entry));
  std::ranges::sort(entries, std::greater(), &Entry::used);
  FolderUse use;
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(1);
  for (const Entry &entry : entries) {
    const bool isLeft =
        entry.path.extension() != extension && entry.used < old; // by a killed process
    if (use.bytes + entry.bytes > limit || isLeft) {
      fs::remove(entry.path, gone);
      continue;
    }
    use.bytes += entry.bytes;
    ++use.files;
  }
  return use;
}

} // namespace kopt
