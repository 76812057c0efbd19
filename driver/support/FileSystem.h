// SPDX-License-Identifier: Apache-2.0
// Reads files, and writes them atomically.
#pragma once

#include "driver/support/Result.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace kopt {

/// Fails with Environment, naming the path and the reason.
Result<std::string> readFile(const std::filesystem::path &path);

/// Writes a file beside the target, syncs and renames it, so that a full disk or a kill leaves the
/// old file unchanged. Creates parent folders. Fails with Environment naming the path and the
/// reason.
Status writeFileAtomically(const std::filesystem::path &path, std::string_view content);

/// Removes from `folder` what killed processes left: files and folders whose name is `prefix` and
/// then the number of a process that is gone.
void removeLeftovers(const std::filesystem::path &folder, const std::string &prefix);

/// True if there is something at the path, as far as can be found out.
bool isThere(const std::filesystem::path &path);

Status createDirectories(const std::filesystem::path &path);

struct FolderUse {
  std::size_t files = 0;
  std::uintmax_t bytes = 0;
};
/// Removes the least recently used files of a cache's folder until the others have at most `limit`
/// bytes, and those with another extension that nothing has written to for an hour: a killed
/// process left them. Returns what is left.
FolderUse trimFolder(const std::filesystem::path &folder, std::uintmax_t limit,
                     std::string_view extension);

/// A folder that is removed, with its content, by the destructor.
class TemporaryDirectory {
public:
  static Result<TemporaryDirectory> create(std::string_view prefix);
  TemporaryDirectory(TemporaryDirectory &&other) noexcept;
  TemporaryDirectory &operator=(TemporaryDirectory &&other) noexcept;
  ~TemporaryDirectory();
  const std::filesystem::path &path() const { return path_; }

private:
  explicit TemporaryDirectory(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

} // namespace kopt
