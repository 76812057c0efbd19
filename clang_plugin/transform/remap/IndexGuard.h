// SPDX-License-Identifier: Apache-2.0
// The test of its index with which a kernel begins.
#pragma once

#include "clang_plugin/model/KernelModel.h"
#include "clang_plugin/transform/Transformation.h"

namespace kopt::frontend {

/// `index < bound`, or `index >= bound` where the kernel leaves.
struct GuardTest {
  const clang::Expr *index = nullptr, *bound = nullptr;
  /// The index is `blockIdx * width + threadIdx` along this axis.
  unsigned axis = 0;
};

/// `declarations; if (tests) { work }`, or with `if (tests) return;` before the work.
struct IndexGuard {
  std::vector<const clang::DeclStmt *> declarations;
  const clang::IfStmt *statement = nullptr;
  bool leaves = false; ///< the second form
  /// One for each of its parts that differs between threads. Each launch has a block as wide as the
  /// index says, and at least as many threads as elements where their number is known.
  std::vector<GuardTest> tests;
};

/// Nothing, with a refusal, for kernels of another form.
std::optional<IndexGuard> readGuard(const KernelView &view, Refusals &refusals);

} // namespace kopt::frontend
