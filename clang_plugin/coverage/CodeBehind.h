// SPDX-License-Identifier: Apache-2.0
// What runs where a condition has an outcome.
#pragma once

#include "clang_plugin/analysis/KernelFacts.h"

#include <llvm/ADT/SmallPtrSet.h>

namespace kopt::frontend {

/// Two kernels may ask the same and do something else then. The code is told by a digest of its
/// tokens and of those of the user's functions that it calls: the same however it is laid out.
/// Empty where nothing is done but to leave, or a macro spells the code.
class CodeBehind {
public:
  explicit CodeBehind(const KernelFacts &facts) : facts_(facts) {}

  std::string of(const clang::Stmt *statement) const;
  /// From a label to the next one of its switch.
  std::string of(const BodyView &body, const clang::SwitchCase &label) const;

private:
  void addText(const clang::Stmt *statement, std::string &text,
               llvm::SmallPtrSetImpl<const clang::FunctionDecl *> &called) const;

  const KernelFacts &facts_;
};

/// Whether control never gets behind the statement.
bool leaves(const clang::Stmt *statement);

} // namespace kopt::frontend
