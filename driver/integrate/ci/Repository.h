// SPDX-License-Identifier: Apache-2.0
// What kopt asks git: the commit that a change began at, what it changed, and how the files were.
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
  std::string path;    ///< now; of a deleted file where it was
  std::string oldPath; ///< of a renamed file
};

class Repository {
public:
  /// The repository that a folder lies in. Fails with Usage where it is in none, with Environment
  /// where there is no git.
  static Result<Repository> open(ProcessRunner &processes, const std::filesystem::path &folder);

  const std::filesystem::path &top() const { return top_; } ///< its real path
  /// The full hash of HEAD; fails with Usage where there is no commit.
  Result<std::string> head() const;
  /// The commit at which HEAD left `ref`. Fails with Usage where there is no such commit, or no
  /// common one, saying what to fetch.
  Result<std::string> mergeBase(const std::string &ref) const;
  /// What differs between the commit and the working tree, files that git does not know included.
  Result<std::vector<ChangedFile>> changes(const std::string &commit) const;
  /// Whether a tracked file differs from HEAD.
  Result<bool> isDirty() const;
  /// Writes all files of the commit to a folder, beside which it writes an index. Neither the
  /// working tree nor the repository changes. Submodules become links to what is checked out now.
  Status checkOut(const std::string &commit, const std::filesystem::path &folder) const;

private:
  Repository(ProcessRunner &processes, std::filesystem::path top)
      : processes_(&processes), top_(std::move(top)) {}
  Result<std::string> git(std::vector<std::string> arguments,
                          const std::map<std::string, std::string> &env = {}) const;

  ProcessRunner *processes_;
  std::filesystem::path top_;
};

/// The answer of `git diff --name-status -z`. Fails with Internal where it is none.
Result<std::vector<ChangedFile>> parseNameStatus(const std::string &text);

} // namespace kopt
