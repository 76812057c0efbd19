// SPDX-License-Identifier: Apache-2.0
// Translates nvcc's command lines: into what Clang needs to parse the same translation unit, and
// what nvcc itself needs to build a part of it. Reads the environment variables that nvcc takes
// flags from; files named by --options-file are read through a function of the caller.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kopt::frontend {

struct NvccCommand {
  /// For Clang: preprocessor, include path and language options, macros that the user's options
  /// define, in the user's order. No input, no output, no arch.
  std::vector<std::string> clang;
  /// For nvcc: the user's flags without compilation mode, input, output and dependency files;
  /// options files expanded, without those of the environment, which nvcc reads itself.
  std::vector<std::string> nvcc;
  /// "sm_90a", in the given order; empty if the user named none.
  std::vector<std::string> architectures;
  std::vector<std::string> inputs; ///< positional arguments
  std::vector<std::string> notes;  ///< one sentence for each flag that was not understood
};

/// The text of an options file, or nothing if it cannot be read.
using ReadOptionsFile = std::function<std::optional<std::string>(const std::string &path)>;

/// `flags` is a command line without the compiler's name. Never fails: flags that are not
/// understood are noted and skipped.
NvccCommand translateNvcc(const std::vector<std::string> &flags, const ReadOptionsFile &readFile);

/// The newest architecture that Clang 19 knows and that is not newer than `architecture`; sm_90 for
/// unknown names and for an empty string. For parsing only, never for code that runs.
std::string clampArchitecture(std::string_view architecture);

/// The macros that nvcc defines in each compilation for `architectures`, as arguments. `current` is
/// what the device's pass is for, `version` that of nvcc.
std::vector<std::string> nvccMacros(const std::vector<std::string> &architectures,
                                    std::optional<std::string> current,
                                    std::array<int, 3> version = {13, 0, 0});

/// Splits the text of an options file as nvcc does: blanks separate, quotes and backslashes
/// protect.
std::vector<std::string> splitOptions(std::string_view text);

} // namespace kopt::frontend
