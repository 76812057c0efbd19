// SPDX-License-Identifier: Apache-2.0
// The values that an integer can have in any launch: coordinates of threads, and what is computed
// from them with constants.
#pragma once

#include "clang_plugin/analysis/Values.h"

namespace kopt::frontend {

/// Both bounds are inclusive and not negative.
struct Range {
  long long low = 0, high = 0;
};

class Ranges {
public:
  Ranges(const KernelView &view, const Values &values) : view_(view), values_(values) {}

  /// Nothing if the value depends on arguments, blocks or data, or may be negative or overflow.
  std::optional<Range> of(const clang::Expr *expression) const;
  /// The constant outcome of a comparison (`threadIdx.x % 32 < 32`); nothing if it may be true or
  /// false.
  std::optional<bool> decided(const clang::Expr *condition) const;

private:
  std::optional<Range> of(const clang::Expr *expression, unsigned depth) const;
  std::optional<Range> ofBinary(const clang::BinaryOperator &binary, unsigned depth) const;

  const KernelView &view_;
  const Values &values_;
};

} // namespace kopt::frontend
