// SPDX-License-Identifier: Apache-2.0
// A scratch copy of the user's project in which programs are built and run as if it were the
// original. The user's tree is never written to.
#pragma once

#include "driver/support/Process.h"

#include <filesystem>
#include <string>
#include <vector>

namespace kopt {

/// How a copy takes the place of the original.
enum class CopyView {
  Bubblewrap, ///< mounted over it in a namespace of bubblewrap: every absolute path stays right
  Unshare,    ///< the same by unshare(1), which root may use without user namespaces
  Moved,      ///< it stays where it is: commands run in it, and only relative paths lead there
};

/// Whether this machine allows it. `scratch` is a folder to try it with.
bool allows(ProcessRunner &processes, CopyView view, const std::filesystem::path &scratch);

/// The first that works here. `scratch` is a folder to try it with.
CopyView findCopyView(ProcessRunner &processes, const std::filesystem::path &scratch);

struct CopyRequest {
  std::vector<std::filesystem::path> folders; ///< all that is copied; one may lie in another
  std::vector<std::filesystem::path> left;    ///< below them: not copied
  std::filesystem::path scratch;              ///< an empty folder for the copies
};

class ProjectCopy {
public:
  /// Copies with times of modification, so that a build sees what is up to date. Fails with
  /// Environment where there is no room, naming the folder and its size.
  static Result<ProjectCopy> make(ProcessRunner &processes, CopyView view, CopyRequest request);
  /// A copy of this copy as it is now.
  Result<ProjectCopy> again(ProcessRunner &processes, const std::filesystem::path &scratch) const;

  /// The same command in the copy. Without spec.cwd it starts in the current folder, or in its
  /// copy.
  ProcessSpec inside(ProcessSpec spec) const;
  /// Where a file of the project is in the copy; others are where they are.
  std::filesystem::path fileOf(const std::filesystem::path &original) const;
  /// What the path is called by commands in the copy.
  std::filesystem::path nameOf(const std::filesystem::path &original) const;
  bool holds(const std::filesystem::path &original) const;

private:
  struct Folder {
    std::filesystem::path original, copy;
  };
  CopyView view_ = CopyView::Moved;
  CopyRequest request_;
  std::vector<Folder> folders_; ///< an outer one before those in it
};

/// In words, for reports.
std::string describe(CopyView view);

} // namespace kopt
