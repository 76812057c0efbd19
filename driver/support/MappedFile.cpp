// SPDX-License-Identifier: Apache-2.0
#include "driver/support/MappedFile.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace kopt {

Result<MappedFile> MappedFile::open(const std::filesystem::path &path) {
  const auto failed = [&](int error) {
    return makeError(ErrorCode::Environment,
                     "cannot read " + path.string() + ": " +
                         std::error_code(error, std::generic_category()).message(),
                     "", path.string());
  };
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return failed(errno);
  struct stat info{};
  void *memory = nullptr;
  int error = ::fstat(fd, &info) == 0 ? 0 : errno;
  if (error == 0 && info.st_size > 0) {
    memory = ::mmap(nullptr, std::size_t(info.st_size), PROT_READ, MAP_SHARED, fd, 0);
    error = memory == MAP_FAILED ? errno : 0;
  }
  ::close(fd);
  if (error != 0)
    return failed(error);
  return MappedFile({static_cast<const char *>(memory), std::size_t(info.st_size)});
}

MappedFile::MappedFile(MappedFile &&other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile::~MappedFile() {
  if (!bytes_.empty())
    ::munmap(const_cast<char *>(bytes_.data()), bytes_.size());
}

} // namespace kopt
