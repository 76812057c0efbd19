// SPDX-License-Identifier: Apache-2.0
// What a file's host code says apart from how it launches kernels, so that two versions of a file
// can be compared: the question and the reply of `kopt-frontend host`.
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
  std::vector<std::string> flags;   ///< nvcc's
  std::string directory;            ///< that relative paths of the flags start from
  std::vector<std::string> kernels; ///< qualified names of those whose launches are left out
};
KOPT_RECORD(HostRequest, file, flags, directory, kernels)

/// A statement, or a part of one: its tokens, one space between them.
struct HostStatement {
  unsigned line = 0;
  std::string text;
  /// The same with the values of constants of namespace scope in the place of their names; empty
  /// where it names none.
  std::string values{};
};
KOPT_RECORD(HostStatement, line, text, values)

enum class HostKind { Function, Variable, Macro };
constexpr auto spellings(HostKind) {
  return std::to_array<std::string_view>({"function", "variable", "macro"});
}

/// A function, a variable of namespace scope or a macro of the user's files; none of functions that
/// only compute configurations of launches. Left out of its text are comments, the configuration of
/// launches of the request's kernels and their template arguments, the variables and parameters
/// that only feed those configurations, local integers that are constant, in whose place their
/// values stand, and the calls that opt in to large shared memory for those kernels.
struct HostItem {
  HostKind kind = HostKind::Function;
  std::string name; ///< qualified; of a function with the types of its parameters
  std::string file;
  std::uint64_t begin = 0, end = 0; ///< bytes of the file
  unsigned line = 0;
  bool launches = false; ///< one of the request's kernels
  std::vector<HostStatement> text;
};
KOPT_RECORD(HostItem, kind, name, file, begin, end, line, launches, text)

struct HostText {
  std::vector<HostItem> items;
  /// Kernels for which the file calls cudaFuncSetAttribute with
  /// cudaFuncAttributeMaxDynamicSharedMemorySize.
  std::vector<std::string> largeShared;
};
KOPT_RECORD(HostText, items, large_shared)

} // namespace kopt
