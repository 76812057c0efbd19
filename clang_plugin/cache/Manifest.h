// SPDX-License-Identifier: Apache-2.0
// What a result was made from, and whether it would be made from the same today.
#pragma once

#include "clang_plugin/parse/FileRecord.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kopt::frontend {

/// One file or folder, as it was.
struct FileFact {
  std::string path; ///< absolute
  SeenFile::Kind kind = SeenFile::Absent;
  /// A program: its size and time are enough, its bytes are many.
  bool isTool = false;
  std::string hash; ///< of what was read or listed
  std::uint64_t size = 0;
  /// What stat() says, in nanoseconds since 1970. Where `isSettled`, nobody can have changed the
  /// file since without changing one of these.
  std::int64_t modified = 0, changed = 0;
  std::uint64_t inode = 0;
  bool isSettled = false;
};

/// Nanoseconds since 1970.
std::int64_t nowInNanoseconds();

class Manifest {
public:
  /// `started`: when the work began whose inputs are added. A file that was touched shortly before
  /// or later is one to look into every time: its time might not tell the next change.
  explicit Manifest(std::int64_t started) : started_(started) {}
  Manifest() = default;

  void add(const std::string &path, const SeenFile &seen);
  void addTool(const std::string &path);
  /// A file that was read by another program: by now it may be another one.
  void addReadByOthers(const std::string &path);

  /// False where the inputs changed while they were being read: nothing follows from them.
  bool isSound() const { return isSound_; }

  /// Is everything as it was? `touched` where a file is the same but for its time: the manifest is
  /// then better than the one that was kept.
  bool holds(bool &touched);

  const std::vector<FileFact> &files() const { return files_; }

private:
  template <class Archive> friend void fields(Archive &archive, Manifest &manifest);

  std::int64_t started_ = 0;
  bool isSound_ = true;
  std::vector<FileFact> files_;
};

/// For ByteWriter and ByteReader. Neighbours share most of their path.
struct PackedPath {
  std::uint64_t shared = 0;
  std::string rest;
};

template <class Archive> void fields(Archive &archive, PackedPath &path) {
  archive(path.shared, path.rest);
}

template <class Archive> void fields(Archive &archive, FileFact &fact) {
  auto &[path, kind, isTool, hash, size, modified, changed, inode, isSettled] = fact;
  archive(kind); // the path is the manifest's to write
  if (kind == SeenFile::Absent)
    return;
  archive(isTool, hash, size, modified, changed, inode, isSettled);
}

template <class Archive> void fields(Archive &archive, Manifest &manifest) {
  std::vector<PackedPath> paths;
  std::string before;
  for (const FileFact &fact : manifest.files_) {
    std::size_t shared = 0;
    while (shared < before.size() && shared < fact.path.size() &&
           before[shared] == fact.path[shared])
      ++shared;
    paths.push_back({shared, fact.path.substr(shared)});
    before = fact.path;
  }
  archive(paths, manifest.files_);
  before.clear();
  for (std::size_t i = 0; i < paths.size() && i < manifest.files_.size(); ++i) {
    before = before.substr(0, paths[i].shared) + paths[i].rest;
    manifest.files_[i].path = before;
  }
}

} // namespace kopt::frontend
