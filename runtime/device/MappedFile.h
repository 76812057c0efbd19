// SPDX-License-Identifier: Apache-2.0
// A regular file's bytes in memory, for reading.
#pragma once

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace kopt::runtime {

class MappedFile {
public:
  MappedFile() = default;
  ~MappedFile() {
    if (!bytes_.empty())
      munmap(const_cast<char *>(bytes_.data()), bytes_.size());
  }
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;

  /// Maps the file; to be called once. On failure returns false and gives the reason in `why`.
  /// `descriptor`: the open file, if the caller has it open; it is closed here, and `path` then
  /// serves messages only.
  bool open(const std::string &path, std::string &why, int descriptor = -1) {
    const int fd = descriptor >= 0 ? descriptor : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat facts{};
    const bool isThere = fd >= 0 && fstat(fd, &facts) == 0,
               isFile = isThere && S_ISREG(facts.st_mode);
    const std::size_t size = isFile ? std::size_t(facts.st_size) : 0;
    void *memory = size > 0 ? mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0) : nullptr;
    if (!isThere || memory == MAP_FAILED)
      why = path + ": " + std::strerror(errno);
    else if (!isFile)
      why = path + ": not a regular file";
    else if (memory)
      bytes_ = {static_cast<const char *>(memory), size};
    if (fd >= 0)
      close(fd);
    return isFile && bytes_.size() == size;
  }

  std::string_view bytes() const { return bytes_; }

private:
  std::string_view bytes_;
};

} // namespace kopt::runtime
