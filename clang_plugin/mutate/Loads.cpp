// SPDX-License-Identifier: Apache-2.0
// Operators on loads: they read the next element, another buffer, or rows for columns.
#include "clang_plugin/analysis/KernelFacts.h"
#include "clang_plugin/analysis/Writes.h"
#include "clang_plugin/mutate/Mutation.h"

namespace kopt::frontend {

using namespace clang;

namespace {

/// True if an element is read: its value is used, or its address is passed to __ldg() or similar.
bool isRead(const BodyView &body, const Expr *element) {
  const Stmt *parent = body.parentOf(element);
  while (isa_and_nonnull<MemberExpr>(parent) && !cast<MemberExpr>(parent)->isArrow())
    parent = body.parentOf(parent);
  if (const auto *cast = dyn_cast_or_null<ImplicitCastExpr>(parent))
    return cast->getCastKind() == CK_LValueToRValue || cast->getCastKind() == CK_NoOp;
  if (const auto *construct = dyn_cast_or_null<CXXConstructExpr>(parent))
    return construct->getConstructor()->isCopyOrMoveConstructor();
  const auto *address = dyn_cast_or_null<UnaryOperator>(parent);
  return address && address->getOpcode() == UO_AddrOf &&
         cudaFunction(body.parentOf(address)) == CudaFunction::CacheLoad;
}

bool isInIndex(const BodyView &body, const Stmt *statement) {
  const Stmt *child = statement;
  for (const Stmt *up = body.parents.lookup(child); up; child = up, up = body.parents.lookup(up)) {
    if (const auto *subscript = dyn_cast<ArraySubscriptExpr>(up))
      return subscript->getIdx() == child;
    if (isa<DeclStmt>(up))
      return true; // int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (!isa<Expr>(up))
      return false;
  }
  return false;
}

/// A load from global memory takes the next element.
void findLoadIndex(const KernelFacts &facts, MutantSink &sink) {
  for (const BodyView &body : facts.bodies())
    for (const Stmt *statement : body.statements) {
      if (const auto *subscript = dyn_cast<ArraySubscriptExpr>(statement)) {
        if (spaceOf(subscript) == MemorySpace::Global && isRead(body, subscript))
          sink.add(subscript->getBeginLoc(),
                   "the element after " + facts.text(subscript).str() + " read",
                   facts.wrap(subscript->getIdx(), "(", ") + 1"));
      } else if (const auto *unary = dyn_cast<UnaryOperator>(statement);
                 unary && unary->getOpcode() == UO_Deref && spaceOf(unary) == MemorySpace::Global &&
                 isRead(body, unary)) {
        sink.add(unary->getBeginLoc(), "the element after " + facts.text(unary).str() + " read",
                 facts.wrap(unary->getSubExpr(), "(", " + 1)"));
      }
    }
}

/// True if the pointer is not loaded, or is only tested for null or compared: another buffer is
/// not null either.
bool dropsValue(const BodyView &body, const DeclRefExpr *reference) {
  const auto *use = dyn_cast_or_null<ImplicitCastExpr>(body.parentOf(reference));
  if (!use || use->getCastKind() != CK_LValueToRValue)
    return true;
  const Stmt *outer = body.parentOf(use);
  const auto *cast = dyn_cast_or_null<CastExpr>(outer);
  const auto *comparison = dyn_cast_or_null<BinaryOperator>(outer);
  return (cast && cast->getCastKind() == CK_PointerToBoolean) ||
         (comparison && comparison->isEqualityOp());
}

/// True if the kernel writes through the parameter, or gives it to what may.
bool isWritten(const BodyView &body, const ParmVarDecl *parameter) {
  return llvm::any_of(body.statements, [&](const Stmt *statement) {
    const auto written = writesOf(statement);
    return written ? llvm::any_of(*written,
                                  [&](const Lvalue &each) {
                                    return each.pointer && sourceOf(each) == parameter;
                                  })
                   : mentions(statement, parameter);
  });
}

/// A load reads another input buffer of the same type.
void findOtherInput(const KernelFacts &facts, MutantSink &sink) {
  std::vector<const ParmVarDecl *> inputs;
  for (const ParmVarDecl *parameter : facts.view().kernel().parameters())
    if (parameter->getType()->isPointerType() && parameter->getIdentifier() &&
        !isWritten(facts.view().bodies().front(), parameter))
      inputs.push_back(parameter);
  const ASTContext &context = facts.view().context();
  const BodyView &body = facts.bodies().front();
  for (const Stmt *statement : body.statements) {
    const auto *reference = dyn_cast<DeclRefExpr>(statement);
    const auto at = reference ? llvm::find(inputs, reference->getDecl()) : inputs.end();
    if (at == inputs.end() || dropsValue(body, reference))
      continue;
    // The next buffer of the same type, in a circle, so that each is used.
    for (std::size_t step = 1; step < inputs.size(); ++step) {
      const ParmVarDecl *other = inputs[(at - inputs.begin() + step) % inputs.size()];
      if (!context.hasSameUnqualifiedType((*at)->getType()->getPointeeType(),
                                          other->getType()->getPointeeType()))
        continue;
      sink.add(reference->getBeginLoc(),
               other->getNameAsString() + " read for " + (*at)->getNameAsString(),
               facts.replace(reference->getSourceRange(), other->getNameAsString()));
      break;
    }
  }
}

void addSwap(const KernelFacts &facts, MutantSink &sink, SourceLocation where,
             const std::string &what, const Expr &first, const Expr &second) {
  const auto one = facts.placeOf(first.getSourceRange()),
             two = facts.placeOf(second.getSourceRange());
  const std::string firstText = facts.text(&first).str(), secondText = facts.text(&second).str();
  if (one && two && (firstText == secondText || two->first < one->second))
    return;
  std::optional<std::vector<SliceEdit>> edits;
  if (one && two)
    edits = std::vector{SliceEdit{one->first, one->second, secondText},
                        SliceEdit{two->first, two->second, firstText}};
  sink.add(where, what, std::move(edits));
}

void swapCoordinate(const KernelFacts &facts, MutantSink &sink, const BodyView &body,
                    const Expr &expression,
                    const std::set<std::pair<std::string, unsigned>> &used) {
  SourceLocation member;
  if (const auto *property = dyn_cast<MSPropertyRefExpr>(&expression))
    member = property->getMemberLoc();
  else if (const auto *plain = dyn_cast<MemberExpr>(&expression))
    member = plain->getMemberLoc();
  const auto place = coordinate(&expression);
  if (member.isInvalid() || !place || place->dimension > 1 ||
      !used.count({place->variable, 1 - place->dimension}) || !isInIndex(body, &expression))
    return;
  const char *other = place->dimension == 0 ? "y" : "x";
  sink.add(member,
           place->variable + (place->dimension == 0 ? ".x" : ".y") + " made " + place->variable +
               "." + other,
           facts.replace({member, member}, other),
           place->variable.ends_with("Dim") ? "the same where both extents are equal" : "");
}

void swapSubscripts(const KernelFacts &facts, MutantSink &sink, const Expr &expression) {
  const auto *outer = dyn_cast<ArraySubscriptExpr>(&expression);
  const auto *inner =
      outer ? dyn_cast<ArraySubscriptExpr>(outer->getBase()->IgnoreParenImpCasts()) : nullptr;
  if (!inner)
    return;
  addSwap(facts, sink, outer->getBeginLoc(), facts.text(outer).str() + " with its indices swapped",
          *inner->getIdx(), *outer->getIdx());
}

/// `y * width + x`, with y and x swapped.
void swapTerms(const KernelFacts &facts, MutantSink &sink, const BodyView &body,
               const Expr &expression) {
  const auto *sum = dyn_cast<BinaryOperator>(&expression);
  if (!sum || sum->getOpcode() != BO_Add || !sum->getType()->isIntegerType() ||
      !isInIndex(body, sum))
    return;
  const auto *product = dyn_cast<BinaryOperator>(sum->getLHS()->IgnoreParenImpCasts());
  const VarDecl *row =
      product && product->getOpcode() == BO_Mul ? variableOf(product->getLHS()) : nullptr;
  const VarDecl *column = variableOf(sum->getRHS());
  if (row && column && row != column)
    addSwap(facts, sink, sum->getBeginLoc(),
            row->getNameAsString() + " and " + column->getNameAsString() + " swapped",
            *product->getLHS(), *sum->getRHS());
}

/// X for y in an index, rows for columns.
void findSwappedIndex(const KernelFacts &facts, MutantSink &sink) {
  std::set<std::pair<std::string, unsigned>> used;
  for (const BodyView &body : facts.bodies())
    for (const Stmt *statement : body.statements)
      if (const auto *expression = dyn_cast<Expr>(statement))
        if (const auto place = coordinate(expression))
          used.insert({place->variable, place->dimension});
  for (const BodyView &body : facts.bodies())
    for (const Stmt *statement : body.statements)
      if (const auto *expression = dyn_cast<Expr>(statement)) {
        swapCoordinate(facts, sink, body, *expression, used);
        swapSubscripts(facts, sink, *expression);
        swapTerms(facts, sink, body, *expression);
      }
}

} // namespace

void addLoadOperators(MutationOperators &catalogue) {
  catalogue.insert(catalogue.end(), {{"load-index", findLoadIndex},
                                     {"other-input", findOtherInput},
                                     {"swapped-index", findSwappedIndex}});
}

} // namespace kopt::frontend
