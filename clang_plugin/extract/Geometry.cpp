// SPDX-License-Identifier: Apache-2.0
// Variables in launch configurations, and parts of structs.
#include "clang_plugin/extract/Geometry.h"

#include "clang_plugin/analysis/Types.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/ExprCXX.h>

namespace kopt::frontend {

using clang::Expr;

namespace {

const clang::FieldDecl *fieldOf(clang::QualType type, llvm::StringRef name) {
  type = type.getNonReferenceType();
  if (type->isPointerType())
    type = type->getPointeeType();
  const clang::CXXRecordDecl *record = type->getAsCXXRecordDecl();
  record = record ? record->getDefinition() : nullptr;
  if (!record)
    return nullptr;
  for (const clang::FieldDecl *field : record->fields())
    if (field->getName() == name)
      return field;
  for (const clang::CXXBaseSpecifier &base : record->bases())
    if (const clang::FieldDecl *field = fieldOf(base.getType(), name))
      return field;
  return nullptr;
}

bool isExtent(clang::QualType type) {
  return fieldOf(type, "x") && fieldOf(type, "y") && fieldOf(type, "z") &&
         !type.getNonReferenceType()->isPointerType();
}

} // namespace

GeometryReader::GeometryReader(HostCode &code, UnitFlow &flows, Site site,
                               std::function<bool(const NamedConstant &)> mayName)
    : index_(code.index()), context_(index_.unit().getASTContext()), code_(code), flows_(flows),
      site_(std::move(site)), constants_(index_), mayName_(std::move(mayName)) {
  launching_.flow = flows_.of(site_.function);
  launching_.isLaunching = true;
}

std::optional<std::string> GeometryReader::scalar(const ConfigPart &part) {
  reason_.clear();
  Used before = used_;
  Steps steps;
  clang::QualType type = part.expression->getType();
  for (const std::string &name : part.fields) {
    const clang::FieldDecl *field = fieldOf(type, name);
    if (!field)
      return std::nullopt;
    steps.push_back(
        {(type->isPointerType() ? "->" : ".") + name, field, nullptr, field->getType()});
    type = field->getType();
  }
  Where where{&launching_, site_.launch};
  std::optional<Term> term =
      steps.empty() ? scalar(part.expression, where) : component(part.expression, steps, where);
  if (!term) {
    used_ = std::move(before);
    return std::nullopt;
  }
  return term->text;
}

std::optional<std::string> GeometryReader::scalarBefore(const Expr *expression,
                                                        const clang::Stmt *point) {
  reason_.clear();
  Used before = used_;
  if (std::optional<Term> term = scalar(expression, Where{&launching_, point}))
    return term->text;
  used_ = std::move(before);
  return std::nullopt;
}

std::optional<Extent> GeometryReader::extent(const ConfigPart &part) {
  clang::QualType type = part.expression->getType();
  for (const std::string &name : part.fields)
    if (const clang::FieldDecl *field = fieldOf(type, name))
      type = field->getType();
  if (!isExtent(type)) {
    std::optional<std::string> x = scalar(part);
    return x ? std::optional(Extent{*x, "1", "1"}) : std::nullopt;
  }
  Used before = used_;
  Extent value;
  for (std::size_t i = 0; i < 3; ++i) {
    ConfigPart axis = part;
    axis.fields.emplace_back(1, static_cast<char>('x' + i));
    std::optional<std::string> text = scalar(axis);
    if (!text) {
      used_ = std::move(before);
      return std::nullopt;
    }
    value[i] = *text;
  }
  return value;
}

/// A variable of the host program, if the launch site can still name it and it has not changed.
std::optional<GeometryReader::Term> GeometryReader::leaf(const Place &place, Where where) {
  clang::QualType type = place.type();
  if (!type->isIntegralOrEnumerationType())
    return fail("'" + place.text() + "' of type '" + type.getAsString() + "'");
  const Frame &frame = *where.frame;
  const auto *variable = llvm::dyn_cast<clang::VarDecl>(place.root);
  if (!frame.isLaunching) {
    bool isGlobal = variable && !variable->isLocalVarDeclOrParm();
    if (frame.caller && isGlobal && !frame.flow->writes(place))
      return leaf(place, {frame.caller, frame.call});
    return fail("'" + place.text() + "', which the launch site cannot name");
  }
  bool atSite = where.point == site_.launch;
  if (frame.flow && !frame.flow->isVisible(place.root, site_.launch))
    return fail("'" + place.text() + "', which the launch site cannot name");
  if (!atSite && !(frame.flow && flows_.isStable(*frame.flow, place, where.point, site_.launch)))
    return fail("'" + place.text() + "', which changes before the launch");
  std::string text = place.text();
  // A static member has its plain name only in its own class.
  if (variable && variable->isStaticDataMember()) {
    const auto *method = llvm::dyn_cast_or_null<clang::CXXMethodDecl>(site_.function);
    if (!method ||
        method->getParent()->getCanonicalDecl() !=
            llvm::cast<clang::CXXRecordDecl>(variable->getDeclContext())->getCanonicalDecl())
      text = writtenName(*variable) + text.substr(variable->getName().size());
  }
  used_.variables.insert(text);
  return Term{text, false, ""};
}

std::optional<GeometryReader::Term> GeometryReader::place(const Place &place, Where where) {
  if (depth_ > 200)
    return fail("an expression nested too deeply");
  Used before = used_;
  std::string reason = reason_;
  if (where.frame->isLaunching && site_.passed.count(place.text()))
    if (std::optional<Term> passed = leaf(place, where))
      return passed;
  used_ = before;
  ++depth_;
  std::optional<Term> value = held(place, where);
  --depth_;
  // If the value is an element or a member of something, prefer the variable's shorter name.
  bool isPath = value && place.steps.empty() && used_.variables.count(value->text) &&
                !site_.passed.count(value->text) &&
                value->text.find_first_of("[.>(") != std::string::npos;
  if (value && !isPath)
    return value;
  Used within = std::exchange(used_, std::move(before));
  std::optional<Term> name = leaf(place, where);
  if (!name && value) {
    used_ = std::move(within);
    name = value;
  }
  if (name)
    reason_ = std::move(reason);
  return name;
}

std::optional<GeometryReader::Term> GeometryReader::held(const Place &place, Where where) {
  const FunctionFlow *flow = where.frame->flow;
  const auto *variable = llvm::dyn_cast<clang::VarDecl>(place.root);
  bool isGlobal = variable && !variable->hasLocalStorage();
  if (isGlobal || !flow)
    return atEntry(place, where);
  Definition definition = flow->before(place, where.point);
  // Other functions can change what is not local. Then the value is only known if this function
  // assigned it last and has called nothing since.
  if (!place.isLocal() && definition.kind != Definition::Kind::Entry) {
    bool isReference = place.root->getType()->isReferenceType();
    bool throughPointer = llvm::any_of(place.steps, [](const PlaceStep &step) {
      return !step.field || llvm::StringRef(step.text).starts_with("->");
    });
    if (definition.kind == Definition::Kind::Choice || throughPointer ||
        (isReference && !llvm::isa<clang::ParmVarDecl>(place.root)) || !definition.value ||
        !flows_.callsKeep(*flow, place, definition.value, where.point))
      return fail("'" + place.text() + "', which others can change");
  }
  return defined(definition, place, where);
}

std::optional<GeometryReader::Term> GeometryReader::defined(const Definition &definition,
                                                            const Place &place, Where where) {
  const Frame &frame = *where.frame;
  switch (definition.kind) {
  case Definition::Kind::Value: {
    Where there{&frame, definition.value};
    return definition.rest.empty() ? scalar(definition.value, there)
                                   : component(definition.value, definition.rest, there);
  }
  case Definition::Kind::Update: {
    Where there{&frame, definition.value};
    // Narrow types may wrap around.
    if (!place.type()->isIntegralOrEnumerationType() || context_.getTypeSize(place.type()) < 32)
      return fail("a changing '" + place.text() + "'");
    std::optional<Term> old = this->place(place, there);
    if (!old)
      return std::nullopt;
    if (const auto *step = llvm::dyn_cast<clang::UnaryOperator>(definition.value))
      return combine(step->isIncrementOp() ? clang::BO_Add : clang::BO_Sub, *old, {"1", false, ""},
                     step->getType());
    const auto *assignment = llvm::cast<clang::CompoundAssignOperator>(definition.value);
    if (!assignment->getComputationResultType()->isIntegralOrEnumerationType())
      return fail("a changing '" + place.text() + "'");
    std::optional<Term> right = scalar(assignment->getRHS(), there);
    return right
               ? combine(clang::BinaryOperator::getOpForCompoundAssignment(assignment->getOpcode()),
                         *old, *right, assignment->getType())
               : std::nullopt;
  }
  case Definition::Kind::Choice: {
    const clang::IfStmt *choice = definition.choice;
    std::optional<Term> condition = scalar(choice->getCond(), {&frame, choice->getCond()});
    if (!condition)
      return std::nullopt;
    std::optional<Term> branches[2];
    for (bool isElse : {false, true}) {
      // Do not read a branch that is never taken, so that its names are not used.
      if (condition->text == (isElse ? "1" : "0")) {
        branches[isElse] = Term{"0", false, ""};
        continue;
      }
      branches[isElse] = defined(
          frame.flow->afterBranch(place, isElse ? choice->getElse() : choice->getThen(), choice),
          place, {&frame, choice});
      if (!branches[isElse])
        return std::nullopt;
    }
    return choose(*condition, *branches[0], *branches[1]);
  }
  case Definition::Kind::Entry:
    return atEntry(place, where);
  case Definition::Kind::Unknown:
    break;
  }
  return fail("'" + place.text() + "', whose value is not settled");
}

/// The value of a place when its function began.
std::optional<GeometryReader::Term> GeometryReader::atEntry(const Place &place, Where where) {
  const Frame &frame = *where.frame;
  if (auto argument = frame.arguments.find(place.root); argument != frame.arguments.end()) {
    Where there{frame.caller, frame.call};
    return place.steps.empty() ? scalar(argument->second, there)
                               : component(argument->second, place.steps, there);
  }
  if (const auto *field = llvm::dyn_cast<clang::FieldDecl>(place.root)) {
    if (!frame.object)
      return std::nullopt;
    Where there{frame.caller, frame.call};
    if (llvm::isa<clang::CXXThisExpr>(strip(frame.object)))
      return this->place(place, there);
    Steps steps = {
        {(frame.object->getType()->isPointerType() ? "->" : ".") + field->getNameAsString(), field,
         nullptr, field->getType()}};
    steps.insert(steps.end(), place.steps.begin(), place.steps.end());
    return component(frame.object, steps, there);
  }
  const auto *variable = llvm::dyn_cast<clang::VarDecl>(place.root);
  if (!variable)
    return std::nullopt;
  // A const global keeps its initial value, which must be a constant.
  const Expr *initial = variable->getAnyInitializer();
  bool isCaptured = frame.caller && frame.flow &&
                    variable->getDeclContext() != &frame.flow->function() &&
                    variable->hasLocalStorage();
  if (llvm::isa<clang::ParmVarDecl>(variable) && !isCaptured)
    return frame.isLaunching || frame.isCaller ? fromCallers(place) : std::nullopt;
  if (variable->hasLocalStorage()) { // captured by a lambda
    const FunctionFlow *around = frame.caller ? frame.caller->flow : nullptr;
    return around && !around->writes(place) ? this->place(place, {frame.caller, frame.call})
                                            : std::nullopt;
  }
  if (!initial || !(variable->isConstexpr() || variable->getType().isConstQualified()))
    return std::nullopt;
  Frame outside;
  Where there{&outside, initial};
  return place.steps.empty() ? scalar(initial, there) : component(initial, place.steps, there);
}

/// The value of the part of a struct or array that `steps` lead to.
std::optional<GeometryReader::Term> GeometryReader::component(const Expr *expression,
                                                              const Steps &steps, Where where) {
  if (!expression || expression->isTypeDependent() || depth_ > 200)
    return fail("an expression that depends on template parameters");
  if (const auto *parens = llvm::dyn_cast<clang::ParenExpr>(expression))
    return component(parens->getSubExpr(), steps, where);
  if (const auto *full = llvm::dyn_cast<clang::FullExpr>(expression))
    return component(full->getSubExpr(), steps, where);
  if (const auto *temporary = llvm::dyn_cast<clang::MaterializeTemporaryExpr>(expression))
    return component(temporary->getSubExpr(), steps, where);
  if (const auto *temporary = llvm::dyn_cast<clang::CXXBindTemporaryExpr>(expression))
    return component(temporary->getSubExpr(), steps, where);
  if (const auto *standard = llvm::dyn_cast<clang::CXXDefaultArgExpr>(expression))
    return component(standard->getExpr(), steps, where);
  if (const auto *standard = llvm::dyn_cast<clang::CXXDefaultInitExpr>(expression))
    return component(standard->getExpr(), steps, where);
  if (const auto *cast = llvm::dyn_cast<clang::CastExpr>(expression))
    return component(cast->getSubExpr(), steps, where);
  if (llvm::isa<clang::ImplicitValueInitExpr, clang::CXXScalarValueInitExpr>(expression))
    return Term{"0", false, ""};
  if (const auto *construction = llvm::dyn_cast<clang::CXXConstructExpr>(expression))
    return constructed(construction, steps, where);
  if (const auto *call = llvm::dyn_cast<clang::CallExpr>(expression);
      call && !placeOf(call, context_))
    return this->call(call, steps, where);
  if (std::optional<Place> part = placeOf(expression, context_)) {
    part->steps.insert(part->steps.end(), steps.begin(), steps.end());
    return place(*part, where);
  }
  if (const auto *address = llvm::dyn_cast<clang::UnaryOperator>(expression);
      address && address->getOpcode() == clang::UO_AddrOf && steps.front().field) {
    Steps direct = steps; // (&object)->field
    direct.front().text = "." + direct.front().field->getNameAsString();
    return component(address->getSubExpr(), direct, where);
  }
  if (const auto *list = llvm::dyn_cast<clang::InitListExpr>(expression)) {
    if (!list->isSemanticForm() && list->getSemanticForm())
      list = list->getSemanticForm();
    unsigned at = 0;
    if (steps.front().field)
      at = steps.front().field->getFieldIndex();
    else if (llvm::StringRef(steps.front().text).drop_front().drop_back().getAsInteger(10, at))
      return fail("an element of a list");
    // Not handled: bases come first in a list, and a union initialises only one member.
    const auto *record = list->getType()->getAsCXXRecordDecl();
    if (record && (record->isUnion() || record->getNumBases()))
      return fail("a member of '" + list->getType().getAsString() + "'");
    const Expr *value = at < list->getNumInits() ? list->getInit(at) : list->getArrayFiller();
    if (!value)
      return Term{"0", false, ""};
    Steps rest(steps.begin() + 1, steps.end());
    return rest.empty() ? scalar(value, where) : component(value, rest, where);
  }
  if (const auto *choice = llvm::dyn_cast<clang::ConditionalOperator>(expression)) {
    std::optional<Term> condition = scalar(choice->getCond(), where);
    std::optional<Term> yes =
        condition ? component(choice->getTrueExpr(), steps, where) : std::nullopt;
    std::optional<Term> no = yes ? component(choice->getFalseExpr(), steps, where) : std::nullopt;
    return no ? choose(*condition, *yes, *no) : std::nullopt;
  }
  return fail(std::string("an expression of the kind ") + expression->getStmtClassName());
}

} // namespace kopt::frontend
