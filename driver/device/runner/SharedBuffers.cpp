// SPDX-License-Identifier: Apache-2.0
#include "driver/device/runner/SharedBuffers.h"

#include "driver/support/FileSystem.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

namespace kopt {

SharedBuffers::SharedBuffers(std::filesystem::path folder, std::uint64_t limit)
    : folder_(std::move(folder)), limit_(limit), probe_(make("probe", 1)) {}

std::uint64_t SharedBuffers::defaultLimit() {
  return std::uint64_t(sysconf(_SC_PHYS_PAGES)) * std::uint64_t(sysconf(_SC_PAGESIZE)) / 8;
}

SharedBuffers::~SharedBuffers() {
  give(probe_);
  for (auto &[key, memory] : memories_)
    give(memory);
}

SharedBuffers::Memory SharedBuffers::make(const std::string &name, std::uint64_t bytes) {
  Memory memory;
  memory.descriptor = memfd_create(("kopt " + name).c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (memory.descriptor < 0)
    return memory;
  // Seal the size, so that the runner cannot shrink memory that the judge has mapped.
  if (ftruncate(memory.descriptor, off_t(bytes)) != 0 ||
      fcntl(memory.descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    close(memory.descriptor);
    memory.descriptor = -1;
    return memory;
  }
  memory.bytes = bytes;
  memory.path = fmt::format("/proc/{}/fd/{}", getpid(), memory.descriptor);
  return memory;
}

void SharedBuffers::give(Memory &memory) {
  if (memory.descriptor >= 0)
    close(memory.descriptor);
  memory = {};
}

Result<SharedBuffers::Memory> SharedBuffers::makeFile(const std::filesystem::path &path,
                                                      std::uint64_t bytes) {
  KOPT_CHECK(createDirectories(path.parent_path()));
  Memory memory;
  memory.isFile = true;
  memory.path = path.string();
  memory.descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  // Allocate its disk space, so that writing to the mapped file cannot fail.
  int error = memory.descriptor < 0 || ftruncate(memory.descriptor, off_t(bytes)) != 0 ? errno : 0;
  if (error == 0 && bytes > 0)
    error = posix_fallocate(memory.descriptor, 0, off_t(bytes));
  if (error != 0) {
    if (memory.descriptor >= 0)
      close(memory.descriptor);
    return makeError(ErrorCode::Environment,
                     fmt::format("cannot create a file of {} bytes for a kernel's results, {}: {}",
                                 bytes, memory.path,
                                 std::error_code(error, std::generic_category()).message()),
                     "free some space, or set TMPDIR to a larger disk");
  }
  memory.bytes = bytes;
  return memory;
}

Result<SharedBuffers::Places> SharedBuffers::prepare(const std::string &slot,
                                                     const std::vector<Buffer> &buffers) {
  Places places;
  places.paths.resize(buffers.size());
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const std::uint64_t bytes = buffers[i].bytes;
    if (buffers[i].readOnly)
      continue;
    Memory &memory = memories_[{slot, i}];
    if (memory.descriptor < 0 || memory.bytes != bytes) {
      if (!memory.isFile)
        used_ -= memory.bytes;
      give(memory);
      if (used_ + bytes <= limit_)
        memory = make(fmt::format("{} {}", slot, i), bytes);
      used_ += memory.bytes;
      if (memory.descriptor < 0) {
        KOPT_TRY(memory, makeFile(folder_ / slot / fmt::format("buffer{}.bin", i), bytes));
      }
    }
    places.paths[i] = memory.path;
    places.descriptors.push_back(memory.descriptor);
  }
  return places;
}

} // namespace kopt
