// SPDX-License-Identifier: Apache-2.0
// readonly-loads: let loads of data that the kernel never writes take the read-only path, by
// `__restrict__` on the pointer parameters or by `__ldg()` around the loads. Matches pointer
// parameters through which neither the kernel nor the functions it calls write; stores to memory
// that is not known count, but for pointers to const. Only `__restrict__` is added, never `const`:
// the compiler finds out by itself what is not written (measured: nvcc 13.0 emits ld.global.nc
// either way), and `const` would change the kernel's symbol. The kernel alone does not show whether
// two buffers overlap, so both kinds of offers carry a note.
#include "clang_plugin/analysis/BodyText.h"
#include "clang_plugin/model/KernelModel.h"
#include "clang_plugin/transform/Transformation.h"

namespace kopt::frontend {

using namespace clang;

namespace {

constexpr char kOverlapNote[] =
    "holds only where the buffers behind the pointer parameters do not overlap";

/// True for the types for which the toolkit declares __ldg().
bool isLdgType(QualType type) {
  type = type.getCanonicalType().getUnqualifiedType();
  if (const auto *builtin = type->getAs<BuiltinType>())
    return (builtin->isInteger() && builtin->getKind() != BuiltinType::Bool &&
            builtin->getKind() != BuiltinType::Int128 &&
            builtin->getKind() != BuiltinType::UInt128 && !type->isWideCharType() &&
            !type->isChar8Type() && !type->isChar16Type() && !type->isChar32Type()) ||
           builtin->getKind() == BuiltinType::Float || builtin->getKind() == BuiltinType::Double;
  const auto *record = type->getAsCXXRecordDecl();
  if (!record || !record->getIdentifier())
    return false;
  static const char *const kVectors[] = {
      "char2",   "char4",     "uchar2",     "uchar4", "short2",  "short4",        "ushort2",
      "ushort4", "int2",      "int4",       "uint2",  "uint4",   "float2",        "float4",
      "double2", "longlong2", "ulonglong2", "__half", "__half2", "__nv_bfloat16", "__nv_bfloat162"};
  return llvm::is_contained(kVectors, record->getName());
}

/// True if the element is only read as a value, so that a call that returns the value can replace
/// it.
bool isRead(const BodyView &body, const Expr *element) {
  const Stmt *parent = body.parentOf(element);
  for (; parent; parent = body.parentOf(parent)) {
    const auto *cast = dyn_cast<ImplicitCastExpr>(parent);
    const auto *member = dyn_cast<MemberExpr>(parent);
    if (cast && cast->getCastKind() == CK_LValueToRValue)
      return true;
    if (!(cast && cast->getCastKind() == CK_NoOp) &&
        !(member && isa<FieldDecl>(member->getMemberDecl()) && !member->isArrow()))
      break;
  }
  const auto *construct = dyn_cast_or_null<CXXConstructExpr>(parent);
  return construct && construct->getConstructor()->isCopyOrMoveConstructor();
}

bool isRestrictable(const ParmVarDecl &declared, const ParmVarDecl &substituted) {
  return declared.getIdentifier() && substituted.getType()->isPointerType() &&
         declared.getType()->isPointerType() && !declared.getType()->isFunctionPointerType() &&
         !declared.getType().isRestrictQualified() && !declared.getOriginalType()->isArrayType();
}

std::optional<Offer> restrictOffer(const KernelView &view,
                                   llvm::ArrayRef<const ParmVarDecl *> readonly) {
  const FunctionDecl &pattern = view.pattern();
  if (pattern.getNumParams() != view.kernel().getNumParams())
    return std::nullopt; // a parameter pack
  Offer offer{"", "add __restrict__ to", kOverlapNote, {}, {}};
  unsigned pointers = 0;
  for (unsigned i = 0; i < pattern.getNumParams(); ++i) {
    const ParmVarDecl &declared = *pattern.getParamDecl(i),
                      &substituted = *view.kernel().getParamDecl(i);
    pointers += substituted.getType()->isPointerType();
    if (!isRestrictable(declared, substituted))
      continue;
    const auto name = view.offset(declared.getLocation());
    if (!name)
      return std::nullopt;
    offer.edits.push_back({*name, *name, "__restrict__ "});
    offer.title += (offer.edits.size() > 1 ? ", " : " ") + declared.getName().str();
  }
  // A single pointer that may be written has nothing to overlap with.
  if (offer.edits.empty() || (readonly.empty() && pointers < 2))
    return std::nullopt;
  return offer;
}

/// True if the text casts const away from what a pointer points to.
bool dropsConst(const KernelView &view) {
  return llvm::any_of(view.bodies(), [](const BodyView &body) {
    return llvm::any_of(body.statements, [](const Stmt *statement) {
      const auto *cast = dyn_cast<ExplicitCastExpr>(statement);
      return isa<CXXConstCastExpr>(statement) ||
             (cast && cast->getSubExpr()->getType()->isPointerType() &&
              cast->getSubExpr()->getType()->getPointeeType().isConstQualified() &&
              !(cast->getType()->isPointerType() &&
                cast->getType()->getPointeeType().isConstQualified()));
    });
  });
}

/// The parameters through which nothing is written, whatever an unknown store or call does.
std::vector<const ParmVarDecl *> readonlyParameters(const KernelView &view,
                                                    const model::KernelModel &model) {
  const auto isStore = [](const model::Access &access) {
    return access.kind != model::AccessKind::Load;
  };
  const bool isAllKnown = llvm::none_of(model.accesses,
                                        [&](const model::Access &access) {
                                          return isStore(access) && access.root.empty() &&
                                                 access.space == model::MemorySpace::Unknown;
                                        }) &&
                          llvm::all_of(model.blind, [&](const model::Blind &call) {
                            return llvm::any_of(model.barriers, [&](const model::Barrier &barrier) {
                              return std::pair(barrier.place.line, barrier.place.column) ==
                                     std::pair(call.place.line, call.place.column);
                            });
                          });
  const bool keepsConst = !dropsConst(view);
  std::vector<const ParmVarDecl *> readonly;
  for (const ParmVarDecl *parameter : view.kernel().parameters()) {
    const QualType type = parameter->getType();
    if (type->isPointerType() && !type->getPointeeType().isVolatileQualified() &&
        (isAllKnown || (keepsConst && type->getPointeeType().isConstQualified())) &&
        llvm::none_of(model.accesses, [&](const model::Access &access) {
          return isStore(access) && access.root == parameter->getName();
        }))
      readonly.push_back(parameter);
  }
  return readonly;
}

/// The buffer that an element of the kernel's text is read from, itself or a part of it; empty if
/// that is not one of the kernel's.
llvm::StringRef bufferAt(const model::KernelModel &model, const TextSpan &element) {
  const model::Access *found = nullptr;
  for (const model::Access &access : model.accesses)
    if (const auto range = access.place.range; range && range->begin == element.begin &&
                                               range->end >= element.end &&
                                               access.kind == model::AccessKind::Load) {
      if (found && found->place.range->end == range->end && found->root != access.root)
        return "";
      if (!found || range->end < found->place.range->end)
        found = &access;
    }
  return found && found->isParameter ? llvm::StringRef(found->root) : "";
}

void addLdgOffers(const KernelView &view, const model::KernelModel &model,
                  llvm::ArrayRef<const ParmVarDecl *> readonly, std::vector<Offer> &offers) {
  const BodyView &body = view.bodies().front();
  std::vector<std::pair<const VarDecl *, TextSpan>> loads; // with the parameter
  for (const Stmt *statement : body.statements) {
    const auto *unary = dyn_cast<UnaryOperator>(statement);
    const auto *element = dyn_cast<Expr>(statement);
    if ((!isa<ArraySubscriptExpr>(statement) && !(unary && unary->getOpcode() == UO_Deref)) ||
        !isLdgType(element->getType()) || element->getType().isVolatileQualified())
      continue;
    const auto span = spanOf(view, element->getSourceRange());
    const llvm::StringRef buffer = span ? bufferAt(model, *span) : "";
    const auto *parameter =
        llvm::find_if(readonly, [&](const auto *each) { return each->getName() == buffer; });
    if (!buffer.empty() && parameter != readonly.end() && isRead(body, element))
      loads.emplace_back(*parameter, *span);
  }
  std::vector<const VarDecl *> loaded;
  for (const ParmVarDecl *parameter : readonly)
    if (llvm::is_contained(llvm::make_first_range(loads), parameter))
      loaded.push_back(parameter);

  const auto offerFor = [&](llvm::ArrayRef<const VarDecl *> parameters) {
    Offer offer{"", "load through __ldg():", kOverlapNote, {}, {}};
    for (const VarDecl *parameter : parameters)
      offer.title += (parameter == parameters.front() ? " " : ", ") + parameter->getName().str();
    // Insertions at the same offset have the same text, so their order does not matter.
    for (const auto &[parameter, span] : loads)
      if (llvm::is_contained(parameters, parameter)) {
        offer.edits.push_back({span.begin, span.begin, "__ldg(&"});
        offer.edits.push_back({span.end, span.end, ")"});
      }
    offers.push_back(std::move(offer));
  };
  if (!loaded.empty())
    offerFor(loaded);
  if (loaded.size() > 1)
    for (const VarDecl *parameter : loaded)
      offerFor(parameter);
}

} // namespace

std::vector<Offer> readonlyLoadsOffers(const KernelView &view, Refusals &refusals) {
  const model::KernelModel *model = modelOf(view, refusals);
  if (!model)
    return {};
  const std::vector<const ParmVarDecl *> readonly = readonlyParameters(view, *model);
  std::vector<Offer> offers;
  if (auto offer = restrictOffer(view, readonly))
    offers.push_back(std::move(*offer));
  addLdgOffers(view, *model, readonly, offers);
  if (offers.empty() && readonly.empty())
    refusals.add("it may write through each of its pointers");
  return offers;
}

} // namespace kopt::frontend
