// SPDX-License-Identifier: Apache-2.0
// A view of one kernel of a parsed slice for rewrites and screening: the function bodies that run
// on the device, with template arguments substituted, the parent of each statement, and the mapping
// from the AST to bytes of the text.
#pragma once

#include "clang_plugin/analysis/KernelSource.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/Support/Error.h>
#include <memory>

namespace clang {
class ASTUnit;
}
namespace kopt::frontend::model {
struct KernelModel;
}

namespace kopt::frontend {

/// A function whose body runs in the kernel.
struct BodyView {
  const clang::FunctionDecl *function = nullptr; ///< the definition, template arguments substituted
  /// Statements of the body, parents before children.
  std::vector<const clang::Stmt *> statements;
  llvm::DenseMap<const clang::Stmt *, const clang::Stmt *> parents;

  /// The nearest ancestor that is not a parenthesis, or null.
  const clang::Stmt *parentOf(const clang::Stmt *statement) const;
  /// True if `inner` is `outer` or a part of it.
  bool isWithin(const clang::Stmt *inner, const clang::Stmt *outer) const;
  /// The variables that more happens to than being read.
  llvm::DenseSet<const clang::VarDecl *> changingVariables() const;
};

/// threadIdx.x and similar expressions, however the toolkit declares them.
struct Coordinate {
  std::string variable; ///< threadIdx, blockIdx, blockDim or gridDim
  unsigned dimension = 0;
};

class KernelView {
public:
  /// `kernelName` is the qualified name, `expression` the specialization (the same name if the
  /// kernel is not a template). Fails if the slice defines no such kernel, or several that the
  /// expression does not distinguish.
  static llvm::Expected<KernelView> open(clang::ASTUnit &unit, const std::string &kernelName,
                                         const std::string &expression);

  const clang::FunctionDecl &kernel() const { return *bodies_.front().function; }
  /// The declaration in the text: the template's pattern if the kernel is a template, otherwise the
  /// kernel itself.
  const clang::FunctionDecl &pattern() const;
  /// The kernel first, then the functions of this text that it calls, directly or not.
  const std::vector<BodyView> &bodies() const { return bodies_; }
  /// The body that does the kernel's work: its own or, where that only chooses between calls of one
  /// function, by its parameters and with them or constants, that of the function.
  const BodyView &work() const;
  clang::ASTContext &context() const { return *context_; }

  /// Workload and target from the request; empty and 2048 unless set.
  std::vector<LaunchShape> launches;
  unsigned threadsPerMultiprocessor = 2048;
  /// What the kernel does with memory: null until a rewrite asks for it with modelOf().
  mutable std::shared_ptr<const model::KernelModel> model;

  /// The offset in the slice text of a location that is written there, outside of any macro
  /// expansion.
  std::optional<unsigned> offset(clang::SourceLocation location) const;
  /// The offset after the token at a location.
  std::optional<unsigned> endOffset(clang::SourceLocation location) const;
  llvm::StringRef text() const;
  llvm::StringRef text(clang::SourceRange range) const;
  /// The blanks at the start of the line that contains this offset.
  std::string indentation(unsigned offset) const;
  bool isInText(clang::SourceLocation location) const;

  /// The value of an integral constant expression, or nothing.
  std::optional<long long> constant(const clang::Expr *expression) const;

private:
  clang::ASTContext *context_ = nullptr;
  std::vector<BodyView> bodies_;
};

struct OpenSlice {
  ParsedUnit unit;
  KernelView view; ///< points into the unit
};

/// Parses the slice and finds its kernel. Fails if it does not parse or has no such kernel.
llvm::Expected<OpenSlice> openSlice(const KernelSource &source);

/// `threadIdx.x`, as a toolkit's property or as a plain member; nothing for any other expression.
std::optional<Coordinate> coordinate(const clang::Expr *expression);

/// The body's statements with their parents. For properties, only the syntactic form is included,
/// which corresponds to the text.
BodyView viewBody(const clang::FunctionDecl *definition);

} // namespace kopt::frontend
