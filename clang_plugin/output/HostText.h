// SPDX-License-Identifier: Apache-2.0
// A file's host code except for how it launches kernels, so that two versions of a file can be
// compared: the request and the reply of `kopt-frontend host`.
#pragma once

#include "clang_plugin/output/Fields.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kopt {

struct HostRequest {
  std::string file;
  std::vector<std::string> flags;   ///< for nvcc
  std::string directory;            ///< to which relative paths in the flags refer
  std::vector<std::string> kernels; ///< qualified names; their launches are left out
};
KOPT_FIELDS(HostRequest, file, flags, directory, kernels)

/// A statement, or a part of one: its tokens, one space between them.
struct HostStatement {
  unsigned line = 0;
  std::string text;
  /// The text with the names of constants at namespace scope replaced by their values; empty if it
  /// names none.
  std::string values{};
};
KOPT_FIELDS(HostStatement, line, text, values)

enum class HostKind { Function, Variable, Macro };
constexpr auto spellings(HostKind) {
  return std::to_array<std::string_view>({"function", "variable", "macro"});
}

/// A function, a variable at namespace scope or a macro of the user's files, except functions that
/// only compute launch configurations. The text leaves out comments, the launch configurations and
/// template arguments of the request's kernels, the variables and parameters that only feed those
/// configurations, and the calls that opt in to large shared memory for those kernels. Constant
/// local integers are replaced by their values.
struct HostItem {
  HostKind kind = HostKind::Function;
  std::string name; ///< qualified; for a function, with its parameter types
  std::string file;
  std::uint64_t begin = 0, end = 0; ///< bytes of the file
  unsigned line = 0;
  bool launches = false; ///< it launches one of the request's kernels
  std::vector<HostStatement> text;
};
KOPT_FIELDS(HostItem, kind, name, file, begin, end, line, launches, text)

struct HostText {
  std::vector<HostItem> items;
  /// Kernels for which the file calls cudaFuncSetAttribute with
  /// cudaFuncAttributeMaxDynamicSharedMemorySize.
  std::vector<std::string> largeShared;
};
KOPT_FIELDS(HostText, items, largeShared)

} // namespace kopt
