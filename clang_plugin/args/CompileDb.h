// SPDX-License-Identifier: Apache-2.0
// Reads compile_commands.json as CMake writes it for nvcc, from -p or from a parent folder of the
// source file.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace kopt::frontend {

struct CompileCommand {
  std::string file;      ///< absolute
  std::string directory; ///< absolute; base of the command's relative paths
  /// Without the compiler, and without launchers before it such as ccache or kopt-overlay.
  std::vector<std::string> arguments;
};

struct CompileDatabase {
  std::string path; ///< path of the compile_commands.json
  std::vector<CompileCommand> commands;
};

/// Reads `build`/compile_commands.json. If `build` is empty, reads the first one in the folders
/// above `file` or in their `build` folders. On failure returns nothing, and `error` says what is
/// wrong with which file; an empty `error` means that none was found, and none is required.
std::optional<CompileDatabase> loadCompileDatabase(const std::string &build,
                                                   const std::string &file, std::string &error);

/// The command that compiles `file` (in any spelling of its path), or null. Headers have no
/// command. Of several whose arguments contain `text`, one of a folder Release, else one that is
/// optimized and not for debuggers, else the first. `count` becomes how many there are of `file`.
const CompileCommand *findCommand(const CompileDatabase &database, const std::string &file,
                                  const std::string &text, std::size_t &count);

} // namespace kopt::frontend
