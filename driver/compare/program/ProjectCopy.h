// SPDX-License-Identifier: Apache-2.0
// A scratch copy of the user's project, in which programs are built and run as if it were the
// original. kopt never writes to the user's tree.
#pragma once

#include "driver/support/Process.h"

#include <filesystem>
#include <string>
#include <vector>

namespace kopt {

/// How a copy replaces the original.
enum class CopyView {
  Bubblewrap, ///< mounted over it in a namespace, by bubblewrap: absolute paths stay valid
  Unshare,    ///< the same by unshare(1), which root can use without user namespaces
  Moved,      ///< not mounted: commands run in the copy, and only relative paths lead there
};

/// True if this machine allows the view. `scratch` is a folder for the test.
bool allows(ProcessRunner &processes, CopyView view, const std::filesystem::path &scratch);

/// The first view that works on this machine. `scratch` is a folder for the test.
CopyView findCopyView(ProcessRunner &processes, const std::filesystem::path &scratch);

struct CopyRequest {
  std::vector<std::filesystem::path> folders; ///< folders to copy; one may lie in another
  std::vector<std::filesystem::path> left;    ///< paths below them that are not copied
  std::filesystem::path scratch;              ///< an empty folder for the copies
};

class ProjectCopy {
public:
  /// Makes the copy and keeps modification times, so that a build sees what is up to date. Fails
  /// with Environment, naming the folder and its size, if there is not enough space.
  static Result<ProjectCopy> make(ProcessRunner &processes, CopyView view, CopyRequest request);
  /// A copy of the current state of this copy.
  Result<ProjectCopy> again(ProcessRunner &processes, const std::filesystem::path &scratch) const;

  /// The same command, run in the copy. Without spec.cwd it starts in the current folder or the
  /// copy of that folder.
  ProcessSpec inside(ProcessSpec spec) const;
  /// The real path of the copy of a project file; other paths stay unchanged.
  std::filesystem::path fileOf(const std::filesystem::path &original) const;
  /// The path as commands that run in the copy must name it.
  std::filesystem::path nameOf(const std::filesystem::path &original) const;
  bool holds(const std::filesystem::path &original) const;

private:
  struct Folder {
    std::filesystem::path original, copy;
  };
  CopyView view_ = CopyView::Moved;
  CopyRequest request_;
  std::vector<Folder> folders_; ///< an outer folder before those inside it
};

/// A description for reports.
std::string describe(CopyView view);

} // namespace kopt
