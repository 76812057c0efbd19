// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/extract/Allocations.h"

#include <clang/AST/RecursiveASTVisitor.h>
#include <set>
#include <vector>

namespace kopt::frontend {
namespace {

using clang::Expr;

/// The variable that an expression names, through casts.
const clang::ValueDecl *variableOf(const Expr *expression) {
  const auto *reference =
      llvm::dyn_cast_or_null<clang::DeclRefExpr>(expression->IgnoreParenCasts());
  return reference ? reference->getDecl() : nullptr;
}

class Finder : public clang::RecursiveASTVisitor<Finder> {
public:
  explicit Finder(const clang::ValueDecl *pointer) : pointer_(pointer) {}

  bool VisitCallExpr(clang::CallExpr *call) {
    static const std::set<llvm::StringRef> kAllocating = {
        "cudaMalloc", "cudaMallocManaged", "cudaMallocAsync", "cudaMallocHost", "cudaHostAlloc"};
    const clang::FunctionDecl *callee = call->getDirectCallee();
    if (!callee || !callee->getIdentifier() || !kAllocating.contains(callee->getName()) ||
        call->getNumArgs() < 2)
      return true;
    const auto *address = llvm::dyn_cast<clang::UnaryOperator>(call->getArg(0)->IgnoreParenCasts());
    if (address && address->getOpcode() == clang::UO_AddrOf &&
        variableOf(address->getSubExpr()) == pointer_)
      calls.push_back(call);
    return true;
  }

  std::vector<const clang::CallExpr *> calls;

private:
  const clang::ValueDecl *pointer_;
};

} // namespace

std::string allocatedBytes(const Expr *argument, const clang::FunctionDecl *function,
                           GeometryReader &numbers) {
  const clang::ValueDecl *pointer = variableOf(argument);
  if (!pointer || !function || !function->hasBody())
    return "";
  Finder finder(pointer);
  finder.TraverseStmt(function->getBody());
  return finder.calls.size() == 1
             ? numbers.scalarBefore(finder.calls[0]->getArg(1), finder.calls[0]).value_or("")
             : "";
}

} // namespace kopt::frontend
