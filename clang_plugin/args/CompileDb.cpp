// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/args/CompileDb.h"

#include "clang_plugin/args/NvccToClangArgs.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <llvm/ADT/StringExtras.h>
#include <nlohmann/json.hpp>

namespace kopt::frontend {
namespace {

namespace fs = std::filesystem;

std::string canonicalPath(const fs::path &path) {
  std::error_code ignored;
  fs::path result = fs::weakly_canonical(path, ignored);
  return ignored ? fs::absolute(path, ignored).lexically_normal().string() : result.string();
}

std::optional<fs::path> findDatabase(const std::string &build, const std::string &file,
                                     std::string &error) {
  std::error_code ignored;
  if (!build.empty()) {
    fs::path path = fs::path(build);
    if (path.filename() != "compile_commands.json")
      path /= "compile_commands.json";
    if (fs::is_regular_file(path, ignored))
      return path;
    error = "no " + path.string() +
            " (configure the project with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON, or give the "
            "flags after --)";
    return std::nullopt;
  }
  for (fs::path folder = fs::path(canonicalPath(file)).parent_path();;
       folder = folder.parent_path()) {
    for (const fs::path &path :
         {folder / "compile_commands.json", folder / "build" / "compile_commands.json"})
      if (fs::is_regular_file(path, ignored))
        return path;
    if (folder == folder.parent_path())
      return std::nullopt;
  }
}

bool isLauncher(const std::string &word) {
  std::string name = fs::path(word).filename().string();
  return name == "ccache" || name == "sccache" || name == "distcc" || name == "icecc";
}

CompileCommand readEntry(const nlohmann::json &entry, const fs::path &base) {
  CompileCommand command;
  command.directory = canonicalPath(base / entry.at("directory").get<std::string>());
  command.file = canonicalPath(fs::path(command.directory) / entry.at("file").get<std::string>());
  std::vector<std::string> words = entry.contains("arguments")
                                       ? entry.at("arguments").get<std::vector<std::string>>()
                                       : splitOptions(entry.at("command").get<std::string>());
  std::size_t compiler = 0;
  // kopt's own launcher has arguments, which end with --.
  if (!words.empty() && fs::path(words[0]).stem() == "kopt-overlay")
    compiler = std::size_t(std::find(words.begin(), words.end(), "--") - words.begin()) + 1;
  while (compiler < words.size() && isLauncher(words[compiler]))
    ++compiler;
  if (compiler < words.size())
    command.arguments.assign(words.begin() + static_cast<std::ptrdiff_t>(compiler) + 1,
                             words.end());
  return command;
}

} // namespace

std::optional<CompileDatabase> loadCompileDatabase(const std::string &build,
                                                   const std::string &file, std::string &error) {
  error.clear();
  std::optional<fs::path> path = findDatabase(build, file, error);
  if (!path)
    return std::nullopt;
  CompileDatabase database;
  database.path = path->string();
  try {
    std::ifstream stream(*path);
    for (const nlohmann::json &entry : nlohmann::json::parse(stream))
      database.commands.push_back(readEntry(entry, path->parent_path()));
  } catch (const nlohmann::json::exception &problem) {
    error = database.path + " is not a compile database: " + problem.what();
    return std::nullopt;
  }
  return database;
}

const CompileCommand *findCommand(const CompileDatabase &database, const std::string &file,
                                  const std::string &text, std::size_t &count) {
  const std::string wanted = canonicalPath(file);
  const CompileCommand *chosen = nullptr;
  count = 0;
  int best = 0; // users run what is in a folder Release, or has the flags of one
  for (const CompileCommand &command : database.commands)
    if (command.file == wanted) {
      ++count;
      const std::string line = " " + llvm::join(command.arguments, " ") + " ";
      const llvm::StringRef words = line, folder = command.directory;
      const int score =
          4 * (words.contains_insensitive("release/") || folder.ends_with_insensitive("release")) -
          2 * words.contains(" -G ") + (words.contains(" -O") && !words.contains(" -O0"));
      if (words.contains(text) && (!chosen || score > best)) {
        chosen = &command;
        best = score;
      }
    }
  return chosen;
}

} // namespace kopt::frontend
