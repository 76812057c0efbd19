// SPDX-License-Identifier: Apache-2.0
// Recognises conditions that single out a case by a number in the text.
#pragma once

#include "clang_plugin/analysis/Values.h"

namespace kopt::frontend {

/// Code that no launch reaches may be a tail, a fallback for unaligned pointers or a loop for
/// larger problems, which follow from sizes and the block. Or it is a case that only its author can
/// explain, such as `n == 12345`, `x[i] == 0.333f` or `a < b` for two addresses.
class SpecialCases {
public:
  SpecialCases(const KernelView &view, const Values &values) : view_(view), values_(values) {}

  bool is(const clang::Expr *condition) const;
  /// As is(), for a case of a switch on `value`.
  bool isCase(const clang::Expr *value, const clang::Expr *label) const;
  /// True for a number larger than the threads of a block: `min(n, 4096)` may be a special case,
  /// `min(n, 32)` a tile.
  static bool isLarge(const Ingredients &value);
  /// True for `x % 4`, `x & 3`: the remainder of whole vectors or warps.
  bool isRest(clang::BinaryOperatorKind kind, const clang::Expr *constant) const;

private:
  bool isComparison(const clang::Expr *left, const clang::Expr *right, bool isEquality) const;
  bool isTold(const clang::Expr *value, const clang::Expr *number, bool isEquality) const;
  const clang::Expr *followed(const clang::Expr *value) const;

  const KernelView &view_;
  const Values &values_;
};

} // namespace kopt::frontend
