// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/analysis/Values.h"

#include "clang_plugin/analysis/Writes.h"

#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/xxhash.h>

namespace kopt::frontend {

using namespace clang;

namespace {

constexpr long long kMostFactor = 4096; ///< products of larger constants overflow on purpose

/// Limits names of variables that are made of variables, which could become endless.
constexpr std::size_t kLongestName = 160, kMostOpen = 8;

/// The expression that a called function returns, if it does nothing else; null for any other
/// expression.
const Expr *returnedBy(const Expr *expression) {
  const auto *call = dyn_cast<CallExpr>(expression);
  const FunctionDecl *callee = call ? call->getDirectCallee() : nullptr;
  const auto *body = callee ? dyn_cast_or_null<CompoundStmt>(callee->getBody()) : nullptr;
  const auto *given =
      body && body->size() == 1 ? dyn_cast<ReturnStmt>(body->body_front()) : nullptr;
  return given ? given->getRetValue() : nullptr;
}

/// The variable that an lvalue names, or of which it is a part, but not through a pointer.
const VarDecl *ownerOf(const Expr *lvalue) {
  const Lvalue owner = readLvalue(lvalue);
  return owner.pointer ? nullptr : owner.variable;
}

/// The variable that is passed or copied as it is; null for any other value.
const VarDecl *variableGiven(const Expr *value) {
  value = value->IgnoreParenImpCasts();
  if (const auto *copy = dyn_cast<CXXConstructExpr>(value);
      copy && copy->getConstructor()->isCopyOrMoveConstructor())
    value = copy->getArg(0)->IgnoreParenImpCasts();
  const auto *reference = dyn_cast<DeclRefExpr>(value);
  return reference ? dyn_cast<VarDecl>(reference->getDecl()) : nullptr;
}

/// True for functions of the toolkit whose result depends on their arguments alone.
bool isComputation(llvm::StringRef name) {
  static const std::set<llvm::StringRef> kNames = {
      "min",     "max",    "umin",   "umax",  "abs",   "fminf", "fmaxf",
      "fmin",    "fmax",   "floorf", "floor", "ceilf", "ceil",  "__umulhi",
      "__mulhi", "__popc", "__clz",  "__ffs", "__brev"};
  return kNames.contains(name);
}

bool isZero(const KernelView &view, const Expr *expression) {
  return view.constant(expression) == 0 ||
         expression->isNullPointerConstant(view.context(), Expr::NPC_ValueDependentIsNotNull) !=
             Expr::NPCK_NotNull;
}

bool isSameNumber(const KernelView &view, const Expr *a, const Expr *b) {
  Expr::EvalResult one, other;
  if (a->isValueDependent() || b->isValueDependent() || !a->EvaluateAsRValue(one, view.context()) ||
      !b->EvaluateAsRValue(other, view.context()) || one.Val.getKind() != other.Val.getKind())
    return false;
  if (one.Val.isFloat())
    return &one.Val.getFloat().getSemantics() == &other.Val.getFloat().getSemantics() &&
           one.Val.getFloat().bitwiseIsEqual(other.Val.getFloat());
  return one.Val.isInt() && llvm::APSInt::isSameValue(one.Val.getInt(), other.Val.getInt());
}

/// The variable that a conjunction asks to be this number, itself or in a member; or null.
const Expr *askedToBe(const KernelView &view, const Expr *condition, const Expr *number) {
  const auto *binary = dyn_cast<BinaryOperator>(condition->IgnoreParens());
  if (!binary || (binary->getOpcode() != BO_LAnd && binary->getOpcode() != BO_EQ))
    return nullptr;
  if (binary->getOpcode() == BO_LAnd) {
    const Expr *left = askedToBe(view, binary->getLHS(), number);
    return left ? left : askedToBe(view, binary->getRHS(), number);
  }
  const Expr *value = binary->getLHS()->IgnoreParenImpCasts();
  while (const auto *member = dyn_cast<MemberExpr>(value)) {
    if (member->isArrow())
      return nullptr;
    value = member->getBase()->IgnoreParenImpCasts();
  }
  return isa<DeclRefExpr>(value) && isSameNumber(view, number, binary->getRHS()) ? value : nullptr;
}

/// Removes conversions to a truth value and between pointer types.
const Expr *bare(const Expr *expression) {
  while (true) {
    expression = expression->IgnoreParenImpCasts();
    const auto *cast = dyn_cast<ExplicitCastExpr>(expression);
    const bool isIdle =
        cast &&
        (cast->getType()->isBooleanType() || cast->getCastKind() == CK_NoOp ||
         (cast->getType()->isPointerType() && cast->getSubExpr()->getType()->isPointerType()));
    if (!isIdle)
      return expression;
    expression = cast->getSubExpr();
  }
}

} // namespace

Values::Values(const KernelFacts &facts) : view_(facts.view()) {
  for (const BodyView &body : facts.bodies())
    for (const Stmt *statement : body.statements)
      collect(body, statement);
}

void Values::collect(const BodyView &body, const Stmt *statement) {
  if (const auto *declaration = dyn_cast<DeclStmt>(statement)) {
    for (const Decl *decl : declaration->decls())
      if (const auto *variable = dyn_cast<VarDecl>(decl); variable && variable->getInit())
        sources_[variable].values.push_back(variable->getInit());
  } else if (const auto *assignment = dyn_cast<BinaryOperator>(statement);
             assignment && assignment->isAssignmentOp()) {
    const Expr *value = assignment->isCompoundAssignmentOp()
                            ? assignment
                            : asGuarded(body, statement, assignment->getRHS());
    if (const VarDecl *variable = ownerOf(assignment->getLHS());
        variable && value == assignment->getRHS())
      sources_[variable].values.push_back(value);
    else if (variable)
      addSource(variable, value);
  } else if (const auto *unary = dyn_cast<UnaryOperator>(statement)) {
    const VarDecl *variable = unary->isIncrementDecrementOp() || unary->getOpcode() == UO_AddrOf
                                  ? ownerOf(unary->getSubExpr())
                                  : nullptr;
    if (variable && unary->isIncrementDecrementOp())
      sources_[variable].values.push_back(unary);
    else if (variable)
      sources_[variable].escapes = true;
  } else if (const auto *call = dyn_cast<CallExpr>(statement)) {
    llvm::SmallVector<const Expr *> arguments(call->arguments());
    const auto *method = dyn_cast_or_null<CXXMethodDecl>(call->getDirectCallee());
    if (isa<CXXOperatorCallExpr>(call) && method && !method->isStatic() && !arguments.empty())
      arguments.erase(arguments.begin()); // not an argument: the object
    for (const Expr *&argument : arguments)
      argument = asGuarded(body, statement, argument);
    collectArguments(call->getDirectCallee(), arguments);
  } else if (const auto *construct = dyn_cast<CXXConstructExpr>(statement)) {
    collectArguments(construct->getConstructor(),
                     llvm::SmallVector<const Expr *>(construct->arguments()));
  } else if (const auto *reference = dyn_cast<DeclRefExpr>(statement)) {
    // It is bound to a reference: passed to a function, or given another name.
    const Stmt *outer = body.parentOf(reference);
    const auto *variable = dyn_cast<VarDecl>(reference->getDecl());
    if (const auto *copy = dyn_cast_or_null<CXXConstructExpr>(outer);
        copy && copy->getConstructor()->isCopyOrMoveConstructor())
      return;
    if (variable && isa_and_nonnull<CallExpr, CXXConstructExpr, DeclStmt>(outer) &&
        !variable->getType().isConstQualified())
      sources_[variable].escapes = true;
  }
}

void Values::collectArguments(const FunctionDecl *callee, llvm::ArrayRef<const Expr *> arguments) {
  callee = callee ? callee->getDefinition() : nullptr;
  if (!callee || callee == &view_.kernel())
    return;
  for (unsigned i = 0; i < callee->getNumParams() && i < arguments.size(); ++i)
    addSource(callee->getParamDecl(i), arguments[i]);
}

/// A parameter or copy that is given the same variable at several places has one source.
void Values::addSource(const VarDecl *variable, const Expr *value) {
  std::vector<const Expr *> &values = sources_[variable].values;
  const VarDecl *given = variableGiven(value);
  if (!given ||
      llvm::none_of(values, [&](const Expr *each) { return variableGiven(each) == given; }))
    values.push_back(value);
}

/// In `if (n == 4096) f(4096);` the number is the value of n, which is returned for it: the kernel
/// is written for another value, not made of another.
const Expr *Values::asGuarded(const BodyView &body, const Stmt *statement,
                              const Expr *value) const {
  const Expr *number = value->IgnoreParenImpCasts();
  if (!view_.constant(number) && !isa<FloatingLiteral, UnaryOperator>(number))
    return value;
  for (const Stmt *outer = body.parentOf(statement); outer;
       statement = outer, outer = body.parentOf(outer))
    if (const auto *branch = dyn_cast<IfStmt>(outer); branch && branch->getThen() == statement)
      if (const Expr *variable = askedToBe(view_, branch->getCond(), number);
          variable && isKernelParameter(variableOf(variable)))
        return variable;
  return value;
}

bool Values::isKernelParameter(const VarDecl *variable) const {
  const auto *parameter = dyn_cast<ParmVarDecl>(variable);
  return parameter && llvm::is_contained(view_.kernel().parameters(), parameter);
}

Ingredients Values::of(const Stmt *expression) const {
  Ingredients found;
  Variables seen;
  gather(expression, found, seen);
  return found;
}

void Values::gather(const Stmt *expression, Ingredients &found, Variables &seen) const {
  if (!expression || isa<UnaryExprOrTypeTraitExpr>(expression))
    return;
  if (const auto *value = dyn_cast<Expr>(expression)) {
    if (const auto number = view_.constant(value)) {
      const auto magnitude = *number < 0 ? 0 - static_cast<unsigned long long>(*number)
                                         : static_cast<unsigned long long>(*number);
      found.largest = std::max(found.largest, magnitude);
      found.numbers.insert(static_cast<double>(*number));
      return;
    }
    if (const auto *number = dyn_cast<FloatingLiteral>(value)) {
      found.largest = std::max(found.largest, number->getValue().isZero() ? 0ULL : 2ULL);
      found.numbers.insert(number->getValueAsApproximateDouble());
    }
    if (const auto place = coordinate(value)) {
      (place->variable == "threadIdx"  ? found.thread
       : place->variable == "blockIdx" ? found.block
       : place->variable == "blockDim" ? found.blockDim
                                       : found.argument) = true;
      return;
    }
  }
  if (const auto *reference = dyn_cast<DeclRefExpr>(expression)) {
    const auto *variable = dyn_cast<VarDecl>(reference->getDecl());
    if (!variable || variable->isConstexpr() || variable->getName() == "warpSize" ||
        !seen.insert(variable).second)
      return;
    const auto known = sources_.find(variable);
    const bool isParameter = isKernelParameter(variable);
    found.argument |= isParameter;
    if (isParameter)
      found.parameters.insert(cast<ParmVarDecl>(variable)->getFunctionScopeIndex());
    if (known != sources_.end()) {
      found.several |= known->second.values.size() + isParameter > 1;
      found.data |= known->second.escapes;
      for (const Expr *source : known->second.values)
        gather(source, found, seen);
    } else if (!isParameter) {
      found.data = true; // the source is not known
    }
    return;
  }
  if (const auto *unary = dyn_cast<UnaryOperator>(expression);
      unary && unary->getOpcode() == UO_Deref)
    found.data = true;
  if (isa<ArraySubscriptExpr, CXXThisExpr, StmtExpr>(expression))
    found.data = true;
  if (const auto *call = dyn_cast<CallExpr>(expression)) {
    found.data |= !isComputation(calleeName(call));
    for (const Expr *argument : call->arguments())
      gather(argument, found, seen);
    return;
  }
  for (const Stmt *child : expression->children())
    gather(child, found, seen);
}

const Expr *Values::onlySource(const VarDecl *variable) const {
  const auto known = sources_.find(variable);
  const bool isOne = known != sources_.end() && known->second.values.size() == 1 &&
                     !known->second.escapes && !isKernelParameter(variable);
  return isOne ? known->second.values.front() : nullptr;
}

bool Values::isNeverNegative(const Expr *expression) const {
  long long factor = 1;
  Variables seen;
  return isNeverNegative(expression, factor, seen);
}

bool Values::isNeverNegative(const Expr *expression, long long &factor, Variables &seen) const {
  expression = expression->IgnoreParenCasts();
  if (const auto value = view_.constant(expression))
    return *value >= 0;
  if (coordinate(expression))
    return true;
  if (const auto *reference = dyn_cast<DeclRefExpr>(expression)) {
    const auto *variable = dyn_cast<VarDecl>(reference->getDecl());
    if (!variable)
      return false;
    const auto known = sources_.find(variable);
    // A variable that is being examined does not disprove the claim.
    if (known == sources_.end() || !seen.insert(variable).second)
      return isKernelParameter(variable) || known != sources_.end();
    return !known->second.escapes && llvm::all_of(known->second.values, [&](const Expr *source) {
      return isNeverNegative(source, factor, seen);
    });
  }
  if (const auto *unary = dyn_cast<UnaryOperator>(expression))
    return (unary->isIncrementOp() || unary->getOpcode() == UO_Plus) &&
           isNeverNegative(unary->getSubExpr(), factor, seen);
  const auto *binary = dyn_cast<BinaryOperator>(expression);
  if (!binary)
    return false;
  const auto both = [&] {
    return isNeverNegative(binary->getLHS(), factor, seen) &&
           isNeverNegative(binary->getRHS(), factor, seen);
  };
  switch (binary->getOpcode()) {
  case BO_Mul:
  case BO_MulAssign:
    for (const Expr *operand : {binary->getLHS(), binary->getRHS()})
      if (const auto value = view_.constant(operand); value && *value > 0)
        factor = *value > kMostFactor ? kMostFactor + 1 : factor * *value;
    return factor <= kMostFactor && both();
  case BO_Add:
  case BO_AddAssign:
  case BO_Div:
  case BO_Rem:
  case BO_Shr:
  case BO_And:
    return both();
  default:
    return false;
  }
}

std::string Values::name(const Expr *value) const {
  Variables open;
  return name(value, open);
}

std::string Values::nameOf(const VarDecl *variable, Variables &open) const {
  const std::string declared = variable->getQualifiedNameAsString() + ":" +
                               variable->getType().getCanonicalType().getAsString();
  const auto known = sources_.find(variable);
  const bool isParameter = isKernelParameter(variable);
  const std::string parameter =
      isParameter ? "$" + std::to_string(cast<ParmVarDecl>(variable)->getFunctionScopeIndex()) : "";
  if (known == sources_.end())
    return isParameter ? parameter : declared;
  if (const auto named = names_.find(variable); named != names_.end())
    return named->second;
  if (open.size() >= kMostOpen)
    return declared + " deep within";
  if (!open.insert(variable).second)
    return "@";
  Ingredients made;
  Variables seen;
  gather(known->second.values.empty() ? nullptr : known->second.values.front(), made, seen);
  for (const Expr *source : known->second.values)
    gather(source, made, seen);
  // Candidates may change how sums over data are computed, so such variables are named by their
  // declaration. A value that is loaded once is named by its source.
  const bool isOneValue = known->second.values.size() == 1 && !isParameter;
  if ((made.data && !isOneValue) || known->second.escapes) {
    open.erase(variable);
    return (isParameter ? parameter : declared) + " of data";
  }
  std::set<std::string> names;
  if (isParameter)
    names.insert(parameter);
  for (const Expr *source : known->second.values)
    names.insert(name(source, open));
  open.erase(variable);
  const std::string text = names.size() == 1 ? *names.begin() : "{" + llvm::join(names, "|") + "}";
  if (open.empty() || !llvm::StringRef(text).contains('@'))
    names_[variable] = text;
  return text;
}

/// The pointer or array from which an element is read; null if the expression is not an element.
const Expr *Values::memoryOf(const Expr *element) const {
  const auto *unary = dyn_cast<UnaryOperator>(element);
  const Expr *pointer = nullptr;
  if (const auto *subscript = dyn_cast<ArraySubscriptExpr>(element))
    pointer = subscript->getBase();
  else if (unary && unary->getOpcode() == UO_Deref)
    pointer = unary->getSubExpr();
  else if (cudaFunction(element) == CudaFunction::CacheLoad)
    pointer = cast<CallExpr>(element)->getArg(0);
  Variables seen;
  while (pointer) {
    pointer = pointer->IgnoreParenCasts();
    const auto *binary = dyn_cast<BinaryOperator>(pointer);
    const VarDecl *variable = variableOf(pointer);
    const auto known = variable ? sources_.find(variable) : sources_.end();
    if (binary && binary->isAdditiveOp())
      pointer =
          binary->getLHS()->getType()->isPointerType() || binary->getLHS()->getType()->isArrayType()
              ? binary->getLHS()
              : binary->getRHS();
    else if (known != sources_.end() && variable->getType()->isPointerType() &&
             known->second.values.size() == 1 && !isKernelParameter(variable) &&
             seen.insert(variable).second)
      pointer = known->second.values.front();
    else
      break;
  }
  return pointer;
}

std::string Values::name(const Expr *value, Variables &open) const {
  std::string text = spelled(value, open);
  if (text.size() <= kLongestName)
    return text;
  return (llvm::StringRef(text).contains('@') ? "@#" : "#") +
         std::to_string(llvm::xxh3_64bits(llvm::StringRef(text)));
}

std::string Values::spelled(const Expr *value, Variables &open) const {
  value = value->IgnoreParenImpCasts();
  if (const auto number = view_.constant(value))
    return std::to_string(*number);
  if (isZero(view_, value))
    return "0";
  if (const auto place = coordinate(value))
    return place->variable + "." + std::to_string(place->dimension);
  if (const auto *number = dyn_cast<FloatingLiteral>(value))
    return std::to_string(number->getValueAsApproximateDouble());
  if (const auto *reference = dyn_cast<DeclRefExpr>(value)) {
    const auto *variable = dyn_cast<VarDecl>(reference->getDecl());
    return variable ? nameOf(variable, open) : reference->getDecl()->getQualifiedNameAsString();
  }
  if (const VarDecl *copied = variableGiven(value))
    return nameOf(copied, open);
  const auto *unary = dyn_cast<UnaryOperator>(value);
  const auto *binary = dyn_cast<BinaryOperator>(value);
  if ((unary && unary->getOpcode() == UO_LNot) ||
      (binary && (binary->isComparisonOp() || binary->isLogicalOp())))
    return condition(value, open).when(true);
  if (binary) {
    std::string left = name(binary->getLHS(), open), right = name(binary->getRHS(), open);
    const bool isEitherWay =
        llvm::is_contained({BO_Add, BO_Mul, BO_And, BO_Or, BO_Xor}, binary->getOpcode());
    if (isEitherWay && right < left)
      std::swap(left, right);
    return "(" + left + " " + binary->getOpcodeStr().str() + " " + right + ")";
  }
  if (const Expr *memory = memoryOf(value))
    return name(memory, open) + "[]";
  if (const Expr *given = returnedBy(value);
      given && open.size() < kMostOpen &&
      open.insert(cast<CallExpr>(value)->getDirectCallee()).second) {
    const std::string text = name(given, open);
    open.erase(cast<CallExpr>(value)->getDirectCallee());
    return text;
  }
  std::string text;
  if (unary)
    text = UnaryOperator::getOpcodeStr(unary->getOpcode()).str();
  else if (const auto *cast = dyn_cast<ExplicitCastExpr>(value))
    text = cast->getType()->isPointerType()
               ? ""
               : cast->getType().getCanonicalType().getUnqualifiedType().getAsString();
  else if (const auto *member = dyn_cast<MemberExpr>(value))
    text = member->getMemberDecl()->getNameAsString();
  else
    text = value->getStmtClassName();
  std::vector<std::string> parts;
  for (const Stmt *child : value->children())
    if (const auto *part = dyn_cast_or_null<Expr>(child))
      parts.push_back(name(part, open));
  return text.empty() && parts.size() == 1 ? parts.front()
                                           : text + "(" + llvm::join(parts, ", ") + ")";
}

NamedCondition Values::condition(const Expr *condition) const {
  Variables open;
  return this->condition(condition, open);
}

NamedCondition Values::condition(const Expr *asked, Variables &open) const {
  asked = bare(asked);
  const auto negatedIf = [](NamedCondition given, bool isNegated) {
    given.negated ^= isNegated;
    return given;
  };
  if (const auto *unary = dyn_cast<UnaryOperator>(asked); unary && unary->getOpcode() == UO_LNot)
    return negatedIf(condition(unary->getSubExpr(), open), true);
  if (const auto *reference = dyn_cast<DeclRefExpr>(asked);
      reference && asked->getType()->isBooleanType()) {
    const auto *variable = dyn_cast<VarDecl>(reference->getDecl());
    const auto known = sources_.find(variable);
    if (variable && known != sources_.end() && known->second.values.size() == 1 &&
        !known->second.escapes && !isKernelParameter(variable) && open.insert(variable).second) {
      const NamedCondition told = condition(known->second.values.front(), open);
      open.erase(variable);
      return told;
    }
  }
  if (const Expr *given = returnedBy(asked);
      given && open.size() < kMostOpen &&
      open.insert(cast<CallExpr>(asked)->getDirectCallee()).second) {
    const NamedCondition told = condition(given, open);
    open.erase(cast<CallExpr>(asked)->getDirectCallee());
    return told;
  }
  const auto *binary = dyn_cast<BinaryOperator>(asked);
  if (!binary || !(binary->isComparisonOp() || binary->isLogicalOp()))
    return {name(asked, open) + " == 0", true};
  const Expr *left = binary->getLHS(), *right = binary->getRHS();
  const BinaryOperatorKind kind = binary->getOpcode();
  if (binary->isLogicalOp()) { // `a || b` is `!(!a && !b)`
    std::string first = condition(left, open).when(kind == BO_LAnd),
                second = condition(right, open).when(kind == BO_LAnd);
    if (second < first)
      std::swap(first, second);
    return {"(" + first + " && " + second + ")", kind == BO_LOr};
  }
  if (binary->isEqualityOp()) {
    for (const auto &[zero, other] : {std::pair(left, right), std::pair(right, left)})
      if (isZero(view_, zero))
        return negatedIf(condition(other, open), kind == BO_EQ);
    std::string first = name(left, open), second = name(right, open);
    if (second < first)
      std::swap(first, second);
    return {first + " == " + second, kind == BO_NE};
  }
  // In terms of `<`: a > b is b < a, and a <= b is !(b < a).
  const bool isSwapped = kind == BO_GT || kind == BO_LE;
  bool isNegated = kind == BO_LE || kind == BO_GE;
  if (isSwapped)
    std::swap(left, right);
  const QualType type = left->getType();
  // Because of NaN, this is not a negated `<`.
  if (isNegated && type->isFloatingType())
    return {name(right, open) + " <= " + name(left, open), false};
  const auto number = view_.constant(left);
  if (number && type->isIntegerType()) { // 3 < a is !(a < 4); for unsigned a, 0 < a is a != 0
    if (*number == 0 && type->isUnsignedIntegerType())
      return negatedIf(condition(right, open), isNegated);
    return {name(right, open) + " < " + std::to_string(*number + 1), !isNegated};
  }
  if (view_.constant(right) == 1 && type->isUnsignedIntegerType())
    return negatedIf(condition(left, open), !isNegated);
  return {name(left, open) + " < " + name(right, open), isNegated};
}

} // namespace kopt::frontend
