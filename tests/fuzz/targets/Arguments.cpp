// SPDX-License-Identifier: Apache-2.0
// nvcc command lines. Input: the flags, then the texts of the options files "0", "1", …
#include "clang_plugin/args/NvccToClangArgs.h"
#include "tests/fuzz/Fuzz.h"

#include <algorithm>

using namespace kopt::frontend;
using kopt::fuzz::require;

namespace {

std::string quoted(const std::vector<std::string> &words) {
  std::string text;
  for (const std::string &word : words) {
    text += " \"";
    for (const char c : word)
      text += (c == '"' || c == '\\') ? std::string{'\\', c} : std::string{c};
    text += '"';
  }
  return text;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const std::vector<std::string> parts = kopt::fuzz::sections(kopt::fuzz::textOf(data, size));
  const std::vector<std::string> words = splitOptions(parts[0]);
  require(splitOptions(quoted(words)) == words, "quoted words split into the same words");

  const ReadOptionsFile readFile = [&](const std::string &path) -> std::optional<std::string> {
    if (path.size() != 1 || path[0] < '0' || std::size_t(path[0] - '0') + 1 >= parts.size())
      return std::nullopt;
    return parts[std::size_t(path[0] - '0') + 1];
  };
  const NvccCommand command = translateNvcc(words, readFile);
  for (const std::string &input : command.inputs)
    require(input == "-" || input.empty() || input[0] != '-', "an input is no flag");
  for (const std::string &architecture : command.architectures) {
    require(architecture.rfind("sm_", 0) == 0, "an architecture is named sm_*");
    const std::string clamped = clampArchitecture(architecture);
    require(clampArchitecture(clamped) == clamped, "a clamped architecture is known");
  }
  require(std::find(command.nvcc.begin(), command.nvcc.end(), "-c") == command.nvcc.end() ||
              command.nvcc.size() > 1,
          "a compilation mode is not handed on");

  // What goes to nvcc is itself a command line, with nothing left to expand or to drop.
  const NvccCommand again = translateNvcc(command.nvcc, nullptr);
  require(again.nvcc == command.nvcc, "nvcc's flags translate to themselves");
  require(again.clang == command.clang, "nvcc's flags give Clang the same flags");
  require(again.architectures == command.architectures, "nvcc's flags keep the architectures");
  require(again.inputs.empty(), "nvcc's flags hold no input");
  return 0;
}
