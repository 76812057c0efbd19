// SPDX-License-Identifier: Apache-2.0
// Conditions that single out a case by a number of the text's own.
#pragma once

#include "clang_plugin/analysis/Values.h"

namespace kopt::frontend {

/// What no launch reaches may be a tail, a fallback for pointers that are not aligned or a loop for
/// larger problems: it follows from sizes and the block. Or it is a case that nobody but its author
/// can explain, as `n == 12345`, `x[i] == 0.333f` or `a < b` of two addresses.
class SpecialCases {
public:
  SpecialCases(const KernelView &view, const Values &values) : view_(view), values_(values) {}

  bool is(const clang::Expr *condition) const;
  /// A case of a switch that asks `value`.
  bool isCase(const clang::Expr *value, const clang::Expr *label) const;
  /// A number beyond the threads of a block: `min(n, 4096)` may be a case, `min(n, 32)` a tile.
  static bool isLarge(const Ingredients &value);
  /// `x % 4`, `x & 3`: what is left over of whole vectors or warps.
  bool isRest(clang::BinaryOperatorKind kind, const clang::Expr *constant) const;

private:
  bool isComparison(const clang::Expr *left, const clang::Expr *right, bool isEquality) const;
  bool isTold(const clang::Expr *value, const clang::Expr *number, bool isEquality) const;
  const clang::Expr *followed(const clang::Expr *value) const;

  const KernelView &view_;
  const Values &values_;
};

} // namespace kopt::frontend
