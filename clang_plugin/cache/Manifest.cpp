// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/cache/Manifest.h"

#include <chrono>
#include <llvm/Support/MemoryBuffer.h>
#include <sys/stat.h>

namespace kopt::frontend {
namespace {

/// The coarsest resolution of file times, in nanoseconds.
constexpr std::int64_t kCoarsest = 2'000'000'000;

std::int64_t nanoseconds(const timespec &time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

std::optional<std::string> hashOfFile(const std::string &path) {
  // Volatile, so that the file is read and not mapped, because it may change meanwhile.
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false, /*IsVolatile=*/true);
  if (!buffer)
    return std::nullopt;
  return contentHash((*buffer)->getBuffer());
}

/// Records the result of stat() for a file whose content is known. `since`: when the file was read.
/// A file that was changed at about that time or later does not count as settled.
void settle(FileFact &fact, const struct stat &status, std::int64_t since) {
  fact.modified = nanoseconds(status.st_mtim);
  fact.changed = nanoseconds(status.st_ctim);
  fact.inode = status.st_ino;
  fact.isSettled = std::max(fact.modified, fact.changed) < since - kCoarsest;
}

bool holds(FileFact &fact, std::int64_t now, bool &touched) {
  struct stat status;
  bool isThere = ::stat(fact.path.c_str(), &status) == 0;
  if (fact.kind == SeenFile::Absent || !isThere)
    return isThere == (fact.kind != SeenFile::Absent);
  if (fact.kind == SeenFile::Exists && !fact.isTool)
    return true;
  if (fact.kind == SeenFile::Listed) // its time changes when a name is added or removed
    return (fact.isSettled && nanoseconds(status.st_mtim) == fact.modified) ||
           listingHash(fact.path) == fact.hash;
  if (static_cast<std::uint64_t>(status.st_size) != fact.size)
    return false;
  if (fact.isTool)
    return nanoseconds(status.st_mtim) == fact.modified;
  if (fact.isSettled && nanoseconds(status.st_mtim) == fact.modified &&
      nanoseconds(status.st_ctim) == fact.changed && status.st_ino == fact.inode)
    return true;
  if (hashOfFile(fact.path) != fact.hash)
    return false;
  bool wasSettled = fact.isSettled;
  settle(fact, status, now);
  touched |= fact.isSettled || wasSettled;
  return true;
}

} // namespace

std::int64_t nowInNanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

void Manifest::add(const std::string &path, const SeenFile &seen) {
  FileFact fact;
  fact.path = path;
  fact.kind = seen.kind;
  fact.hash = seen.hash;
  fact.size = seen.size;
  struct stat status;
  bool isThere = ::stat(path.c_str(), &status) == 0;
  isSound_ &= isThere == (seen.kind != SeenFile::Absent);
  if (seen.kind == SeenFile::Read)
    isSound_ &=
        !seen.hash.empty() && isThere && static_cast<std::uint64_t>(status.st_size) == seen.size;
  if (isThere && seen.kind >= SeenFile::Listed)
    settle(fact, status, started_);
  files_.push_back(std::move(fact));
}

void Manifest::addTool(const std::string &path) {
  FileFact fact;
  fact.path = path;
  struct stat status;
  if (::stat(path.c_str(), &status) == 0) {
    fact.kind = SeenFile::Exists;
    fact.isTool = true;
    fact.size = static_cast<std::uint64_t>(status.st_size);
    fact.modified = nanoseconds(status.st_mtim);
  }
  files_.push_back(std::move(fact));
}

void Manifest::addReadByOthers(const std::string &path) {
  struct stat status;
  if (::stat(path.c_str(), &status) != 0) {
    isSound_ = false;
    return;
  }
  FileFact fact;
  fact.path = path;
  fact.kind = SeenFile::Read;
  fact.size = static_cast<std::uint64_t>(status.st_size);
  settle(fact, status, started_);
  std::optional<std::string> hash = hashOfFile(path);
  // If it is not settled, it may have been written after the other program read it.
  isSound_ &= fact.isSettled && hash;
  fact.hash = hash.value_or("");
  files_.push_back(std::move(fact));
}

bool Manifest::holds(bool &touched) {
  std::int64_t now = nowInNanoseconds();
  for (FileFact &fact : files_)
    if (!frontend::holds(fact, now, touched))
      return false;
  return true;
}

} // namespace kopt::frontend
