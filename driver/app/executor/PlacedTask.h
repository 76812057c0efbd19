// SPDX-License-Identifier: Apache-2.0
// A task of another machine, with its files in a folder of this one.
#pragma once

#include "driver/judge/remote/JudgeTask.h"

#include <filesystem>
#include <functional>

namespace kopt {

using MapText = std::function<std::string(const std::string &)>;
/// The message with each of its texts as `map` makes it.
nlohmann::json mapped(nlohmann::json message, const MapText &map);
Error mapped(Error error, const MapText &map);

/// Where files of the other machine are on this one: below `root`, under their own paths.
class PathMap {
public:
  PathMap(std::filesystem::path root, const std::vector<WorkerFile> &files);

  const std::string &root() const { return root_; }
  /// The path here.
  std::filesystem::path here(const std::string &path) const;
  /// A compiler's flag, with the paths in it that lead to the files, or to their folders, replaced.
  std::string flag(const std::string &text) const;
  /// A text of this machine with the other's paths again.
  std::string there(std::string text) const;

private:
  std::string root_;
  std::vector<std::string> known_; ///< the files and all folders that they are in, sorted
};

/// The subject of a task, with this machine's paths where something is read; what messages name
/// keeps the other's.
Subject placed(const JudgeTask &task, const PathMap &paths);

} // namespace kopt
