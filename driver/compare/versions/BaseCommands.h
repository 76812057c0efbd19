// SPDX-License-Identifier: Apache-2.0
// The compile commands of another version of the project: the head's commands, with the paths of
// the project's own files replaced by those in that version's tree.
#pragma once

#include "driver/support/Result.h"

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kopt {

struct CompileCommand {
  std::filesystem::path directory, file; ///< absolute
  std::vector<std::string> arguments;    ///< beginning with the compiler
};

/// The commands of a compile database, in order. Fails with Usage if it cannot be read.
Result<std::vector<CompileCommand>> readCompileCommands(const std::filesystem::path &database);
/// The text of a compile database with these commands.
std::string formatCompileCommands(const std::vector<CompileCommand> &commands);

/// True for a flag that is or contains a path.
bool namesPath(std::string_view flag);

/// The working trees of two versions of one project. All paths are absolute.
class TreePair {
public:
  /// `renamed`: the old path in the base for each renamed path in the head, both relative to the
  /// top.
  TreePair(std::filesystem::path head, std::filesystem::path base,
           std::map<std::string, std::string> renamed)
      : head_(std::move(head)), base_(std::move(base)), renamed_(std::move(renamed)) {}

  const std::filesystem::path &head() const { return head_; }
  const std::filesystem::path &base() const { return base_; }

  /// The path relative to the head's top, with forward slashes; empty if it lies outside.
  std::string inHead(const std::filesystem::path &path) const;
  /// For a path in the base's tree, the file's path in the head, relative to the top; its path in
  /// the base if it was not renamed.
  std::string fromBase(const std::filesystem::path &path) const;
  /// The path in the base that corresponds to a path in the head; the path itself if the base has
  /// no such file.
  std::filesystem::path toBase(const std::filesystem::path &path) const;
  /// As toBase(), but empty if the base has no such file.
  std::filesystem::path counterpart(const std::filesystem::path &path) const;

private:
  std::filesystem::path head_, base_;
  std::map<std::string, std::string> renamed_;
};

/// Makes the command that compiles the base's `file` from a command of the head. Option files are
/// expanded, because they may contain paths. Fails with Environment if one cannot be read.
Result<CompileCommand> commandInBase(const CompileCommand &command, const TreePair &trees,
                                     const std::filesystem::path &file);

} // namespace kopt
