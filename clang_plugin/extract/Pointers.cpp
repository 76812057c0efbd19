// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/extract/Pointers.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/ExprCXX.h>
#include <llvm/Support/SaveAndRestore.h>

namespace kopt::frontend {

using clang::Expr;
using clang::Stmt;

namespace {

constexpr int kDeepest = 100;

/// Removes nodes that change neither value nor place.
const Expr *bare(const Expr *expression) {
  while (expression) {
    const Expr *inner = expression->IgnoreParens();
    if (const auto *full = llvm::dyn_cast<clang::FullExpr>(inner))
      inner = full->getSubExpr();
    else if (const auto *temporary = llvm::dyn_cast<clang::MaterializeTemporaryExpr>(inner))
      inner = temporary->getSubExpr();
    else if (const auto *bound = llvm::dyn_cast<clang::CXXBindTemporaryExpr>(inner))
      inner = bound->getSubExpr();
    else if (const auto *substituted = llvm::dyn_cast<clang::SubstNonTypeTemplateParmExpr>(inner))
      inner = substituted->getReplacement();
    else if (const auto *standard = llvm::dyn_cast<clang::CXXDefaultArgExpr>(inner))
      inner = standard->getExpr();
    else if (const auto *standard = llvm::dyn_cast<clang::CXXDefaultInitExpr>(inner))
      inner = standard->getExpr();
    else if (const auto *construction = llvm::dyn_cast<clang::CXXConstructExpr>(inner);
             construction && construction->getNumArgs() == 1 &&
             construction->getConstructor()->isCopyOrMoveConstructor())
      inner = construction->getArg(0);
    else if (const auto *list = llvm::dyn_cast<clang::InitListExpr>(inner);
             list && list->getNumInits() == 1 && !list->getType()->isRecordType() &&
             !list->getType()->isArrayType()) // float *p{data}
      inner = list->getInit(0);
    if (inner == expression)
      break;
    expression = inner;
  }
  return expression;
}

bool isNumber(const std::string &text) {
  return !text.empty() && text.size() < 16 &&
         text.find_first_not_of("0123456789") == std::string::npos;
}

/// True for std::vector and similar classes, whose elements are consecutive, beginning at data().
bool hasData(const clang::CXXRecordDecl *record) {
  record = record ? record->getDefinition() : nullptr;
  if (!record)
    return false;
  for (const clang::CXXMethodDecl *method : record->methods())
    if (method->getDeclName().isIdentifier() && method->getName() == "data" &&
        method->getNumParams() == 0)
      return true;
  return llvm::any_of(record->bases(), [](const clang::CXXBaseSpecifier &base) {
    return hasData(base.getType()->getAsCXXRecordDecl());
  });
}

} // namespace

PointerOrigin PointerReader::read(const Expr *argument) {
  if (!argument || argument->isTypeDependent() || argument->isValueDependent())
    return {};
  // It is an lvalue if the launch takes the addresses of its arguments.
  const Found found = argument->isGLValue() ? loaded(argument, launch_) : value(argument, launch_);
  return found && argument->getType().getNonReferenceType()->isPointerType()
             ? PointerOrigin{found->root, found->offset.value_or(""), ""}
             : PointerOrigin{};
}

std::string PointerReader::nameOf(const Place &place) {
  std::string text = place.text();
  std::vector<const clang::ValueDecl *> &meanings = named_[text];
  auto found = std::find(meanings.begin(), meanings.end(), place.root);
  if (found == meanings.end())
    found = meanings.insert(found, place.root);
  if (found != meanings.begin())
    text += "#" + std::to_string(found - meanings.begin() + 1);
  return text;
}

std::string PointerReader::at(const Stmt *point) const {
  const clang::SourceManager &sources = context_.getSourceManager();
  const clang::SourceLocation location = sources.getFileLoc(point->getBeginLoc());
  return "@" + std::to_string(sources.getSpellingLineNumber(location)) + ":" +
         std::to_string(sources.getSpellingColumnNumber(location));
}

/// The value of a variable at `point`. It has the plain name of the variable if it is unchanged at
/// the launch, and a name with a position otherwise.
PointerReader::Found PointerReader::leaf(const Place &place, const Stmt *point) {
  if (point == launch_ || (flow_ && flows_.isStable(*flow_, place, point, launch_)))
    return Pointer{nameOf(place)};
  const bool isIndexed =
      llvm::any_of(place.steps, [](const PlaceStep &step) { return step.index != nullptr; });
  if (flow_ && place.isLocal() && !isIndexed &&
      flow_->before(place, point).kind == Definition::Kind::Entry)
    return Pointer{nameOf(place) + "@entry"};
  return Pointer{nameOf(place) + at(point)};
}

PointerReader::Pointer PointerReader::movedBy(Pointer pointer, const std::string &bytes) {
  if (!pointer.offset || bytes == "0")
    return pointer;
  std::string &text = *pointer.offset;
  if (text == "0")
    text = bytes;
  else if (isNumber(text) && isNumber(bytes))
    text = std::to_string(std::stoll(text) + std::stoll(bytes));
  else
    text += " + " + bytes;
  return pointer;
}

PointerReader::Found PointerReader::moved(Found pointer, const Expr *index, bool back,
                                          clang::QualType pointerType, const Stmt *point) {
  if (!pointer || !pointer->offset)
    return pointer;
  const clang::QualType element = pointerType->getPointeeType();
  std::optional<std::string> count;
  if (!element.isNull() && !element->isIncompleteType() && !element->isFunctionType())
    count = index ? numbers_.scalarBefore(index, point) : "1";
  if (!count) {
    pointer->offset.reset();
    return pointer;
  }
  const std::int64_t size = context_.getTypeSizeInChars(element).getQuantity();
  std::string bytes = *count + " * " + std::to_string(size);
  if (isNumber(*count) && std::stoll(*count) < (std::int64_t{1} << 40) && size < 65536)
    bytes = std::to_string(std::stoll(*count) * size);
  if (back && bytes != "0")
    bytes = "(0 - " + bytes + ")";
  return movedBy(std::move(*pointer), bytes);
}

PointerReader::Found PointerReader::agreed(Found one, const Found &other) const {
  return one == other ? one : std::nullopt;
}

PointerReader::Found PointerReader::value(const Expr *expression, const Stmt *point) {
  expression = bare(expression);
  if (!expression || depth_ > kDeepest)
    return std::nullopt;
  const llvm::SaveAndRestore guard(depth_, depth_ + 1);

  if (const auto *cast = llvm::dyn_cast<clang::CastExpr>(expression))
    switch (cast->getCastKind()) {
    case clang::CK_LValueToRValue:
      return loaded(cast->getSubExpr(), point);
    case clang::CK_ArrayToPointerDecay:
      return addressOf(cast->getSubExpr(), point);
    case clang::CK_NoOp:
    case clang::CK_BitCast:
    case clang::CK_AddressSpaceConversion:
    case clang::CK_ConstructorConversion:
    case clang::CK_UserDefinedConversion:
      return value(cast->getSubExpr(), point);
    default:
      return std::nullopt;
    }
  if (llvm::isa<clang::CXXThisExpr>(expression))
    return Pointer{"this"};
  if (const auto *operation = llvm::dyn_cast<clang::UnaryOperator>(expression))
    return operation->getOpcode() == clang::UO_AddrOf ? addressOf(operation->getSubExpr(), point)
                                                      : std::nullopt;
  if (const auto *operation = llvm::dyn_cast<clang::BinaryOperator>(expression)) {
    const Expr *left = operation->getLHS(), *right = operation->getRHS();
    if (operation->getOpcode() == clang::BO_Comma)
      return value(right, point);
    if (operation->getOpcode() != clang::BO_Add && operation->getOpcode() != clang::BO_Sub)
      return std::nullopt;
    if (!left->getType()->isPointerType())
      std::swap(left, right);
    return moved(value(left, point), right, operation->getOpcode() == clang::BO_Sub,
                 operation->getType(), point);
  }
  if (const auto *choice = llvm::dyn_cast<clang::ConditionalOperator>(expression))
    return agreed(value(choice->getTrueExpr(), point), value(choice->getFalseExpr(), point));
  if (const auto *call = llvm::dyn_cast<clang::CallExpr>(expression))
    return called(call, point);
  return expression->isGLValue() ? loaded(expression, point) : std::nullopt;
}

PointerReader::Found PointerReader::called(const clang::CallExpr *call, const Stmt *point) {
  const clang::FunctionDecl *callee = call->getDirectCallee();
  if (!callee)
    return std::nullopt;
  if (const auto *member = llvm::dyn_cast<clang::CXXMemberCallExpr>(call)) {
    if (call->getNumArgs() != 0)
      return std::nullopt;
    const bool converts = llvm::isa<clang::CXXConversionDecl>(callee);
    if (!converts && !callee->getDeclName().isIdentifier())
      return std::nullopt;
    if (const std::optional<Place> field =
            returnedField(*callee, member->getImplicitObjectArgument()))
      return held(*field, point);
    return dataOf(member->getImplicitObjectArgument(),
                  converts ? "operator *" : callee->getName().str(), point);
  }
  // std::move(p), thrust::raw_pointer_cast(p)
  if (call->getNumArgs() == 1 && callee->getDeclName().isIdentifier() &&
      (callee->getName() == "raw_pointer_cast" ||
       (callee->isInStdNamespace() &&
        (callee->getName() == "move" || callee->getName() == "forward"))))
    return value(call->getArg(0), point);
  return std::nullopt;
}

/// The member that an accessor of the user returns, if it does nothing else.
std::optional<Place> PointerReader::returnedField(const clang::FunctionDecl &accessor,
                                                  const Expr *object) const {
  const clang::FunctionDecl *definition = nullptr;
  const auto *body =
      llvm::cast<clang::CXXMethodDecl>(accessor).isVirtual() || !accessor.hasBody(definition)
          ? nullptr
          : llvm::dyn_cast_or_null<clang::CompoundStmt>(definition->getBody());
  const auto *only =
      body && body->size() == 1 ? llvm::dyn_cast<clang::ReturnStmt>(body->body_front()) : nullptr;
  std::optional<Place> place = only ? placeOf(only->getRetValue(), context_) : std::nullopt;
  const auto *field = place ? llvm::dyn_cast<clang::FieldDecl>(place->root) : nullptr;
  if (!field || llvm::isa<clang::CXXThisExpr>(strip(object)))
    return field ? place : std::nullopt;
  std::optional<Place> owner = placeOf(object, context_);
  if (!owner)
    return std::nullopt;
  owner->steps.push_back(
      {(object->getType()->isPointerType() ? "->" : ".") + field->getNameAsString(), field, nullptr,
       field->getType()});
  owner->steps.insert(owner->steps.end(), place->steps.begin(), place->steps.end());
  return owner;
}

/// The result of an object's `accessor()`, which is the same as long as the object does not change.
PointerReader::Found PointerReader::dataOf(const Expr *object, const std::string &accessor,
                                           const Stmt *point) {
  std::string suffix = "." + accessor + "()";
  if (llvm::isa<clang::CXXThisExpr>(strip(object)))
    return Pointer{"this" + suffix + (point == launch_ ? "" : at(point))};
  const std::optional<Place> owner = placeOf(object, context_);
  if (!owner)
    return std::nullopt;
  if (object->getType()->isPointerType())
    suffix = "->" + accessor + "()" + (point == launch_ ? "" : at(point));
  Found found = leaf(*owner, point);
  found->root += suffix;
  return found;
}

/// The value of the pointer variable that `lvalue` names.
PointerReader::Found PointerReader::loaded(const Expr *lvalue, const Stmt *point) {
  lvalue = bare(lvalue);
  if (const auto *cast = llvm::dyn_cast<clang::CastExpr>(lvalue))
    return cast->getCastKind() == clang::CK_NoOp ? loaded(cast->getSubExpr(), point)
           : cast->isGLValue()                   ? std::nullopt
                                                 : value(cast, point);
  if (const auto *choice = llvm::dyn_cast<clang::ConditionalOperator>(lvalue))
    return agreed(loaded(choice->getTrueExpr(), point), loaded(choice->getFalseExpr(), point));
  if (const std::optional<Place> place = placeOf(lvalue, context_))
    return held(*place, point);
  if (const auto *call = llvm::dyn_cast<clang::CallExpr>(lvalue))
    return called(call, point);
  return std::nullopt;
}

PointerReader::Found PointerReader::addressOf(const Expr *lvalue, const Stmt *point) {
  lvalue = bare(lvalue);
  if (const auto *cast = llvm::dyn_cast<clang::CastExpr>(lvalue))
    return cast->getCastKind() == clang::CK_NoOp ? addressOf(cast->getSubExpr(), point)
                                                 : std::nullopt;
  if (const auto *reference = llvm::dyn_cast<clang::DeclRefExpr>(lvalue)) {
    const auto *variable = llvm::dyn_cast<clang::VarDecl>(reference->getDecl());
    if (!variable)
      return std::nullopt;
    if (variable->getType()->isReferenceType() && variable->isLocalVarDecl() && variable->hasInit())
      return addressOf(variable->getInit(), variable->getInit());
    return Pointer{"&" + nameOf(Place{variable, {}})};
  }
  if (const auto *member = llvm::dyn_cast<clang::MemberExpr>(lvalue)) {
    if (const auto *shared = llvm::dyn_cast<clang::VarDecl>(member->getMemberDecl()))
      return Pointer{"&" + nameOf(Place{shared, {}})};
    const auto *field = llvm::dyn_cast<clang::FieldDecl>(member->getMemberDecl());
    if (!field || field->isBitField())
      return std::nullopt;
    Found object =
        member->isArrow() ? value(member->getBase(), point) : addressOf(member->getBase(), point);
    return object ? Found(movedBy(std::move(*object),
                                  std::to_string(context_.getFieldOffset(field) / 8)))
                  : std::nullopt;
  }
  if (const auto *subscript = llvm::dyn_cast<clang::ArraySubscriptExpr>(lvalue))
    return moved(value(subscript->getBase(), point), subscript->getIdx(), false,
                 subscript->getBase()->getType(), point);
  if (const auto *operation = llvm::dyn_cast<clang::UnaryOperator>(lvalue))
    return operation->getOpcode() == clang::UO_Deref ? value(operation->getSubExpr(), point)
                                                     : std::nullopt;
  if (const auto *call = llvm::dyn_cast<clang::CXXOperatorCallExpr>(lvalue);
      call && call->getOperator() == clang::OO_Subscript && call->getNumArgs() == 2 &&
      hasData(call->getArg(0)->getType()->getAsCXXRecordDecl()))
    return moved(dataOf(call->getArg(0), "data", point), call->getArg(1), false,
                 context_.getPointerType(call->getType()), point);
  return std::nullopt;
}

PointerReader::Found PointerReader::held(const Place &place, const Stmt *point) {
  const auto *variable = llvm::dyn_cast<clang::VarDecl>(place.root);
  if (!flow_ || depth_ > kDeepest || (variable && !variable->hasLocalStorage()))
    return leaf(place, point);
  const Definition definition = flow_->before(place, point);
  if (!place.isLocal() && definition.kind != Definition::Kind::Entry) {
    // Other functions can change it: the value is only known if this function assigned it last and
    // has called nothing since.
    const bool throughPointer = llvm::any_of(place.steps, [](const PlaceStep &step) {
      return !step.field || llvm::StringRef(step.text).starts_with("->");
    });
    if (definition.kind == Definition::Kind::Choice || throughPointer || !definition.value ||
        !flows_.callsKeep(*flow_, place, definition.value, point))
      return leaf(place, point);
  }
  const Found found = defined(definition, place, point);
  return found ? found : leaf(place, point);
}

PointerReader::Found PointerReader::defined(const Definition &definition, const Place &place,
                                            const Stmt *point) {
  const llvm::SaveAndRestore guard(depth_, depth_ + 1);
  switch (definition.kind) {
  case Definition::Kind::Value:
    return definition.rest.empty() ? value(definition.value, definition.value)
                                   : part(definition.value, definition.rest, definition.value);
  case Definition::Kind::Update: {
    Found old = held(place, definition.value);
    if (const auto *step = llvm::dyn_cast<clang::UnaryOperator>(definition.value))
      return moved(std::move(old), nullptr, step->isDecrementOp(), place.type(), definition.value);
    const auto *assignment = llvm::dyn_cast<clang::CompoundAssignOperator>(definition.value);
    if (!assignment || !place.type()->isPointerType())
      return std::nullopt;
    return moved(std::move(old), assignment->getRHS(),
                 assignment->getOpcode() == clang::BO_SubAssign, place.type(), definition.value);
  }
  case Definition::Kind::Choice: {
    const clang::IfStmt *choice = definition.choice;
    const auto after = [&](const Stmt *branch) {
      return defined(flow_->afterBranch(place, branch, choice), place, choice);
    };
    return agreed(after(choice->getThen()), after(choice->getElse()));
  }
  case Definition::Kind::Entry:
    return leaf(place, point);
  case Definition::Kind::Unknown:
    break;
  }
  return std::nullopt;
}

/// The value of the pointer that `steps` lead to in an object.
PointerReader::Found PointerReader::part(const Expr *object, const Steps &steps,
                                         const Stmt *point) {
  object = bare(object);
  if (!object || depth_ > kDeepest)
    return std::nullopt;
  if (const auto *cast = llvm::dyn_cast<clang::CastExpr>(object))
    return cast->getCastKind() == clang::CK_NoOp ||
                   cast->getCastKind() == clang::CK_LValueToRValue ||
                   cast->getCastKind() == clang::CK_ConstructorConversion
               ? part(cast->getSubExpr(), steps, point)
               : std::nullopt;
  if (const auto *construction = llvm::dyn_cast<clang::CXXConstructExpr>(object))
    return constructed(construction, steps, point);
  if (std::optional<Place> place = placeOf(object, context_)) {
    place->steps.insert(place->steps.end(), steps.begin(), steps.end());
    return held(*place, point);
  }
  const auto *list = llvm::dyn_cast<clang::InitListExpr>(object);
  if (!list)
    return std::nullopt;
  if (!list->isSemanticForm() && list->getSemanticForm())
    list = list->getSemanticForm();
  const auto *record = list->getType()->getAsCXXRecordDecl();
  unsigned index = 0;
  // Not handled: bases come first in a list.
  if (record && (record->isUnion() || record->getNumBases()))
    return std::nullopt;
  if (steps.front().field)
    index = steps.front().field->getFieldIndex();
  else if (llvm::StringRef(steps.front().text).drop_front().drop_back().getAsInteger(10, index))
    return std::nullopt;
  if (index >= list->getNumInits())
    return std::nullopt;
  const Steps rest(steps.begin() + 1, steps.end());
  return rest.empty() ? value(list->getInit(index), point)
                      : part(list->getInit(index), rest, point);
}

/// The pointer that a constructor stores unchanged in a member.
PointerReader::Found PointerReader::constructed(const clang::CXXConstructExpr *construction,
                                                const Steps &steps, const Stmt *point) {
  const clang::FunctionDecl *definition = nullptr;
  const FunctionFlow *flow =
      construction->getConstructor()->hasBody(definition) ? flows_.of(definition) : nullptr;
  if (!flow || steps.size() != 1 || !steps.front().field ||
      flow->atEnd(Place{steps.front().field, {}}).kind != Definition::Kind::Entry)
    return std::nullopt;
  for (const clang::CXXCtorInitializer *initial :
       llvm::cast<clang::CXXConstructorDecl>(definition)->inits()) {
    const auto *reference = initial->getMember() == steps.front().field
                                ? llvm::dyn_cast<clang::DeclRefExpr>(strip(initial->getInit()))
                                : nullptr;
    const auto *parameter =
        reference ? llvm::dyn_cast<clang::ParmVarDecl>(reference->getDecl()) : nullptr;
    if (parameter && !flow->writes(Place{parameter, {}}) &&
        parameter->getFunctionScopeIndex() < construction->getNumArgs()) {
      const Expr *argument = construction->getArg(parameter->getFunctionScopeIndex());
      return argument->isGLValue() ? loaded(argument, point) : value(argument, point);
    }
  }
  return std::nullopt;
}

} // namespace kopt::frontend
