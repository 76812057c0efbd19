// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/transform/ThreadOrder.h"

#include "clang_plugin/analysis/CudaFunctions.h"
#include "clang_plugin/analysis/RawTokens.h"

#include <clang/AST/Attr.h>
#include <llvm/ADT/StringSet.h>
#include <map>

namespace kopt::frontend {

using namespace clang;

namespace {

/// What a call of a function with this kind means for other threads; empty if nothing. What threads
/// print or take from the heap has no order.
llvm::StringRef tieOf(CudaFunction kind, bool atomics) {
  switch (kind) {
  case CudaFunction::Barrier:
    return "waits for other threads";
  case CudaFunction::Lanes:
    return "exchanges values within a warp";
  case CudaFunction::Fence:
    return "orders its accesses for other threads";
  case CudaFunction::Atomic:
    return atomics ? "" : "uses atomics";
  case CudaFunction::Clock:
  case CudaFunction::Sleep:
    return "reads a clock or sleeps";
  case CudaFunction::Launch:
    return "calls the runtime";
  default:
    return "";
  }
}

/// Looks through the functions that run in a kernel for what ties a thread to others.
class TieFinder {
public:
  TieFinder(const KernelView &view, bool atomics, Refusals &refusals)
      : view_(view), atomics_(atomics), refusals_(refusals) {}

  bool run() {
    for (const BodyView &body : view_.bodies()) {
      seen_.insert(body.function->getCanonicalDecl());
      open_.push_back(body.function);
    }
    while (!open_.empty()) {
      const FunctionDecl *function = open_.pop_back_val();
      const bool isOwn = view_.isInText(function->getLocation());
      const BodyView body = viewBody(function);
      for (const Stmt *statement : body.statements) {
        const SourceLocation at = isOwn ? statement->getBeginLoc() : places_.lookup(function);
        if (const std::string tie = tieAt(body, statement, isOwn, at); !tie.empty())
          return refusals_.add(at, (isOwn ? "the kernel " : "what it calls ") + tie);
      }
    }
    return true;
  }

private:
  /// Empty if there is none. Calls that have to be looked into are queued.
  std::string tieAt(const BodyView &body, const Stmt *statement, bool isOwn, SourceLocation at) {
    if (isa<AsmStmt>(statement))
      return "has inline assembly";
    if (const auto *expression = dyn_cast<Expr>(statement);
        expression && expression->getType().isVolatileQualified())
      return "has volatile accesses";
    if (const auto *reference = dyn_cast<DeclRefExpr>(statement))
      if (reference->getDecl()->hasAttr<CUDASharedAttr>())
        return "uses shared memory";
    if (!isOwn && coordinate(dyn_cast<Expr>(statement)))
      return "asks which thread it is";
    const FunctionDecl *callee = nullptr;
    if (const auto *call = dyn_cast<CallExpr>(statement)) {
      callee = call->getDirectCallee();
      if (!callee || (isa<CXXMethodDecl>(callee) && cast<CXXMethodDecl>(callee)->isVirtual()))
        return "calls a function that is chosen at run time";
      if (cudaFunction(*callee) == CudaFunction::Atomic && mayWait(body, call))
        return "may wait for what another thread does by an atomic";
    } else if (const auto *construct = dyn_cast<CXXConstructExpr>(statement)) {
      callee = construct->getConstructor();
    }
    return callee ? tieOfCallee(*callee, at) : "";
  }

  std::string tieOfCallee(const FunctionDecl &callee, SourceLocation at) {
    const CudaFunction kind = cudaFunction(callee);
    if (const llvm::StringRef tie = tieOf(kind, atomics_); !tie.empty())
      return tie.str();
    if (kind != CudaFunction::None || callee.getBuiltinID() != 0 || callee.isTrivial() ||
        !seen_.insert(callee.getCanonicalDecl()).second)
      return "";
    if (const FunctionDecl *definition = callee.getDefinition();
        definition && definition->hasBody()) {
      places_[definition] = at;
      open_.push_back(definition);
    } else if (view_.isInText(callee.getLocation()) && !callee.isDefaulted()) {
      return "calls " + callee.getNameAsString() + "(), which is defined elsewhere";
    }
    return "";
  }

  const KernelView &view_;
  const bool atomics_;
  Refusals &refusals_;
  llvm::DenseSet<const FunctionDecl *> seen_;
  llvm::SmallVector<const FunctionDecl *> open_;
  /// Where the kernel's text calls what leads to a function of a header.
  llvm::DenseMap<const FunctionDecl *, SourceLocation> places_;
};

bool isBuiltinVariable(llvm::StringRef name) {
  return name == "threadIdx" || name == "blockIdx" || name == "blockDim" || name == "gridDim";
}

} // namespace

bool areThreadsIndependent(const KernelView &view, bool atomics, Refusals &refusals) {
  return TieFinder(view, atomics, refusals).run();
}

bool mayWait(const BodyView &body, const CallExpr *atomic) {
  const Stmt *parent = body.parentOf(atomic);
  if (!isa_and_nonnull<Expr>(parent) && !isa_and_nonnull<DeclStmt>(parent))
    return false;
  const FunctionDecl *callee = atomic->getDirectCallee();
  Expr::EvalResult expected;
  if (callee && callee->getIdentifier() && callee->getName().starts_with("atomicCAS") &&
      atomic->getNumArgs() > 1 &&
      !atomic->getArg(1)->EvaluateAsInt(expected, body.function->getASTContext()))
    return false;
  for (; parent; parent = body.parents.lookup(parent)) {
    const auto *loop = dyn_cast<ForStmt>(parent);
    if (isa<WhileStmt>(parent) || isa<DoStmt>(parent) || (loop && !loop->getInc()))
      return true;
  }
  return false;
}

std::optional<std::vector<CoordinateUse>> coordinateUses(const KernelView &view,
                                                         Refusals &refusals) {
  std::map<unsigned, CoordinateUse> uses;
  std::size_t names = 0;
  llvm::DenseSet<unsigned> seen; // code that is instantiated twice stands in the text once
  for (const BodyView &body : view.bodies())
    for (const Stmt *statement : body.statements) {
      const auto *expression = dyn_cast<Expr>(statement);
      if (const auto *reference = dyn_cast<DeclRefExpr>(statement);
          reference && reference->getDecl()->getIdentifier() &&
          isBuiltinVariable(reference->getDecl()->getName()) &&
          reference->getDecl()->getDeclContext()->getRedeclContext()->isFileContext())
        names += seen.insert(reference->getLocation().getRawEncoding()).second;
      const auto found = coordinate(expression);
      if (!found || isa<CastExpr>(expression) || isa<ParenExpr>(expression))
        continue;
      const auto begin = view.offset(expression->getBeginLoc()),
                 end = view.endOffset(expression->getEndLoc());
      if (!begin || !end) {
        refusals.add(expression->getBeginLoc(), "a macro spells " + found->variable);
        return std::nullopt;
      }
      uses.try_emplace(*begin, CoordinateUse{*found, *begin, *end, &body, expression});
    }
  if (names != uses.size()) {
    refusals.add("a whole threadIdx or the like is passed on");
    return std::nullopt;
  }
  std::vector<CoordinateUse> list;
  for (auto &[begin, use] : uses)
    list.push_back(std::move(use));
  return list;
}

const Expr *globalIndexAt(const CoordinateUse &use) {
  const BinaryOperator *sum = nullptr;
  for (const Stmt *up = use.expression; !sum;) {
    up = use.body->parents.lookup(up);
    if (!isa_and_nonnull<CastExpr, ParenExpr, PseudoObjectExpr, OpaqueValueExpr, BinaryOperator>(
            up))
      return nullptr;
    sum = dyn_cast<BinaryOperator>(up);
  }
  if (sum->getOpcode() != BO_Add)
    return nullptr;
  for (const Expr *side : {sum->getLHS(), sum->getRHS()}) {
    const auto *product = dyn_cast<BinaryOperator>(side->IgnoreParenCasts());
    if (!product || product->getOpcode() != BO_Mul)
      continue;
    const auto left = coordinate(product->getLHS()), right = coordinate(product->getRHS());
    const auto is = [&](const std::optional<Coordinate> &found, llvm::StringRef variable) {
      return found && found->variable == variable && found->dimension == use.coordinate.dimension;
    };
    if ((is(left, "blockIdx") && is(right, "blockDim")) ||
        (is(left, "blockDim") && is(right, "blockIdx")))
      return sum;
  }
  return nullptr;
}

std::string freshName(const KernelView &view, llvm::StringRef base) {
  llvm::StringSet<> names;
  for (const RawToken &token : rawTokens(view.text()))
    names.insert(token.text);
  std::string name = base.str();
  for (unsigned i = 2; names.contains(name); ++i)
    name = base.str() + std::to_string(i);
  return name;
}

} // namespace kopt::frontend
