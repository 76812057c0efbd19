// SPDX-License-Identifier: Apache-2.0
// The rewrite itself: replaces names and literals of narrow floating point by those of double,
// token by token, in the whole text, bodies of macros included.
#pragma once

#include "clang_plugin/analysis/KernelSource.h"

#include <set>

namespace kopt::frontend {

struct RewriteRequest {
  std::string text;
  std::vector<std::string> flags; ///< for nvcc; macros on the command line may name types
  /// Names of the text's own variables, types, members and macros; they are not rewritten.
  std::set<std::string> ownNames;
  std::set<std::string>
      ownFunctions; ///< names of the text's own functions; not replaced by helpers
};

/// The rewritten text, with the helpers that it needs after its leading includes.
std::string rewriteToDouble(const RewriteRequest &request);

/// Rewrites an expression that names a kernel, such as "ns::k<float, 4>".
std::string rewriteExpression(const std::string &expression);

} // namespace kopt::frontend
