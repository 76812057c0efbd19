// SPDX-License-Identifier: Apache-2.0
#include "driver/compare/program/ProjectCopy.h"

#include "driver/support/FileSystem.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>
#include <unistd.h>

namespace kopt {

namespace fs = std::filesystem;

namespace {

constexpr std::uintmax_t kMostBytes = 16ull << 30; ///< more would take too long to copy
constexpr std::size_t kMostFiles = 400'000;
constexpr Duration kProbeDeadline{20}, kCopyDeadline{600};
constexpr int kParents = 3;                 ///< folders above the project that keep their names
constexpr std::size_t kMostSiblings = 4096; ///< in a folder above the project

bool liesWithin(const fs::path &path, const fs::path &folder) {
  const auto [end, rest] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  static_cast<void>(rest);
  return end == folder.end();
}

fs::path plain(const fs::path &path) {
  std::error_code ignored;
  fs::path real = fs::weakly_canonical(fs::absolute(path, ignored), ignored);
  return real.has_filename() ? real : real.parent_path();
}

bool isLeft(const CopyRequest &request, const fs::path &path) {
  return std::find(request.left.begin(), request.left.end(), path) != request.left.end();
}

/// The bytes to copy; nothing if that is more than kopt copies.
std::optional<std::uintmax_t> bytesOf(const CopyRequest &request, const fs::path &folder) {
  std::uintmax_t bytes = 0;
  std::size_t files = 0;
  std::error_code ignored;
  for (auto at = fs::recursive_directory_iterator(
           folder, fs::directory_options::skip_permission_denied, ignored);
       at != fs::recursive_directory_iterator(); at.increment(ignored)) {
    if (isLeft(request, at->path())) {
      at.disable_recursion_pending();
      continue;
    }
    if (at->is_regular_file(ignored) && !at->is_symlink(ignored))
      bytes += at->file_size(ignored);
    if (bytes > kMostBytes || ++files > kMostFiles)
      return std::nullopt;
  }
  return bytes;
}

Status copyTree(ProcessRunner &processes, const fs::path &from, const fs::path &to,
                const CopyRequest &request) {
  KOPT_CHECK(createDirectories(to));
  ProcessSpec spec;
  spec.argv = {"cp", "-a", "--reflink=auto", "-t", to.string(), "--"};
  spec.timeout = kCopyDeadline;
  std::error_code error;
  bool any = false;
  for (const fs::directory_entry &entry : fs::directory_iterator(from, error)) {
    if (isLeft(request, entry.path()))
      continue;
    spec.argv.push_back(entry.path().string());
    any = true;
  }
  if (error)
    return makeError(ErrorCode::Environment,
                     fmt::format("cannot read {}: {}", from.string(), error.message()),
                     "check its permissions", from.string());
  if (!any)
    return {};
  KOPT_TRY(const ProcessResult copied, processes.run(spec));
  if (copied.ok())
    return {};
  return makeError(ErrorCode::Environment,
                   fmt::format("cannot copy {} to {}: {}", from.string(), to.string(),
                               copied.timedOut ? std::string("it took too long")
                                               : std::string(trim(copied.err))),
                   "make room there, or name another folder in TMPDIR", from.string());
}

/// Links the siblings of the project's folders, so that "../include/x.h" leads to the originals.
void linkSiblings(const fs::path &original, const fs::path &copy) {
  fs::path folder = original, there = copy;
  std::error_code ignored;
  for (int i = 0; i < kParents; ++i) {
    const fs::path parent = folder.parent_path();
    if (parent == parent.root_path() || parent == fs::temp_directory_path(ignored))
      return;
    std::vector<fs::path> siblings;
    for (const fs::directory_entry &entry : fs::directory_iterator(parent, ignored)) {
      if (entry.path() != folder && entry.path().filename() != ".git")
        siblings.push_back(entry.path());
      if (siblings.size() > kMostSiblings)
        return;
    }
    there = there.parent_path();
    for (const fs::path &sibling : siblings)
      if (!fs::exists(fs::symlink_status(there / sibling.filename(), ignored)))
        fs::create_symlink(sibling, there / sibling.filename(), ignored);
    folder = parent;
  }
}

/// The last components of a path, for example "u/a/b/project" of /home/u/a/b/project.
fs::path tailOf(const fs::path &path) {
  fs::path tail = path.filename();
  fs::path parent = path.parent_path();
  for (int i = 0; i < kParents && parent.has_filename(); ++i, parent = parent.parent_path())
    tail = parent.filename() / tail;
  return tail;
}

std::string shellWord(const std::string &text) {
  return "'" + replaceAll(text, "'", "'\\''") + "'";
}

} // namespace

bool allows(ProcessRunner &processes, CopyView view, const fs::path &scratch) {
  const auto works = [&](std::vector<std::string> argv) {
    ProcessSpec spec;
    spec.argv = std::move(argv);
    spec.timeout = kProbeDeadline;
    const auto result = processes.run(spec);
    return result && result->ok();
  };
  const std::string folder = scratch.string();
  switch (view) {
  case CopyView::Bubblewrap:
    return works({"bwrap", "--dev-bind", "/", "/", "--bind", folder, folder, "--", "true"});
  case CopyView::Unshare:
    return ::geteuid() == 0 && works({"unshare", "-m", "--", "mount", "--bind", folder, folder});
  case CopyView::Moved:
    return true;
  }
  return false;
}

CopyView findCopyView(ProcessRunner &processes, const fs::path &scratch) {
  for (const CopyView view : {CopyView::Bubblewrap, CopyView::Unshare})
    if (allows(processes, view, scratch))
      return view;
  return CopyView::Moved;
}

std::string describe(CopyView view) {
  switch (view) {
  case CopyView::Bubblewrap:
    return "scratch copies, mounted over the project by bubblewrap";
  case CopyView::Unshare:
    return "scratch copies, mounted over the project in a mount namespace";
  case CopyView::Moved:
    return "scratch copies beside each other, as this machine allows no mount namespaces";
  }
  return {};
}

Result<ProjectCopy> ProjectCopy::make(ProcessRunner &processes, CopyView view,
                                      CopyRequest request) {
  ProjectCopy made;
  made.view_ = view;
  for (fs::path &folder : request.folders)
    folder = plain(folder);
  for (fs::path &folder : request.left)
    folder = plain(folder);
  std::sort(request.folders.begin(), request.folders.end());
  std::uintmax_t bytes = 0;
  for (const fs::path &folder : request.folders) {
    if (made.holds(folder) && !isLeft(request, folder))
      continue;
    const auto own = bytesOf(request, folder);
    if (!own || folder == folder.root_path())
      return makeError(
          ErrorCode::Environment,
          fmt::format("{} holds more than {} GiB or {} files, too much for a scratch copy",
                      folder.string(), kMostBytes >> 30, kMostFiles),
          "start kopt in the folder of the program, with data files elsewhere", folder.string());
    bytes += *own;
    const fs::path place =
        view == CopyView::Moved
            ? request.scratch / std::to_string(made.folders_.size()) / tailOf(folder)
            : request.scratch / std::to_string(made.folders_.size());
    made.folders_.push_back({folder, place});
  }
  std::error_code error;
  const fs::space_info room = fs::space(request.scratch, error);
  if (!error && room.available / 3 < bytes) // two copies and the results of their builds
    return makeError(ErrorCode::Environment,
                     fmt::format("the project has {} MiB, and {} has room for {} MiB: too little "
                                 "for two copies and their builds",
                                 bytes >> 20, request.scratch.string(), room.available >> 20),
                     "make room there, or name another folder in TMPDIR");
  for (const Folder &folder : made.folders_) {
    KOPT_CHECK(copyTree(processes, folder.original, folder.copy, request));
    if (view == CopyView::Moved)
      linkSiblings(folder.original, folder.copy);
  }
  made.request_ = std::move(request);
  return made;
}

Result<ProjectCopy> ProjectCopy::again(ProcessRunner &processes, const fs::path &scratch) const {
  ProjectCopy made = *this;
  made.request_.scratch = scratch;
  for (Folder &folder : made.folders_) {
    const fs::path from = folder.copy;
    folder.copy = scratch / from.lexically_relative(request_.scratch);
    KOPT_CHECK(copyTree(processes, from, folder.copy, {}));
    if (view_ == CopyView::Moved)
      linkSiblings(folder.original, folder.copy);
  }
  return made;
}

bool ProjectCopy::holds(const fs::path &original) const {
  const fs::path path = plain(original);
  return std::any_of(folders_.begin(), folders_.end(),
                     [&](const Folder &folder) { return liesWithin(path, folder.original); });
}

fs::path ProjectCopy::fileOf(const fs::path &original) const {
  const fs::path path = plain(original);
  for (auto folder = folders_.rbegin(); folder != folders_.rend(); ++folder)
    if (path == folder->original)
      return folder->copy;
    else if (liesWithin(path, folder->original))
      return folder->copy / path.lexically_relative(folder->original);
  return original;
}

fs::path ProjectCopy::nameOf(const fs::path &original) const {
  return view_ == CopyView::Moved && original.is_absolute() && holds(original) ? fileOf(original)
                                                                               : original;
}

ProcessSpec ProjectCopy::inside(ProcessSpec spec) const {
  std::error_code ignored;
  const fs::path directory = spec.cwd.empty() ? fs::current_path(ignored) : spec.cwd;
  if (view_ == CopyView::Moved) {
    spec.cwd = nameOf(directory);
    for (std::string &word : spec.argv)
      if (!word.empty() && word.front() == '/')
        word = nameOf(word).string();
    // The folder in which the command starts may lie outside the project.
    std::string &program = spec.argv.front();
    if (program.find('/') != program.npos && program.front() != '/' && !holds(directory) &&
        holds(directory / program))
      program = fileOf(directory / program).string();
    return spec;
  }
  spec.cwd.clear();
  std::vector<std::string> argv;
  if (view_ == CopyView::Bubblewrap) {
    argv = {"bwrap", "--die-with-parent", "--dev-bind", "/", "/"};
    for (const Folder &folder : folders_)
      argv.insert(argv.end(), {"--bind", folder.copy.string(), folder.original.string()});
    for (const fs::path &left : request_.left)
      if (left.filename() == ".git" && fs::exists(left, ignored))
        argv.insert(argv.end(), {"--ro-bind", left.string(), left.string()});
    argv.insert(argv.end(), {"--chdir", directory.string(), "--"});
  } else {
    std::string script = "set -e; ";
    for (const Folder &folder : folders_)
      script += fmt::format("mount --bind {} {}; ", shellWord(folder.copy.string()),
                            shellWord(folder.original.string()));
    script += fmt::format("cd {}; exec \"$@\"", shellWord(directory.string()));
    argv = {"unshare", "-m", "--", "/bin/sh", "-c", script, "kopt"};
  }
  argv.insert(argv.end(), spec.argv.begin(), spec.argv.end());
  spec.argv = std::move(argv);
  return spec;
}

} // namespace kopt
