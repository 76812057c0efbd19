// SPDX-License-Identifier: Apache-2.0
// One kernel of a parsed slice, as rewrites and screening want to see it: the function bodies that
// run on the device with template arguments substituted, each statement with its parent, and the
// way from the AST to bytes of the text.
#pragma once

#include "clang_plugin/analysis/KernelSource.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/Support/Error.h>

namespace clang {
class ASTUnit;
}

namespace kopt::frontend {

/// A function whose body runs in the kernel.
struct BodyView {
  const clang::FunctionDecl *function = nullptr; ///< the definition, template arguments substituted
  std::vector<const clang::Stmt *> statements;   ///< of the body, parents before children
  llvm::DenseMap<const clang::Stmt *, const clang::Stmt *> parents;

  /// The nearest ancestor that is not a parenthesis, or null.
  const clang::Stmt *parentOf(const clang::Stmt *statement) const;
};

/// threadIdx.x and its like, however the toolkit in use declares them.
struct Coordinate {
  std::string variable; ///< threadIdx, blockIdx, blockDim or gridDim
  unsigned dimension = 0;
};

class KernelView {
public:
  /// `kernelName` is the qualified name, `expression` the specialization (the name again where it
  /// is no template). Fails where the slice defines no such kernel, or several that the expression
  /// does not tell apart.
  static llvm::Expected<KernelView> open(clang::ASTUnit &unit, const std::string &kernelName,
                                         const std::string &expression);

  const clang::FunctionDecl &kernel() const { return *bodies_.front().function; }
  /// What the text declares: the template's pattern where the kernel is a template, the kernel
  /// itself otherwise.
  const clang::FunctionDecl &pattern() const;
  /// The kernel first, then the functions of this text that it calls, directly or not.
  const std::vector<BodyView> &bodies() const { return bodies_; }
  clang::ASTContext &context() const { return *context_; }

  /// Workload and target, as the request gave them; empty and 0 unless set.
  std::vector<LaunchShape> launches;
  unsigned threadsPerMultiprocessor = 2048;

  /// Offset in the slice text of a location that was typed there, outside any macro expansion.
  std::optional<unsigned> offset(clang::SourceLocation location) const;
  /// Offset behind the token at a location.
  std::optional<unsigned> endOffset(clang::SourceLocation location) const;
  llvm::StringRef text() const;
  llvm::StringRef text(clang::SourceRange range) const;
  /// The blanks at the start of the line that holds this offset.
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
  KernelView view; ///< into the unit
};

/// Parses the slice and finds its kernel. Fails where it does not parse or has no such kernel.
llvm::Expected<OpenSlice> openSlice(const KernelSource &source);

/// `threadIdx.x`, as a toolkit's property or as a plain member; nothing for any other expression.
std::optional<Coordinate> coordinate(const clang::Expr *expression);

/// The body's statements with their parents. The semantic form of a property is left out: the text
/// decides.
BodyView viewBody(const clang::FunctionDecl *definition);

/// Threads that one multiprocessor of "sm_90" and its like holds; 2048 where the name is unknown.
unsigned threadsPerMultiprocessor(llvm::StringRef arch);

} // namespace kopt::frontend
