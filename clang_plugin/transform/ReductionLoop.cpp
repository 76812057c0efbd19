// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/transform/ReductionLoop.h"

#include "clang_plugin/analysis/CudaFunctions.h"
#include "clang_plugin/analysis/KernelFacts.h"

namespace kopt::frontend {

using namespace clang;

namespace {

/// What an lvalue is a part of.
struct Target {
  const VarDecl *variable = nullptr; ///< null: memory, or not known
  bool isWhole = false;
};

/// A reference stands for something else, unless it is a parameter.
Target targetOf(const Expr *lvalue) {
  Target target{nullptr, true};
  while (true) {
    lvalue = lvalue->IgnoreParenImpCasts();
    if (const auto *subscript = dyn_cast<ArraySubscriptExpr>(lvalue)) {
      const Expr *base = subscript->getBase()->IgnoreParenImpCasts();
      if (!base->getType()->isArrayType())
        return {};
      lvalue = base;
    } else if (const auto *member = dyn_cast<MemberExpr>(lvalue); member && !member->isArrow()) {
      lvalue = member->getBase();
    } else {
      break;
    }
    target.isWhole = false;
  }
  if (const auto *reference = dyn_cast<DeclRefExpr>(lvalue))
    if (const auto *variable = dyn_cast<VarDecl>(reference->getDecl());
        variable && variable->hasLocalStorage() && !variable->getType()->isReferenceType())
      target.variable = variable;
  return target.variable ? target : Target();
}

/// The lvalue that a statement writes to by an operator, or null.
const Expr *writtenBy(const Stmt *statement) {
  if (const auto *binary = dyn_cast<BinaryOperator>(statement))
    return binary->isAssignmentOp() ? binary->getLHS() : nullptr;
  const auto *unary = dyn_cast<UnaryOperator>(statement);
  return unary && unary->isIncrementDecrementOp() ? unary->getSubExpr() : nullptr;
}

bool isWritable(QualType parameter) {
  return (parameter->isPointerType() || parameter->isReferenceType()) &&
         !parameter->getPointeeType().isConstQualified();
}

/// The function that a call or construction runs, and its arguments; null for others.
const FunctionDecl *calleeOf(const Stmt *statement, llvm::SmallVector<const Expr *> &arguments) {
  if (const auto *call = dyn_cast<CallExpr>(statement)) {
    arguments.append(call->arg_begin(), call->arg_end());
    return call->getDirectCallee();
  }
  if (const auto *construct = dyn_cast<CXXConstructExpr>(statement)) {
    arguments.append(construct->arg_begin(), construct->arg_end());
    return construct->getConstructor();
  }
  return nullptr;
}

/// The lvalues that a call may write to. Nothing if they are not known.
std::optional<std::vector<const Expr *>> writtenByCall(const Stmt *call) {
  llvm::SmallVector<const Expr *> arguments;
  const FunctionDecl *callee = calleeOf(call, arguments);
  if (!callee || !writesOnlyThroughParameters(*callee))
    return std::nullopt;
  std::vector<const Expr *> written;
  if (const auto *member = dyn_cast<CXXMemberCallExpr>(call);
      member && !member->getMethodDecl()->isConst()) {
    const Expr *object = member->getImplicitObjectArgument();
    if (object->getType()->isPointerType())
      return std::nullopt;
    written.push_back(object);
  }
  // An operator that is a member has its object as the first argument.
  const auto *method = dyn_cast<CXXMethodDecl>(callee);
  const bool hasObject = isa<CXXOperatorCallExpr>(call) && method;
  if (hasObject && !method->isConst())
    written.push_back(arguments.front());
  for (unsigned i = hasObject; i < arguments.size(); ++i) {
    const unsigned position = i - hasObject;
    if (position >= callee->getNumParams())
      return std::nullopt;
    const QualType type = callee->getParamDecl(position)->getType();
    if (!isWritable(type))
      continue;
    const Expr *argument = arguments[i]->IgnoreParenImpCasts();
    if (type->isPointerType()) {
      const auto *address = dyn_cast<UnaryOperator>(argument);
      if (!address || address->getOpcode() != UO_AddrOf)
        return std::nullopt;
      argument = address->getSubExpr();
    }
    written.push_back(argument);
  }
  return written;
}

class LoopReader {
public:
  LoopReader(const KernelView &view, const BodyView &body, const ForStmt &loop, Refusals &refusals)
      : view_(view), body_(body), refusals_(refusals) {
    result_.body = &body;
    result_.loop = &loop;
  }

  std::optional<ReductionLoop> run() {
    if (!readHeader() || !readBody())
      return std::nullopt;
    for (const auto &[variable, writes] : writes_) {
      if (auto accumulator = readAccumulator(variable, writes))
        result_.accumulators.push_back(std::move(*accumulator));
      else if (!isTemporary(variable, writes))
        return refuse(writes.front(),
                      "the loop carries '" + variable->getName() + "' to its next iteration");
    }
    if (result_.accumulators.empty())
      return refuse(result_.loop, "the loop accumulates nothing");
    return std::move(result_);
  }

private:
  std::nullopt_t refuse(const Stmt *at, const llvm::Twine &why) {
    refusals_.add(at->getBeginLoc(), why);
    return std::nullopt;
  }
  bool isInside(const Stmt *statement) const { return body_.isWithin(statement, result_.loop); }
  static const VarDecl *named(const Stmt *expression) {
    const auto *value = dyn_cast_or_null<Expr>(expression);
    return value ? variableOf(value) : nullptr;
  }

  bool readHeader() {
    const ForStmt &loop = *result_.loop;
    const VarDecl *counter = nullptr;
    if (const auto *declared = dyn_cast_or_null<DeclStmt>(loop.getInit())) {
      counter = declared->isSingleDecl() ? dyn_cast<VarDecl>(declared->getSingleDecl()) : nullptr;
      result_.first = counter ? counter->getInit() : nullptr;
    } else if (const auto *set = dyn_cast_or_null<BinaryOperator>(loop.getInit());
               set && set->getOpcode() == BO_Assign) {
      counter = named(set->getLHS());
      result_.first = set->getRHS();
      if (counter && isUsedElsewhere(counter))
        counter = nullptr;
    }
    if (const auto *unary = dyn_cast_or_null<UnaryOperator>(loop.getInc());
        unary && unary->isIncrementDecrementOp() && named(unary->getSubExpr()) == counter) {
      result_.step = unary->isIncrementOp() ? 1 : -1;
    } else if (const auto *add = dyn_cast_or_null<CompoundAssignOperator>(loop.getInc());
               add && named(add->getLHS()) == counter) {
      const long long amount = view_.constant(add->getRHS()).value_or(0);
      result_.step = add->getOpcode() == BO_AddAssign   ? amount
                     : add->getOpcode() == BO_SubAssign ? -amount
                                                        : 0;
    }
    const auto *condition = dyn_cast_or_null<BinaryOperator>(loop.getCond());
    bool isBounded = false;
    if (condition && condition->isRelationalOp() && counter) {
      const bool isLeft = named(condition->getLHS()) == counter;
      const auto comparison = isLeft ? condition->getOpcode()
                                     : BinaryOperator::reverseComparisonOp(condition->getOpcode());
      const Expr *limit = isLeft ? condition->getRHS() : condition->getLHS();
      isBounded = (isLeft || named(condition->getRHS()) == counter) && !mentions(limit, counter) &&
                  (result_.step > 0 ? comparison == BO_LT || comparison == BO_LE
                                    : comparison == BO_GT || comparison == BO_GE);
    }
    const auto places = {loop.getInc() ? loop.getInc()->getBeginLoc() : SourceLocation(),
                         result_.first ? result_.first->getBeginLoc() : SourceLocation()};
    if (!isBounded || result_.step == 0 || !counter->getType()->isIntegerType() ||
        view_.context().getTypeSize(counter->getType()) < 32 ||
        (result_.step < 0 && !(counter->getType()->isSignedIntegerType() &&
                               condition->getLHS()->getType()->isSignedIntegerType())) ||
        !llvm::all_of(places, [&](SourceLocation at) { return view_.offset(at).has_value(); })) {
      refuse(&loop, "the loop does not count to a bound");
      return false;
    }
    result_.counter = counter->getName().str();
    counter_ = counter;
    return true;
  }

  /// True if the counter is read outside of loops that set it first.
  bool isUsedElsewhere(const VarDecl *counter) const {
    return llvm::any_of(body_.statements, [&](const Stmt *statement) {
      const auto *reference = dyn_cast<DeclRefExpr>(statement);
      if (!reference || reference->getDecl() != counter)
        return false;
      for (const Stmt *up = statement; up; up = body_.parents.lookup(up))
        if (const auto *loop = dyn_cast<ForStmt>(up))
          if (const auto *set = dyn_cast_or_null<BinaryOperator>(loop->getInit());
              set && set->getOpcode() == BO_Assign && named(set->getLHS()) == counter)
            return false;
      return true;
    });
  }

  bool readBody() {
    for (const Stmt *statement : body_.statements) {
      if (!isInside(statement) || statement == result_.loop)
        continue;
      if (isa<ReturnStmt, GotoStmt, IndirectGotoStmt, LabelStmt, LambdaExpr, CXXNewExpr,
              CXXDeleteExpr>(statement) ||
          (isa<BreakStmt>(statement) && leavesLoop(statement))) {
        refuse(statement, "the loop is left before its end, or has a lambda");
        return false;
      }
      if (const Expr *lvalue = writtenBy(statement);
          lvalue && statement != result_.loop->getInc() && statement != result_.loop->getInit() &&
          !addWrite(statement, lvalue))
        return false;
      llvm::SmallVector<const Expr *> arguments;
      if (!isa<CallExpr, CXXConstructExpr>(statement))
        continue;
      const auto written = writtenByCall(statement);
      if (!written) {
        refuse(statement, "the loop calls what may write to memory");
        return false;
      }
      for (const Expr *lvalue : *written)
        if (!addWrite(statement, lvalue))
          return false;
    }
    return true;
  }

  bool leavesLoop(const Stmt *statement) const {
    const Stmt *up = body_.parents.lookup(statement);
    while (!isa<ForStmt, WhileStmt, DoStmt, SwitchStmt, CXXForRangeStmt>(up))
      up = body_.parents.lookup(up);
    return up == result_.loop;
  }

  bool addWrite(const Stmt *statement, const Expr *lvalue) {
    if (isa<MaterializeTemporaryExpr, CXXTemporaryObjectExpr>(lvalue->IgnoreParenImpCasts()))
      return true;
    const Target target = targetOf(lvalue);
    if (!target.variable || target.variable == counter_) {
      refuse(statement,
             target.variable ? "the loop changes its counter" : "the loop writes to memory");
      return false;
    }
    const bool isOwn = llvm::any_of(body_.statements, [&](const Stmt *each) {
      const auto *declared = dyn_cast<DeclStmt>(each);
      return declared && llvm::is_contained(declared->decls(), target.variable) && isInside(each);
    });
    if (isOwn)
      return true;
    if (!target.isWhole) {
      refuse(statement, "the loop writes to a part of '" + target.variable->getName() + "'");
      return false;
    }
    writes_[target.variable].push_back(statement);
    return true;
  }

  std::size_t mentionsInside(const VarDecl *variable) const {
    return llvm::count_if(body_.statements, [&](const Stmt *statement) {
      const auto *reference = dyn_cast<DeclRefExpr>(statement);
      return reference && reference->getDecl() == variable && isInside(statement);
    });
  }

  /// Only the loop uses it, and every iteration begins by setting it.
  bool isTemporary(const VarDecl *variable, const std::vector<const Stmt *> &) const {
    const Stmt *first = nullptr;
    for (const Stmt *statement : body_.statements) {
      const auto *reference = dyn_cast<DeclRefExpr>(statement);
      if (!reference || reference->getDecl() != variable)
        continue;
      if (!isInside(statement))
        return false;
      if (!first || statement->getBeginLoc() < first->getBeginLoc())
        first = statement;
    }
    // The statement of the loop's body that mentions it first.
    const Stmt *statement = first;
    while (statement && body_.parents.lookup(statement) != result_.loop->getBody())
      statement = body_.parents.lookup(statement);
    if (!isa_and_nonnull<CompoundStmt>(result_.loop->getBody()) ||
        !isa_and_nonnull<Expr>(statement))
      return false;
    if (const auto *set = dyn_cast<BinaryOperator>(statement))
      return set->getOpcode() == BO_Assign && named(set->getLHS()) == variable &&
             !mentions(set->getRHS(), variable);
    const auto *call = dyn_cast<CallExpr>(statement);
    const llvm::StringRef name = call ? calleeName(call) : "";
    return name == "sincosf" || name == "sincos" || name == "__sincosf" || name == "sincospif" ||
           name == "sincospi"; // they set what they get a pointer to
  }

  std::optional<Accumulator> readAccumulator(const VarDecl *variable,
                                             const std::vector<const Stmt *> &writes) const {
    const QualType type = variable->getType().getCanonicalType().getUnqualifiedType();
    const ASTContext &context = view_.context();
    const bool isExchangeable = type == context.FloatTy || type == context.DoubleTy ||
                                type == context.IntTy || type == context.UnsignedIntTy ||
                                type == context.LongTy || type == context.UnsignedLongTy ||
                                type == context.LongLongTy || type == context.UnsignedLongLongTy;
    if (!isExchangeable || hasAlias(variable))
      return std::nullopt;
    Accumulator result{variable, "", "", type->isRealFloatingType(), false};
    std::size_t accounted = 0;
    for (const Stmt *write : writes) {
      std::size_t uses = 0;
      const auto operation = operationOf(write, variable, uses);
      if (!operation || (!result.combine.empty() && result.combine != operation->first))
        return std::nullopt;
      std::tie(result.combine, result.identity) = *operation;
      accounted += uses;
    }
    if (accounted != mentionsInside(variable))
      return std::nullopt;
    result.startsAtIdentity = !result.identity.empty() && isDeclaredAs(variable, result.identity);
    return result;
  }

  /// True if the variable can be reached by another name.
  bool hasAlias(const VarDecl *variable) const {
    return llvm::any_of(body_.statements, [&](const Stmt *statement) {
      if (const auto *unary = dyn_cast<UnaryOperator>(statement))
        return unary->getOpcode() == UO_AddrOf && variableOf(unary->getSubExpr()) == variable;
      if (isa<LambdaExpr>(statement))
        return mentions(statement, variable);
      const auto *declared = dyn_cast<DeclStmt>(statement);
      return declared && llvm::any_of(declared->decls(), [&](const Decl *each) {
               const auto *other = dyn_cast<VarDecl>(each);
               return other && other->getType()->isReferenceType() && other->getInit() &&
                      mentions(other->getInit(), variable);
             });
    });
  }

  using Operation = std::pair<std::string, std::string>; ///< combine, identity

  /// How a write accumulates; `uses`: how often it mentions the variable.
  std::optional<Operation> operationOf(const Stmt *write, const VarDecl *variable,
                                       std::size_t &uses) const {
    if (!isStatement(body_, write))
      return std::nullopt;
    const std::string name = variable->getName().str();
    const Operation sum{name + " += ${OTHER}", "0"};
    uses = 1;
    if (isa<UnaryOperator>(write))
      return sum;
    const auto *set = dyn_cast<BinaryOperator>(write);
    if (!set)
      return std::nullopt;
    // An integer that is computed as a real number loses a part in each turn.
    const auto *compound = dyn_cast<CompoundAssignOperator>(set);
    const QualType computed = compound ? compound->getComputationResultType()
                                       : set->getRHS()->IgnoreParenImpCasts()->getType();
    if (variable->getType()->isIntegerType() && !computed->isIntegerType())
      return std::nullopt;
    if (set->getOpcode() != BO_Assign)
      return mentions(set->getRHS(), variable) ? std::nullopt : ofOpcode(set->getOpcode(), name);
    uses = 2;
    const Expr *value = set->getRHS()->IgnoreParenImpCasts();
    if (const auto *binary = dyn_cast<BinaryOperator>(value)) {
      const bool isLeft = variableOf(binary->getLHS()) == variable;
      const Expr *other = isLeft ? binary->getRHS() : binary->getLHS();
      if ((!isLeft && variableOf(binary->getRHS()) != variable) || mentions(other, variable) ||
          (!isLeft && binary->getOpcode() == BO_Sub))
        return std::nullopt;
      return ofOpcode(BinaryOperator::isAssignmentOp(binary->getOpcode())
                          ? BO_Comma
                          : compoundOf(binary->getOpcode()),
                      name);
    }
    const auto *call = dyn_cast<CallExpr>(value);
    if (!call || call->getNumArgs() < 2)
      return std::nullopt;
    const llvm::StringRef callee = calleeName(call);
    const auto isArgument = [&](unsigned i) { return variableOf(call->getArg(i)) == variable; };
    if (call->getNumArgs() == 3 && isArgument(2) && !mentions(call->getArg(0), variable) &&
        !mentions(call->getArg(1), variable) &&
        llvm::is_contained({"fma", "fmaf", "__fmaf_rn", "__fma_rn"}, callee))
      return sum;
    const bool isFirst = isArgument(0);
    if (cudaFunction(call) != CudaFunction::Smaller || call->getNumArgs() != 2 ||
        view_.isInText(call->getDirectCallee()->getLocation()) || (!isFirst && !isArgument(1)) ||
        mentions(call->getArg(isFirst), variable))
      return std::nullopt;
    return Operation{name + " = " + callee.str() + "(" + name + ", ${OTHER})", ""};
  }

  static BinaryOperatorKind compoundOf(BinaryOperatorKind kind) {
    switch (kind) {
    case BO_Add:
      return BO_AddAssign;
    case BO_Sub:
      return BO_SubAssign;
    case BO_Mul:
      return BO_MulAssign;
    case BO_And:
      return BO_AndAssign;
    case BO_Or:
      return BO_OrAssign;
    case BO_Xor:
      return BO_XorAssign;
    default:
      return BO_Comma;
    }
  }

  static std::optional<Operation> ofOpcode(BinaryOperatorKind kind, const std::string &name) {
    switch (kind) {
    case BO_AddAssign:
    case BO_SubAssign:
      return Operation{name + " += ${OTHER}", "0"};
    case BO_MulAssign:
      return Operation{name + " *= ${OTHER}", "1"};
    case BO_XorAssign:
      return Operation{name + " ^= ${OTHER}", "0"};
    case BO_AndAssign:
      return Operation{name + " &= ${OTHER}", ""};
    case BO_OrAssign:
      return Operation{name + " |= ${OTHER}", ""};
    default:
      return std::nullopt;
    }
  }

  /// True if the variable is declared with this value in the block of the loop, and is not used in
  /// between.
  bool isDeclaredAs(const VarDecl *variable, const std::string &value) const {
    Expr::EvalResult result;
    if (!variable->getInit() || variable->getInit()->isValueDependent() ||
        !variable->getInit()->EvaluateAsRValue(result, view_.context()))
      return false;
    const bool isOne = value == "1";
    const bool isEqual = (result.Val.isInt() && result.Val.getInt() == isOne) ||
                         (result.Val.isFloat() && result.Val.getFloat().isExactlyValue(isOne) &&
                          !result.Val.getFloat().isNegative());
    const Stmt *declared = nullptr;
    for (const Stmt *statement : body_.statements)
      if (const auto *each = dyn_cast<DeclStmt>(statement);
          each && llvm::is_contained(each->decls(), variable))
        declared = statement;
    const Stmt *loop = result_.loop;
    if (isa_and_nonnull<AttributedStmt>(body_.parents.lookup(loop)))
      loop = body_.parents.lookup(loop);
    return isEqual && declared &&
           llvm::none_of(body_.statements, [](const Stmt *each) { return isa<LabelStmt>(each); }) &&
           body_.parents.lookup(declared) == body_.parents.lookup(loop) &&
           llvm::none_of(body_.statements, [&](const Stmt *statement) {
             const auto *use = dyn_cast<DeclRefExpr>(statement);
             return use && use->getDecl() == variable &&
                    use->getBeginLoc() < result_.loop->getBeginLoc();
           });
  }

  const KernelView &view_;
  const BodyView &body_;
  Refusals &refusals_;
  ReductionLoop result_;
  const VarDecl *counter_ = nullptr;
  llvm::MapVector<const VarDecl *, std::vector<const Stmt *>> writes_; ///< to what is outside
};

/// True for a function's own variable or a part of it, and for what a parameter points to or is.
bool isOwnOrParameter(const Expr *lvalue, const FunctionDecl &function) {
  const Expr *base = lvalue->IgnoreParenImpCasts();
  bool isBehindPointer = false;
  while (true) {
    if (const auto *subscript = dyn_cast<ArraySubscriptExpr>(base)) {
      base = subscript->getBase()->IgnoreParenImpCasts();
      isBehindPointer |= base->getType()->isPointerType();
    } else if (const auto *member = dyn_cast<MemberExpr>(base)) {
      base = member->getBase()->IgnoreParenImpCasts();
      isBehindPointer |= member->isArrow();
    } else if (const auto *unary = dyn_cast<UnaryOperator>(base);
               unary && unary->getOpcode() == UO_Deref) {
      base = unary->getSubExpr()->IgnoreParenImpCasts();
      isBehindPointer = true;
    } else {
      break;
    }
  }
  if (isa<CXXThisExpr, MaterializeTemporaryExpr, CXXTemporaryObjectExpr>(base))
    return true;
  const auto *reference = dyn_cast<DeclRefExpr>(base);
  const auto *variable = reference ? dyn_cast<VarDecl>(reference->getDecl()) : nullptr;
  return variable && variable->hasLocalStorage() && variable->getDeclContext() == &function &&
         (isa<ParmVarDecl>(variable) ||
          (!isBehindPointer && !variable->getType()->isReferenceType()));
}

bool writesOnly(const FunctionDecl &function, llvm::SmallPtrSet<const FunctionDecl *, 8> &seen) {
  if (!seen.insert(function.getCanonicalDecl()).second)
    return true;
  const CudaFunction kind = cudaFunction(function);
  if (kind == CudaFunction::Atomic || kind == CudaFunction::CacheStore)
    return false;
  const FunctionDecl *definition = function.getDefinition();
  if (!definition || !definition->hasBody())
    return true; // of the compiler or of CUDA: what it writes, it gets a pointer to
  const BodyView body = viewBody(definition);
  return llvm::all_of(body.statements, [&](const Stmt *statement) {
    const Expr *lvalue = writtenBy(statement);
    if (lvalue && !isOwnOrParameter(lvalue, *definition))
      return false;
    llvm::SmallVector<const Expr *> arguments;
    const FunctionDecl *callee = calleeOf(statement, arguments);
    if (!callee)
      return !isa<CallExpr>(statement);
    // Its parameters have to be this function's own, too.
    for (const Expr *argument : arguments)
      if (isWritable(argument->getType()) ||
          (argument->isLValue() && !argument->getType().isConstQualified())) {
        const auto *address = dyn_cast<UnaryOperator>(argument->IgnoreParenImpCasts());
        if (!isOwnOrParameter(address && address->getOpcode() == UO_AddrOf ? address->getSubExpr()
                                                                           : argument,
                              *definition))
          return false;
      }
    return writesOnly(*callee, seen);
  });
}

} // namespace

bool writesOnlyThroughParameters(const FunctionDecl &function) {
  llvm::SmallPtrSet<const FunctionDecl *, 8> seen;
  return writesOnly(function, seen);
}

std::optional<ReductionLoop> readReductionLoop(const KernelView &view, const BodyView &body,
                                               const ForStmt &loop, Refusals &refusals) {
  return LoopReader(view, body, loop, refusals).run();
}

} // namespace kopt::frontend
