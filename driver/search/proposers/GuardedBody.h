// SPDX-License-Identifier: Apache-2.0
// The text of a kernel with two bodies, of which a condition chooses one.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// A constant that has another value in one of the bodies: its declaration there hides the file's.
struct LocalConstant {
  std::string name;
  std::string declaration; ///< "constexpr int UNROLL = 8;"
};

struct BodyGuard {
  std::string condition; ///< "n >= 65536"; the same in all threads of a launch
  std::string variable;  ///< the parameter in it; the condition is tested before it changes
  std::vector<LocalConstant> constants{}; ///< of the body where the condition holds
  /// The usual body ends in an if with an else that this one becomes a part of: `else if`.
  bool extendsChain = false;
};

/// The kernel with the text `usual`, whose body becomes
///     if (CONDITION) { body of `special` } else { body of `usual` }
/// Statements that both bodies begin with stay before the if. Nothing if the two differ outside of
/// their bodies, if a part cannot stand twice in a function (static shared memory, other static
/// variables, labels, macro definitions), or if the text is not understood.
std::optional<std::string> guardedKernel(const std::string &usual, const std::string &special,
                                         const BodyGuard &guard);

/// The kernel's text before its body. Nothing if it is not understood.
std::optional<std::string> textBeforeBody(const std::string &kernel);

} // namespace kopt
