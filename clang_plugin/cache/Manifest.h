// SPDX-License-Identifier: Apache-2.0
// Records what a result was made from, and checks whether that is unchanged.
#pragma once

#include "clang_plugin/output/Fields.h"
#include "clang_plugin/parse/FileRecord.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kopt::frontend {

/// The state of one file or folder.
struct FileFact {
  std::string path; ///< absolute
  SeenFile::Kind kind = SeenFile::Absent;
  /// A program: only size and time are compared, because it is large.
  bool isTool = false;
  std::string hash; ///< of what was read or listed
  std::uint64_t size = 0;
  /// From stat(), in nanoseconds since 1970. If `isSettled`, every later change of the file changes
  /// one of these.
  std::int64_t modified = 0, changed = 0;
  std::uint64_t inode = 0;
  bool isSettled = false;
};
KOPT_FIELDS(FileFact, path, kind, isTool, hash, size, modified, changed, inode, isSettled)

/// Nanoseconds since 1970.
std::int64_t nowInNanoseconds();

class Manifest {
public:
  /// `started`: when the work began whose inputs are added. A file that changed shortly before
  /// that, or later, must be compared by content each time, because its time may not show the next
  /// change.
  explicit Manifest(std::int64_t started) : started_(started) {}
  /// One that was kept.
  explicit Manifest(std::vector<FileFact> files) : files_(std::move(files)) {}

  void add(const std::string &path, const SeenFile &seen);
  void addTool(const std::string &path);
  /// Adds a file that another program has read and that may have changed since.
  void addReadByOthers(const std::string &path);

  /// False if inputs changed while they were being read, so that the result must not be kept.
  bool isSound() const { return isSound_; }

  /// True if everything is unchanged. Sets `touched` if only the time of a file changed; the
  /// manifest is then updated and should be stored again.
  bool holds(bool &touched);

  const std::vector<FileFact> &files() const { return files_; }

private:
  std::int64_t started_ = 0;
  bool isSound_ = true;
  std::vector<FileFact> files_;
};

} // namespace kopt::frontend
