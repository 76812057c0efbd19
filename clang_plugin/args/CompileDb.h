// SPDX-License-Identifier: Apache-2.0
// compile_commands.json, as CMake writes it for nvcc: found by -p or in the parents of the source
// file.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace kopt::frontend {

struct CompileCommand {
  std::string file;      ///< absolute
  std::string directory; ///< absolute; where relative paths of the command are meant from
  std::vector<std::string> arguments; ///< without the compiler (and without launchers such as
                                      ///< ccache or kopt-overlay before it)
};

struct CompileDatabase {
  std::string path; ///< of the compile_commands.json
  std::vector<CompileCommand> commands;
};

/// Reads `build`/compile_commands.json, or the first one in the folders above `file` where `build`
/// is empty (also their `build` folder is looked into). On failure nothing is returned and `error`
/// says what is wrong with which file; an empty `error` means that none was found where none was
/// required.
std::optional<CompileDatabase> loadCompileDatabase(const std::string &build,
                                                   const std::string &file, std::string &error);

/// The command that compiles `file` (any spelling of its path), or null. A header has none of its
/// own.
const CompileCommand *findCommand(const CompileDatabase &database, const std::string &file);

} // namespace kopt::frontend
