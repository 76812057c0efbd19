// SPDX-License-Identifier: Apache-2.0
// Every file that a parse read or looked for: the files that its result depends on.
#pragma once

#include <array>
#include <cstdint>
#include <llvm/ADT/IntrusiveRefCntPtr.h>
#include <llvm/ADT/StringRef.h>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace llvm::vfs {
class FileSystem;
}

namespace kopt::frontend {

struct SeenFile {
  enum Kind : std::uint8_t {
    Absent, ///< looked for but absent: its presence would change the result
    Exists, ///< a file that was not read, or a folder
    Listed, ///< a folder whose names were read
    Read,
  };
  Kind kind = Absent;
  std::uint64_t size = 0; ///< bytes, of what was read
  std::string hash;       ///< contentHash(), of what was read or listed
};

constexpr auto spellings(SeenFile::Kind) {
  return std::to_array<std::string_view>({"absent", "exists", "listed", "read"});
}

/// XXH3-128 in its canonical form, 32 digits: the driver's support/Hash.cpp gives the same.
std::string contentHash(llvm::StringRef content);

/// The hash of the names in a folder; empty if the folder cannot be read.
std::string listingHash(const std::string &folder);

/// Filled by the parses it is given to, which may run at the same time.
class FileRecord {
public:
  /// A file system that forwards to `below` and records every query here. Must not outlive this
  /// record.
  llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem>
  watch(llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> below);

  /// By absolute path.
  std::map<std::string, SeenFile> files() const;

  void noteAbsent(const std::string &path);
  void noteExists(const std::string &path);
  void noteListed(const std::string &path);
  void noteRead(const std::string &path, llvm::StringRef content);

private:
  mutable std::mutex mutex_;
  std::map<std::string, SeenFile> files_;
};

} // namespace kopt::frontend
