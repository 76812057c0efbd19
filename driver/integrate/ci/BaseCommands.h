// SPDX-License-Identifier: Apache-2.0
// How the files of another version of the project are compiled: by the head's commands, with the
// paths of the project's own files in that version's tree.
#pragma once

#include "driver/support/Result.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace kopt {

struct CompileCommand {
  std::filesystem::path directory, file; ///< absolute
  std::vector<std::string> arguments;    ///< the compiler first
};

/// The commands of a compile database, in their order. Fails with Usage where it cannot be read.
Result<std::vector<CompileCommand>> readCompileCommands(const std::filesystem::path &database);
/// As text of a compile database.
std::string formatCompileCommands(const std::vector<CompileCommand> &commands);

/// Two trees of one project. All paths are absolute.
class TreePair {
public:
  /// `renamed`: paths in the head, relative to its top, with those that they had in the base.
  TreePair(std::filesystem::path head, std::filesystem::path base,
           std::map<std::string, std::string> renamed)
      : head_(std::move(head)), base_(std::move(base)), renamed_(std::move(renamed)) {}

  const std::filesystem::path &head() const { return head_; }
  const std::filesystem::path &base() const { return base_; }

  /// The path relative to the head's top, with forward slashes; empty where it lies outside.
  std::string inHead(const std::filesystem::path &path) const;
  /// Of a path in the base's tree: the path relative to the top that the file has in the head, or
  /// had in the base where the head does not have it under another name.
  std::string fromBase(const std::filesystem::path &path) const;
  /// The base's own counterpart of a path of the head; the path as it is where the base has none.
  std::filesystem::path toBase(const std::filesystem::path &path) const;
  /// The same, and nothing where the base has none.
  std::filesystem::path counterpart(const std::filesystem::path &path) const;

private:
  std::filesystem::path head_, base_;
  std::map<std::string, std::string> renamed_;
};

/// The command with which the base's `file` is compiled, from a command of the head's. Option files
/// are put in where they are named, as they may hold paths. Fails with Environment where one cannot
/// be read.
Result<CompileCommand> commandInBase(const CompileCommand &command, const TreePair &trees,
                                     const std::filesystem::path &file);

} // namespace kopt
