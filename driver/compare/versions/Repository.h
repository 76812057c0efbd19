// SPDX-License-Identifier: Apache-2.0
// Asks git for the commit at which a change began, the files that it changed, and their old
// contents.
#pragma once

#include "driver/support/Process.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace kopt {

/// A file that differs between a commit and the working tree; paths are relative to the top.
struct ChangedFile {
  char status = 'M';   ///< A, D, M, R (renamed, maybe changed as well), T; '?' is not tracked
  std::string path;    ///< current path; of a deleted file, its old path
  std::string oldPath; ///< of a renamed file
};

class Repository {
public:
  /// Opens the repository that contains a folder. Fails with Usage if there is none, and with
  /// Environment if git is not available.
  static Result<Repository> open(ProcessRunner &processes, const std::filesystem::path &folder);

  const std::filesystem::path &top() const { return top_; } ///< the real path
  /// The full hash of HEAD. Fails with Usage if there is no commit.
  Result<std::string> head() const;
  /// The best common ancestor of HEAD and `ref`. Fails with Usage, saying what to fetch, if `ref`
  /// does not exist or there is no common commit.
  Result<std::string> mergeBase(const std::string &ref) const;
  /// The files that differ between the commit and the working tree, untracked ones included.
  Result<std::vector<ChangedFile>> changes(const std::string &commit) const;
  /// True if a tracked file differs from HEAD.
  Result<bool> isDirty() const;
  /// Writes all files of the commit to a folder, and an index beside that folder. Neither the
  /// working tree nor the repository changes. Submodules become links to their current working
  /// trees.
  Status checkOut(const std::string &commit, const std::filesystem::path &folder) const;

private:
  Repository(ProcessRunner &processes, std::filesystem::path top)
      : processes_(&processes), top_(std::move(top)) {}
  Result<std::string> git(std::vector<std::string> arguments,
                          const std::map<std::string, std::string> &env = {}) const;

  ProcessRunner *processes_;
  std::filesystem::path top_;
};

/// Parses the output of `git diff --name-status -z`. Fails with Internal if it is malformed.
Result<std::vector<ChangedFile>> parseNameStatus(const std::string &text);

} // namespace kopt
