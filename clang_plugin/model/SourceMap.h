// SPDX-License-Identifier: Apache-2.0
// From the debug locations of IR back to the text and the AST of a slice.
#pragma once

#include "clang_plugin/analysis/KernelView.h"
#include "clang_plugin/model/KernelModel.h"

#include <llvm/IR/DebugLoc.h>
#include <llvm/IR/Instruction.h>

#include <map>

namespace kopt::frontend::model {

enum class Role { Load, Store, Call, Comparison, Loop };

class SourceMap {
public:
  explicit SourceMap(const KernelView &view);

  struct Found {
    Place place;
    std::string text;
    std::vector<Place> calls;
  };
  /// The innermost frame of a location that is text of the slice; line 0 if there is none.
  Found at(const llvm::DebugLoc &location, Role role) const;
  Found of(const llvm::Instruction &instruction) const;

private:
  using Key = std::tuple<Role, unsigned, unsigned>; ///< line, column
  void add(Role role, clang::SourceLocation location, const clang::Stmt *statement);
  void addExpression(const BodyView &body, const clang::Expr *expression);

  const KernelView &view_;
  /// Lines of the slice by file and line as #line has them.
  std::map<std::pair<std::string, unsigned>, unsigned> lines_;
  /// Null: several statements stand there, in a macro.
  std::map<Key, const clang::Stmt *> statements_;
};

} // namespace kopt::frontend::model
