// SPDX-License-Identifier: Apache-2.0
// The rewrite itself: names and literals of narrow floating point become those of double, token by
// token, in the whole text, bodies of macros included.
#pragma once

#include "clang_plugin/analysis/KernelSource.h"

#include <set>

namespace kopt::frontend {

struct RewriteRequest {
  std::string text;
  std::vector<std::string> flags; ///< nvcc's: macros on the command line may name types
  /// Names that the text gives to variables, types and members of its own: they stay.
  std::set<std::string> ownNames;
  std::set<std::string>
      ownFunctions; ///< names of the text's own functions: overloads follow the rest
};

/// The text with its edits made and with the helpers it needs put behind its includes.
std::string rewriteToDouble(const RewriteRequest &request);

/// The same for a name such as "ns::k<float, 4>".
std::string rewriteExpression(const std::string &expression);

} // namespace kopt::frontend
