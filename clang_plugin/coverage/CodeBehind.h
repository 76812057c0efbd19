// SPDX-License-Identifier: Apache-2.0
// Identifies the code that runs when a condition has a certain outcome.
#pragma once

#include "clang_plugin/analysis/KernelFacts.h"

#include <llvm/ADT/SmallPtrSet.h>

namespace kopt::frontend {

/// Two kernels may test the same condition and then do different things. The code is identified by
/// a digest of its tokens and of those of the user's functions that it calls, which does not depend
/// on the layout. The digest is empty if the code only leaves, or if a macro spells it.
class CodeBehind {
public:
  explicit CodeBehind(const KernelFacts &facts) : facts_(facts) {}

  std::string of(const clang::Stmt *statement) const;
  /// The digest of the code from a label to the next one of its switch.
  std::string of(const BodyView &body, const clang::SwitchCase &label) const;

private:
  void addText(const clang::Stmt *statement, std::string &text,
               llvm::SmallPtrSetImpl<const clang::FunctionDecl *> &called) const;

  const KernelFacts &facts_;
};

/// True if control never continues after the statement.
bool leaves(const clang::Stmt *statement);

} // namespace kopt::frontend
