// SPDX-License-Identifier: Apache-2.0
// compile_commands.json.
#include "clang_plugin/args/CompileDb.h"
#include "clang_plugin/args/NvccToClangArgs.h"
#include "tests/fuzz/Fuzz.h"

using namespace kopt::frontend;
using kopt::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const std::string path =
      kopt::fuzz::scratch().write("compile_commands.json", kopt::fuzz::textOf(data, size)).string();
  std::string error;
  const std::optional<CompileDatabase> database = loadCompileDatabase(path, "", error);
  require(database.has_value() == error.empty(), "a database or what is wrong with it");
  if (!database)
    return 0;
  require(database->path == path, "the database knows its file");
  for (const CompileCommand &command : database->commands) {
    require(std::filesystem::path(command.file).is_absolute(), "a file's path is absolute");
    require(std::filesystem::path(command.directory).is_absolute(),
            "a directory's path is absolute");
    std::size_t count = 0;
    const CompileCommand *found = findCommand(*database, command.file, "", count);
    require(found && found->file == command.file, "every file of the database has its command");
    translateNvcc(command.arguments, nullptr);
  }
  return 0;
}
