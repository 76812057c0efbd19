// SPDX-License-Identifier: Apache-2.0
// shared-padding: lengthen the rows of static shared arrays, so that the elements of a column fall
// into different banks. Matches `__shared__ T a[…]…[N]` with two or more dimensions, declared in
// the kernel or in a function it calls, whose every use names one element by subscripts. Refuses
// if the array decays to a pointer, is an operand of sizeof or is reinterpreted, or if an element's
// address is used for anything but an atomic; if rows already fill an odd number of banks; and if
// the padded arrays would exceed the 48 KiB of static shared memory.
#include "clang_plugin/analysis/BodyText.h"
#include "clang_plugin/analysis/CudaFunctions.h"
#include "clang_plugin/transform/Transformation.h"
#include "runtime/device/GpuLimits.h"

#include <clang/AST/Attr.h>
#include <clang/AST/TypeLoc.h>

namespace kopt::frontend {

using namespace clang;

namespace {

constexpr unsigned kBankBytes = 4;

struct SharedArray {
  const VarDecl *variable = nullptr;
  std::uint64_t rows = 1, rowLength = 0, elementBytes = 0;
  TextSpan size; ///< the text between the innermost brackets
  bool sizeIsMacro = false;
};

/// True if this use of the array, or of a part of it, subscripts it down to one element and uses
/// nothing but that element.
bool namesOneElement(const BodyView &body, const Expr *part) {
  const Stmt *parent = body.parentOf(part);
  if (part->getType()->isArrayType()) {
    const auto *decay = dyn_cast_or_null<ImplicitCastExpr>(parent);
    if (!decay || decay->getCastKind() != CK_ArrayToPointerDecay)
      return false;
    const auto *subscript = dyn_cast_or_null<ArraySubscriptExpr>(body.parentOf(decay));
    return subscript && subscript->getBase()->IgnoreParens() == decay &&
           namesOneElement(body, subscript);
  }
  const auto *unary = dyn_cast_or_null<UnaryOperator>(parent);
  if (unary && unary->getOpcode() == UO_AddrOf) {
    const Stmt *user = body.parentOf(unary);
    while (user && isa<CastExpr>(user) && cast<CastExpr>(user)->getCastKind() == CK_NoOp)
      user = body.parentOf(user);
    return cudaFunction(user) == CudaFunction::Atomic;
  }
  // An lvalue cast of the element may read its neighbours; a reference bound to it may hide where
  // its address goes.
  if (const auto *cast = dyn_cast_or_null<CastExpr>(parent))
    return cast->getCastKind() != CK_LValueBitCast;
  return !isa_and_nonnull<DeclStmt>(parent) && !isa_and_nonnull<UnaryExprOrTypeTraitExpr>(parent);
}

std::optional<SharedArray> matchArray(const KernelView &view, const BodyView &body,
                                      const VarDecl &variable) {
  if (!variable.getTypeSourceInfo())
    return std::nullopt;
  const ASTContext &context = view.context();
  SharedArray array{&variable};
  QualType type = variable.getType();
  TypeLoc location = variable.getTypeSourceInfo()->getTypeLoc();
  unsigned dimensions = 0;
  ArrayTypeLoc innermost;
  while (const ConstantArrayType *level = context.getAsConstantArrayType(type)) {
    location = location.getUnqualifiedLoc().IgnoreParens();
    innermost = location.getAs<ArrayTypeLoc>();
    if (!innermost)
      return std::nullopt; // a typedef hides a part of the type
    array.rows *= array.rowLength ? array.rowLength : 1;
    array.rowLength = level->getSize().getZExtValue();
    type = level->getElementType();
    location = innermost.getElementLoc();
    ++dimensions;
  }
  if (dimensions < 2 || type->isDependentType() || type->isIncompleteType())
    return std::nullopt;
  const auto open = view.endOffset(innermost.getLBracketLoc()),
             close = view.offset(innermost.getRBracketLoc());
  if (!open || !close || *open >= *close)
    return std::nullopt;
  array.size = {*open, *close};
  array.sizeIsMacro =
      !innermost.getSizeExpr() || !view.offset(innermost.getSizeExpr()->getBeginLoc());
  array.elementBytes = context.getTypeSizeInChars(type).getQuantity();
  if (array.rowLength * array.elementBytes % (2 * kBankBytes) != 0)
    return std::nullopt; // columns are already spread over the banks
  for (const Stmt *statement : body.statements)
    if (const auto *reference = dyn_cast<DeclRefExpr>(statement);
        reference && reference->getDecl() == &variable && !namesOneElement(body, reference))
      return std::nullopt;
  return array;
}

std::string paddedSize(const KernelView &view, const SharedArray &array) {
  const llvm::StringRef size = view.text().slice(array.size.begin, array.size.end).trim();
  const bool simple = !array.sizeIsMacro && llvm::all_of(size, [](char c) {
    return isalnum(static_cast<unsigned char>(c)) || c == '_';
  });
  return (simple ? size.str() : "(" + size.str() + ")") + " + ${PADDING}";
}

} // namespace

std::vector<const VarDecl *> staticShared(const BodyView &body) {
  std::vector<const VarDecl *> variables;
  for (const Stmt *statement : body.statements)
    if (const auto *declarations = dyn_cast<DeclStmt>(statement))
      for (const Decl *each : declarations->decls())
        if (const auto *variable = dyn_cast<VarDecl>(each);
            variable && variable->hasAttr<CUDASharedAttr>() && !variable->hasExternalStorage())
          variables.push_back(variable);
  return variables;
}

std::vector<Offer> sharedPaddingOffers(const KernelView &view, Refusals &refusals) {
  std::vector<SharedArray> arrays,
      instances; // code that is instantiated twice has two arrays but needs one edit
  std::uint64_t sharedBytes = 0;
  llvm::DenseSet<unsigned> seen;
  for (const BodyView &body : view.bodies())
    for (const VarDecl *variable : staticShared(body)) {
      sharedBytes += view.context().getTypeSizeInChars(variable->getType()).getQuantity();
      const auto array = matchArray(view, body, *variable);
      if (!array) {
        refusals.add(variable->getLocation(), "the array has no rows to pad");
        continue;
      }
      instances.push_back(*array);
      if (seen.insert(array->size.begin).second)
        arrays.push_back(*array);
    }

  std::vector<Offer> offers;
  const auto offerFor = [&](llvm::ArrayRef<SharedArray> padded,
                            std::vector<std::int64_t> paddings) {
    std::uint64_t column = 0; ///< bytes
    Offer offer{"", "pad", "", {}, {}};
    offer.legality = Legality::Proven;
    for (const SharedArray &array : padded) {
      for (const SharedArray &instance : instances)
        if (instance.size.begin == array.size.begin)
          column += instance.rows * instance.elementBytes;
      const std::string size = paddedSize(view, array);
      offer.title += (offer.edits.empty() ? " the rows of " : " and ") +
                     array.variable->getName().str() + " to " + size;
      offer.edits.push_back({array.size.begin, array.size.end, size});
    }
    std::erase_if(paddings, [&](std::int64_t padding) {
      return sharedBytes + column * padding > gpu::kSharedWithoutOptIn;
    });
    offer.parameters = {{"PADDING", std::move(paddings)}};
    if (!offer.parameters.front().values.empty())
      offers.push_back(std::move(offer));
  };
  if (arrays.size() > 1)
    offerFor(arrays, {1});
  for (const SharedArray &array : arrays) {
    // One element, one bank and two banks; each number of elements once.
    std::vector<std::int64_t> paddings = {1};
    for (const std::uint64_t bytes : {kBankBytes, 2 * kBankBytes})
      if (const std::int64_t elements = bytes / array.elementBytes; elements > paddings.back())
        paddings.push_back(elements);
    offerFor(array, std::move(paddings));
  }
  return offers;
}

} // namespace kopt::frontend
