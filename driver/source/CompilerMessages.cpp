// SPDX-License-Identifier: Apache-2.0
#include "driver/source/CompilerMessages.h"

#include "driver/support/FileSystem.h"
#include "driver/support/Hash.h"
#include "driver/support/Log.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {
namespace {

constexpr std::size_t kLongestLine = 400; ///< characters shown; template names can be longer

/// True for the first line of an error of Clang, nvcc, g++ or ptxas.
bool isError(std::string_view line) {
  return line.find("error:") != line.npos || line.find("error :") != line.npos ||
         line.find(": error #") != line.npos || line.starts_with("error");
}

/// True for the first line of any message with a place: "a.cu:3:4: note: …", "a.cu(3): warning …".
bool isMessage(std::string_view line) {
  return isError(line) || line.find("warning:") != line.npos ||
         line.find("warning #") != line.npos || line.find(": note:") != line.npos;
}

bool isInclude(std::string_view line) {
  return line.starts_with("In file included from") || line.starts_with("                 from");
}

std::string shortened(const std::string &line) {
  return line.size() <= kLongestLine ? line : validUtf8(line.substr(0, kLongestLine)) + " …";
}

} // namespace

std::string lastLines(const std::string &output, std::size_t most) {
  std::vector<std::string> lines = split(trim(output), '\n');
  if (lines.size() > most)
    lines.erase(lines.begin(), lines.end() - std::ptrdiff_t(most));
  return join(lines, "\n");
}

std::string firstError(const std::string &output, std::size_t most) {
  const std::vector<std::string> lines = split(trim(output), '\n');
  const auto count = std::size_t(std::ranges::count_if(lines, isError));
  const bool isShort = lines.size() <= most && std::ranges::all_of(lines, [](const auto &line) {
                         return line.size() <= kLongestLine;
                       });
  if (isShort)
    return join(lines, "\n");
  std::size_t begin = 0, end = lines.size();
  if (count > 0) {
    begin = std::size_t(std::ranges::find_if(lines, isError) - lines.begin());
    // Notes belong to the error; the next error or warning, and its include lines, do not.
    for (end = begin + 1; end < lines.size(); ++end)
      if (isInclude(lines[end]) ||
          (isMessage(lines[end]) && lines[end].find(": note:") == std::string::npos))
        break;
    // Keep only the last include line, which usually names the user's line.
    if (begin > 0 && isInclude(lines[begin - 1]))
      --begin;
  }
  const std::size_t shown = std::min(end - begin, most);
  std::vector<std::string> kept;
  for (std::size_t i = begin; i < begin + shown; ++i)
    kept.push_back(shortened(lines[i]));
  if (count > 1)
    kept.push_back(fmt::format("… and {} more error{}", count - 1, count == 2 ? "" : "s"));
  else if (lines.size() > shown)
    kept.push_back(fmt::format("… {} of {} lines", shown, lines.size()));
  return join(kept, "\n");
}

std::string compilerHint(const std::string &output, const SliceLines *places,
                         std::filesystem::path folder) {
  if (trim(output).empty())
    return {};
  const std::string told = places ? places->tell(output) : output;
  if (isLogging())
    logLine("compiler output:\n" + told);
  std::string hint = "compiler output:\n" + firstError(told);
  if (hint == "compiler output:\n" + std::string(trim(told)))
    return hint;
  std::error_code none;
  if (folder.empty())
    folder = std::filesystem::temp_directory_path(none);
  const std::filesystem::path file = folder / fmt::format("kopt-build-{}.log", hashHex(told));
  const bool isWritten = bool(writeFileAtomically(file, told));
  return hint + (isWritten ? fmt::format("\nfull output: {}", file.string())
                           : "\nfull output: run again with --verbose");
}

} // namespace kopt
