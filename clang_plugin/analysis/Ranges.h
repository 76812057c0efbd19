// SPDX-License-Identifier: Apache-2.0
// Which numbers an integer can be, whatever is launched: coordinates of threads and what is
// computed from them with constants.
#pragma once

#include "clang_plugin/analysis/Values.h"

namespace kopt::frontend {

/// Both inclusive, neither negative.
struct Range {
  long long low = 0, high = 0;
};

class Ranges {
public:
  Ranges(const KernelView &view, const Values &values) : view_(view), values_(values) {}

  /// Nothing where arguments, blocks or data have a part in it, or it may be negative or overflow.
  std::optional<Range> of(const clang::Expr *expression) const;
  /// What the comparison always is (`threadIdx.x % 32 < 32`); nothing where it may be either.
  std::optional<bool> decided(const clang::Expr *condition) const;

private:
  std::optional<Range> of(const clang::Expr *expression, unsigned depth) const;
  std::optional<Range> ofBinary(const clang::BinaryOperator &binary, unsigned depth) const;

  const KernelView &view_;
  const Values &values_;
};

} // namespace kopt::frontend
