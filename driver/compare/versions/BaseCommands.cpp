// SPDX-License-Identifier: Apache-2.0
#include "driver/compare/versions/BaseCommands.h"

#include "driver/support/CommandWords.h"
#include "driver/support/FileSystem.h"
#include "driver/support/JsonText.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kopt {

namespace fs = std::filesystem;

namespace {

/// Flags whose value is a file or a folder that is read, or for the first four a list of words of
/// the host compiler; the value follows the flag directly or is the next word.
constexpr std::array<std::string_view, 15> kPathFlags = {
    "-Xcompiler=",        "-Xcompiler",        "--compiler-options=",
    "--compiler-options", "--include-path=",   "-isystem=",
    "-include=",          "--system-include=", "--include-path",
    "--pre-include=",     "-isystem",          "-include",
    "-idirafter",         "-iquote",           "-I"};
/// Flags that name a file of further flags.
constexpr std::array<std::string_view, 4> kOptionFiles = {
    "--options-file=", "-optf=", "--options-file", "-optf"};

std::string relativeTo(const fs::path &top, const fs::path &path) {
  const fs::path relative = path.lexically_normal().lexically_relative(top);
  if (relative.empty() || *relative.begin() == "..")
    return {};
  return relative.generic_string();
}

/// Rewrites one command.
class Rewriter {
public:
  Rewriter(const CompileCommand &command, const TreePair &trees, const fs::path &file)
      : command_(command), trees_(trees), file_(file) {}

  Result<CompileCommand> rewrite() {
    CompileCommand base;
    base.file = file_;
    const fs::path folder = trees_.counterpart(command_.directory);
    base.directory = folder.empty() ? command_.directory : folder;
    KOPT_CHECK(add(command_.arguments, base.arguments));
    return base;
  }

private:
  Status add(const std::vector<std::string> &words, std::vector<std::string> &out) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string &word = words[i];
      KOPT_TRY(const std::size_t taken, optionFile(words, i, out));
      if (taken > 0) {
        i += taken - 1;
        continue;
      }
      const auto flag = std::ranges::find_if(
          kPathFlags, [&](std::string_view known) { return word.starts_with(known); });
      if (flag == kPathFlags.end()) {
        out.push_back(isUnit(word) ? file_.string() : mapNamed(word));
      } else if (word.size() > flag->size()) {
        out.push_back(std::string(*flag) + mapPath(word.substr(flag->size())));
      } else {
        out.push_back(word);
        if (i + 1 < words.size())
          out.push_back(mapPath(words[++i]));
      }
    }
    return {};
  }

  /// Expands a file of options. Returns the number of words used; 0: the words name no such file.
  Result<std::size_t> optionFile(const std::vector<std::string> &words, std::size_t at,
                                 std::vector<std::string> &out) {
    const std::string &word = words[at];
    const auto flag = std::ranges::find_if(
        kOptionFiles, [&](std::string_view known) { return word.starts_with(known); });
    if (flag == kOptionFiles.end() || (word == *flag && at + 1 >= words.size()))
      return 0;
    const bool isNext = word.size() == flag->size();
    for (const std::string &name : split(isNext ? words[at + 1] : word.substr(flag->size()), ',')) {
      const fs::path path = trees_.toBase(absolute(name));
      KOPT_TRY(const std::string text, readFile(path));
      if (trim(text).empty())
        continue;
      auto inner = splitCommand(replaceAll(text, "\n", " "));
      if (!inner)
        return makeError(ErrorCode::Environment,
                         fmt::format("the file of options cannot be read: {}", inner.error().what),
                         "", path.string());
      KOPT_CHECK(add(*inner, out));
    }
    return isNext ? 2 : 1;
  }

  fs::path absolute(const std::string &text) const {
    return (command_.directory / text).lexically_normal();
  }
  bool isUnit(const std::string &word) const {
    return !word.starts_with("-") && absolute(word) == command_.file.lexically_normal();
  }
  /// A path, a list of them, or the host compiler's words. What is no path from here stays.
  std::string mapPath(const std::string &text) const {
    if (const fs::path own = trees_.toBase(absolute(text)); !text.empty() && isThere(own))
      return own.string();
    if (const std::size_t comma = text.find(','); comma != text.npos)
      return mapPath(text.substr(0, comma)) + "," + mapPath(text.substr(comma + 1));
    for (const std::string_view flag : kPathFlags)
      if (text.starts_with(flag))
        return std::string(flag) + mapPath(text.substr(flag.size()));
    return mapNamed(text);
  }
  /// Replaces absolute paths of the project anywhere in a word, as in
  /// -Xcompiler=-I/project/include.
  std::string mapNamed(const std::string &word) const {
    const std::string top = trees_.head().string() + "/";
    std::string out;
    std::size_t from = 0;
    for (std::size_t at = word.find(top); at != word.npos; at = word.find(top, from)) {
      const std::size_t end = std::min(word.find_first_of("\"',;: ", at), word.size());
      out += word.substr(from, at - from) + trees_.toBase(word.substr(at, end - at)).string();
      from = end;
    }
    return out + word.substr(from);
  }

  const CompileCommand &command_;
  const TreePair &trees_;
  const fs::path &file_;
};

} // namespace

std::string TreePair::inHead(const fs::path &path) const { return relativeTo(head_, path); }

std::string TreePair::fromBase(const fs::path &path) const {
  const std::string relative = relativeTo(base_, path);
  for (const auto &[now, before] : renamed_)
    if (before == relative)
      return now;
  return relative;
}

fs::path TreePair::counterpart(const fs::path &path) const {
  const std::string relative = inHead(path);
  if (relative.empty())
    return {};
  const auto renamed = renamed_.find(relative);
  const fs::path base = base_ / (renamed == renamed_.end() ? relative : renamed->second);
  return isThere(base) ? base.lexically_normal() : fs::path();
}

fs::path TreePair::toBase(const fs::path &path) const {
  fs::path base = counterpart(path);
  return base.empty() ? path : base;
}

bool namesPath(std::string_view flag) {
  return flag.find('/') != flag.npos ||
         std::ranges::any_of(kPathFlags.begin() + 4, kPathFlags.end(), [&](std::string_view known) {
           const std::size_t at = flag.find(known);
           return at == 0 || (at != flag.npos && (flag[at - 1] == ',' || flag[at - 1] == '='));
         });
}

Result<std::vector<CompileCommand>> readCompileCommands(const fs::path &database) {
  KOPT_TRY(const std::string text, readFile(database));
  const nlohmann::json document = nlohmann::json::parse(text, nullptr, false);
  if (!document.is_array())
    return makeError(ErrorCode::Usage, database.string() + " is not a compile database",
                     "write it again, with the build system that made it");
  std::vector<CompileCommand> commands;
  for (const nlohmann::json &entry : document) {
    if (!entry.is_object() || !entry.contains("file") || !entry["file"].is_string())
      continue;
    CompileCommand command;
    command.directory =
        (database.parent_path() / entry.value("directory", std::string())).lexically_normal();
    command.file = (command.directory / entry["file"].get<std::string>()).lexically_normal();
    if (const auto words = entry.find("arguments"); words != entry.end() && words->is_array()) {
      for (const nlohmann::json &word : *words)
        if (word.is_string())
          command.arguments.push_back(word.get<std::string>());
    } else {
      auto split = splitCommand(entry.value("command", std::string()));
      if (!split)
        continue; // skip a command that cannot be parsed
      command.arguments = std::move(*split);
    }
    if (!command.arguments.empty())
      commands.push_back(std::move(command));
  }
  return commands;
}

std::string formatCompileCommands(const std::vector<CompileCommand> &commands) {
  nlohmann::json document = nlohmann::json::array();
  for (const CompileCommand &command : commands)
    document.push_back({{"directory", command.directory.string()},
                        {"file", command.file.string()},
                        {"arguments", command.arguments}});
  return dumpJson(document, 1) + "\n";
}

Result<CompileCommand> commandInBase(const CompileCommand &command, const TreePair &trees,
                                     const fs::path &file) {
  return Rewriter(command, trees, file).rewrite();
}

} // namespace kopt
