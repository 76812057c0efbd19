// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/screen/BodyFacts.h"

#include "clang_plugin/analysis/IndexWidth.h"
#include "clang_plugin/screen/Declarations.h"
#include "clang_plugin/screen/PtxList.h"

#include <clang/AST/Attr.h>
#include <clang/AST/ExprCXX.h>

namespace kopt::frontend {

using namespace clang;

namespace {

constexpr unsigned kMostLiterals = 64;
constexpr unsigned kMostDepth = 8;

/// The side effect of calling a function from outside the slice; empty if there is none.
std::string sideEffectOf(const FunctionDecl &callee) {
  const llvm::StringRef name = callee.getIdentifier() ? callee.getName() : llvm::StringRef();
  // <cuda/ptx> has a function for each special register: get_sreg_tid_x().
  llvm::StringRef specialRegister = name;
  if (specialRegister.consume_front("get_sreg_") &&
      llvm::StringRef(callee.getQualifiedNameAsString()).starts_with("cuda::")) {
    for (const char *dimension : {"_x", "_y", "_z"})
      specialRegister.consume_back(dimension);
    return isKnownRegister(specialRegister) ? "" : "clock";
  }
  static const llvm::DenseMap<CudaFunction, llvm::StringRef> kWords = {
      {CudaFunction::Clock, "clock"},
      {CudaFunction::Sleep, "sleep"},
      {CudaFunction::Heap, "heap"},
      {CudaFunction::Print, "print"},
      {CudaFunction::Assert, "assert"},
      {CudaFunction::Trap, "trap"},
      {CudaFunction::Launch, "launch"},
      {CudaFunction::FastMath, "fast-math:"},
      {CudaFunction::CacheLoad, "cache-hint:"},
      {CudaFunction::CacheStore, "cache-hint:"},
      {CudaFunction::CacheHint, "cache-hint:"},
      {CudaFunction::Prefetch, "cache-hint:"},
      {CudaFunction::ShortProduct, "short-product:"}};
  const llvm::StringRef word = kWords.lookup(cudaFunction(callee));
  return (word.ends_with(":") ? word + name : word).str();
}

bool isVolatile(QualType type) {
  while (true) {
    if (type.isVolatileQualified())
      return true;
    if (!type->isPointerType() && !type->isReferenceType())
      return false;
    type = type->getPointeeType();
  }
}

std::optional<unsigned> floatWidth(QualType type) {
  if (const auto *builtin = type->getAs<BuiltinType>()) {
    switch (builtin->getKind()) {
    case BuiltinType::Double:
    case BuiltinType::LongDouble:
      return 64;
    case BuiltinType::Float:
      return 32;
    case BuiltinType::Half:
    case BuiltinType::Float16:
      return 16;
    case BuiltinType::BFloat16:
      return 15;
    default:
      return std::nullopt;
    }
  }
  const auto *record = type->getAsCXXRecordDecl();
  const llvm::StringRef name =
      record && record->getIdentifier() ? record->getName() : llvm::StringRef();
  if (name.starts_with("__nv_bfloat16"))
    return 15;
  if (name.starts_with("__nv_fp"))
    return 8;
  return name.starts_with("__half") ? std::optional(16u) : std::nullopt;
}

unsigned writtenLiterals(const Expr *initializer) {
  if (const auto *list = dyn_cast<InitListExpr>(initializer)) {
    unsigned sum = 0;
    for (unsigned i = 0; i < list->getNumInits(); ++i)
      sum += writtenLiterals(list->getInit(i));
    return sum;
  }
  if (const auto *string = dyn_cast<StringLiteral>(initializer->IgnoreParenImpCasts()))
    return string->getLength();
  return isa<ImplicitValueInitExpr>(initializer) || isa<ArrayInitLoopExpr>(initializer) ? 0 : 1;
}

/// The table (a constant with global storage) that an expression refers to, directly or through
/// local variables.
const VarDecl *tableIn(const Stmt *expression, unsigned depth = 0) {
  if (!expression || depth > kMostDepth)
    return nullptr;
  // A value loaded from a table gives no access to the table, unless it is a pointer.
  if (const auto *cast = dyn_cast<CastExpr>(expression);
      cast && cast->getCastKind() == CK_LValueToRValue && !cast->getType()->isPointerType())
    return nullptr;
  if (const auto *reference = dyn_cast<DeclRefExpr>(expression))
    if (const auto *variable = dyn_cast<VarDecl>(reference->getDecl())) {
      if (variable->hasGlobalStorage() && !variable->hasAttr<CUDASharedAttr>())
        return variable->getASTContext().getBaseElementType(variable->getType()).isConstQualified()
                   ? variable
                   : nullptr;
      return isa<ParmVarDecl>(variable) ? nullptr : tableIn(variable->getInit(), depth + 1);
    }
  for (const Stmt *child : expression->children())
    if (const VarDecl *table = tableIn(child, depth + 1))
      return table;
  return nullptr;
}

/// True if the operand is const and the result of the cast can be written through, or is an
/// integer, which hides what it points to.
bool dropsConst(const ExplicitCastExpr &cast) {
  const QualType to = cast.getTypeAsWritten(), from = cast.getSubExpr()->getType();
  if (const auto *reference = to->getAs<ReferenceType>())
    return from.isConstQualified() && !reference->getPointeeType().isConstQualified();
  if (!from->isPointerType() || !from->getPointeeType().isConstQualified())
    return false;
  return to->isIntegralOrEnumerationType() ||
         (to->isPointerType() && !to->getPointeeType().isConstQualified());
}

class Reader {
public:
  Reader(const KernelView &view, BodyFacts &facts) : view_(view), facts_(facts) {}

  void readFile(const DeclContext &context) {
    for (const Decl *decl : context.noload_decls()) {
      if (!view_.isInText(decl->getLocation()))
        continue;
      if (const auto *variable = dyn_cast<VarDecl>(decl))
        readVariable(*variable);
      if (const auto *pattern = dyn_cast<FunctionTemplateDecl>(decl)) {
        readFunction(*pattern->getTemplatedDecl());
        for (const FunctionDecl *specialization : pattern->specializations())
          readFunction(*specialization);
      }
      if (const auto *pattern = dyn_cast<ClassTemplateDecl>(decl)) {
        readFile(*pattern->getTemplatedDecl());
        for (const CXXRecordDecl *specialization : pattern->specializations())
          readFile(*specialization);
      }
      if (const auto *function = dyn_cast<FunctionDecl>(decl))
        readFunction(*function);
      else if (const auto *inner = dyn_cast<DeclContext>(decl))
        readFile(*inner);
    }
  }

  void readKernel() {
    for (const BodyView &body : view_.bodies())
      for (const Stmt *statement : body.statements)
        if (const auto *call = dyn_cast<CallExpr>(statement))
          if (const FunctionDecl *callee = call->getDirectCallee()) {
            for (unsigned i = 0; i < callee->getNumParams() && i < call->getNumArgs(); ++i)
              if (const FunctionDecl *definition = callee->getDefinition();
                  definition && i < definition->getNumParams() && !isa<CXXMethodDecl>(callee))
                arguments_[definition->getParamDecl(i)].push_back(call->getArg(i));
          }
    for (const BodyView &body : view_.bodies()) {
      for (const Stmt *statement : body.statements) {
        readSynchronization(statement);
        readParameterUse(body, statement);
        readComparison(body, statement);
        readIndex(view_, arguments_, statement, facts_.indexBits, facts_.doubtfulBits);
        readScope(statement);
        if (const auto *expression = dyn_cast<Expr>(statement))
          if (isa<BinaryOperator, CXXOperatorCallExpr, CallExpr, CXXConstructExpr, DeclRefExpr>(
                  expression))
            if (const auto bits = floatWidth(expression->getType()))
              facts_.floatBits.insert(*bits);
      }
    }
  }

private:
  unsigned lineOf(SourceLocation location) const {
    return view_.context().getSourceManager().getExpansionLineNumber(location);
  }
  void did(const std::string &sideEffect, SourceLocation where) {
    facts_.sideEffects.try_emplace(sideEffect, lineOf(where));
  }

  void readVariable(const VarDecl &variable) {
    if (isVolatile(variable.getType()))
      did("volatile", variable.getLocation());
    if (variable.isStaticLocal() && !variable.hasAttr<CUDASharedAttr>() &&
        !variable.isConstexpr() &&
        (!variable.getType().isConstQualified() || hasMutableParts(variable.getType())) &&
        !variable.getType()->isReferenceType())
      did("static-local", variable.getLocation());
    if (variable.getInit() && writtenLiterals(variable.getInit()) > kMostLiterals)
      did("data-table:" + variable.getNameAsString(), variable.getLocation());
  }

  void readFunction(const FunctionDecl &function) {
    if (!function.doesThisDeclarationHaveABody() || !read_.insert(&function).second)
      return;
    const auto begin = view_.offset(function.getBody()->getBeginLoc()),
               end = view_.offset(function.getBody()->getEndLoc());
    if (begin && end)
      facts_.bodyRanges[*begin] = *end;
    const bool runsOnDevice =
        function.hasAttr<CUDAGlobalAttr>() || function.hasAttr<CUDADeviceAttr>();
    for (const ParmVarDecl *parameter : function.parameters())
      readVariable(*parameter);
    for (const Stmt *statement : viewBody(&function).statements) {
      if (const auto *declarations = dyn_cast<DeclStmt>(statement)) {
        for (const Decl *decl : declarations->decls()) {
          if (const auto *variable = dyn_cast<VarDecl>(decl))
            readVariable(*variable);
          else if (const auto *record = dyn_cast<CXXRecordDecl>(decl))
            readFile(*record);
        }
      } else if (const auto *assembly = dyn_cast<AsmStmt>(statement)) {
        const auto *text = dyn_cast<GCCAsmStmt>(assembly);
        did("asm:" + (text ? textOf(*text) : kUnreadablePtx), assembly->getAsmLoc());
      } else if (isa<CXXDeleteExpr>(statement) || isAllocation(statement)) {
        did("heap", statement->getBeginLoc());
      } else if (isa<CUDAKernelCallExpr>(statement) && runsOnDevice) {
        did("launch", statement->getBeginLoc());
      } else if (const auto *cast = dyn_cast<ExplicitCastExpr>(statement)) {
        if (isVolatile(cast->getType()))
          did("volatile", cast->getBeginLoc());
        const VarDecl *table = dropsConst(*cast) ? tableIn(cast->getSubExpr()) : nullptr;
        if (table && view_.isInText(table->getLocation()))
          did("table-written:'" + table->getNameAsString() + "'", cast->getBeginLoc());
      }
      const FunctionDecl *callee = calleeNamed(statement);
      const std::string sideEffect = callee && !isDefinedHere(*callee) ? sideEffectOf(*callee) : "";
      if (!sideEffect.empty() && (sideEffect != "launch" || runsOnDevice))
        did(sideEffect, statement->getBeginLoc());
    }
  }

  static std::string textOf(const GCCAsmStmt &assembly) {
    for (unsigned i = 0; i < assembly.getNumInputs(); ++i)
      if (assembly.getInputConstraint(i).contains(
              'C')) // puts a string of the program into the text
        return kUnreadablePtx;
    return assembly.getAsmString()->getBytes().str();
  }

  static bool isAllocation(const Stmt *statement) {
    const auto *allocation = dyn_cast<CXXNewExpr>(statement);
    return allocation && allocation->getNumPlacementArgs() == 0;
  }

  /// The function that a reference names. A function whose address is taken counts as called.
  static const FunctionDecl *calleeNamed(const Stmt *statement) {
    if (const auto *reference = dyn_cast<DeclRefExpr>(statement))
      return dyn_cast<FunctionDecl>(reference->getDecl());
    if (const auto *member = dyn_cast<MemberExpr>(statement))
      return dyn_cast<FunctionDecl>(member->getMemberDecl());
    // In a template's own text a call may still have several candidates; the name is enough for
    // screening.
    if (const auto *overloaded = dyn_cast<OverloadExpr>(statement))
      for (const NamedDecl *decl : overloaded->decls())
        if (const auto *function = dyn_cast<FunctionDecl>(decl->getUnderlyingDecl()))
          return function;
    return nullptr;
  }

  bool isDefinedHere(const FunctionDecl &function) const {
    const FunctionDecl *definition = function.getDefinition();
    return definition && view_.isInText(definition->getLocation());
  }

  void readSynchronization(const Stmt *statement) {
    const FunctionDecl *callee = calleeNamed(statement);
    if (callee && !isDefinedHere(*callee))
      ++facts_.counts[cudaFunction(*callee)];
  }

  /// Records block-scope atomics on memory that is not known to be shared memory.
  void readScope(const Stmt *statement) {
    const auto *call = dyn_cast<CallExpr>(statement);
    const FunctionDecl *callee = call ? call->getDirectCallee() : nullptr;
    if (!callee || !callee->getIdentifier() || call->getNumArgs() == 0)
      return;
    const llvm::StringRef name = callee->getName();
    bool isOfBlock = name.starts_with("atomic") && name.ends_with("_block");
    if (name.starts_with("__nv_atomic")) { // the last argument is the scope: 0 thread, 1 block, ...
      const auto scope = view_.constant(call->getArg(call->getNumArgs() - 1));
      isOfBlock = scope && *scope <= 1;
    }
    if (!isOfBlock)
      return;
    const Stmt *target = call->getArg(0);
    while (target && !isa<DeclRefExpr>(target))
      target = target->child_begin() == target->child_end() ? nullptr : *target->child_begin();
    const auto *variable =
        target ? dyn_cast<VarDecl>(cast<DeclRefExpr>(target)->getDecl()) : nullptr;
    if (!variable || !variable->hasAttr<CUDASharedAttr>())
      did("block-atomic:" + callee->getNameAsString(), call->getBeginLoc());
  }

  void readParameterUse(const BodyView &body, const Stmt *statement) {
    const auto *reference = dyn_cast<DeclRefExpr>(statement);
    const auto *parameter = reference ? dyn_cast<ParmVarDecl>(reference->getDecl()) : nullptr;
    if (!parameter || parameter->getDeclContext() != &view_.kernel())
      return;
    const auto *cast = dyn_cast_or_null<CastExpr>(body.parentOf(reference));
    if (!cast || cast->getCastKind() != CK_ToVoid) // `(void)n;` is not a use
      facts_.usedParameters.insert(parameter->getFunctionScopeIndex());
  }

  /// Collects the kernel parameters that an expression's value depends on, through locals and
  /// calls. `isVariable` is set if it also depends on a coordinate or a local that is not const.
  void sources(const Stmt *expression, std::set<unsigned> &found, bool &isVariable,
               unsigned depth = 0) const {
    if (!expression || depth > kMostDepth)
      return;
    if (const auto *node = dyn_cast<Expr>(expression); node && coordinate(node)) {
      isVariable = true;
      return;
    }
    const auto *reference = dyn_cast<DeclRefExpr>(expression);
    const auto *variable = reference ? dyn_cast<VarDecl>(reference->getDecl()) : nullptr;
    if (variable) {
      if (const auto *parameter = dyn_cast<ParmVarDecl>(variable)) {
        if (parameter->getDeclContext() == &view_.kernel() &&
            !parameter->getType()->isPointerType())
          found.insert(parameter->getFunctionScopeIndex());
        if (const auto bound = arguments_.find(parameter); bound != arguments_.end())
          for (const Expr *argument : bound->second)
            sources(argument, found, isVariable, depth + 1);
      } else if (variable->isLocalVarDecl()) {
        isVariable |= !variable->getType().isConstQualified();
        sources(variable->getInit(), found, isVariable, depth + 1);
      }
    }
    for (const Stmt *child : expression->children())
      sources(child, found, isVariable, depth);
  }

  void readComparison(const BodyView &body, const Stmt *statement) {
    const Expr *left = nullptr, *right = nullptr;
    if (const auto *binary = dyn_cast<BinaryOperator>(statement);
        binary && (binary->isRelationalOp() || binary->getOpcode() == BO_NE)) {
      left = binary->getLHS();
      right = binary->getRHS();
    } else if (const auto *call = dyn_cast<CallExpr>(statement); call && call->getNumArgs() == 2) {
      const FunctionDecl *callee = call->getDirectCallee();
      if (!callee || cudaFunction(*callee) != CudaFunction::Smaller)
        return;
      left = call->getArg(0);
      right = call->getArg(1);
    } else {
      return;
    }
    std::set<unsigned> ofLeft, ofRight;
    bool leftVaries = false, rightVaries = false;
    sources(left, ofLeft, leftVaries);
    sources(right, ofRight, rightVaries);
    const Stmt *decides = body.parentOf(statement);
    while (decides &&
           (isa<CastExpr>(decides) || isa<UnaryOperator>(decides) || isa<BinaryOperator>(decides)))
      decides = body.parentOf(decides);
    const bool isLoop = isa_and_nonnull<ForStmt>(decides) || isa_and_nonnull<WhileStmt>(decides) ||
                        isa_and_nonnull<DoStmt>(decides);
    // An index on one side, a parameter on the other.
    std::set<unsigned> bounds;
    if (leftVaries)
      bounds.insert(ofRight.begin(), ofRight.end());
    if (rightVaries)
      bounds.insert(ofLeft.begin(), ofLeft.end());
    for (unsigned parameter : bounds) {
      ++facts_.comparisons[parameter];
      facts_.guards[parameter] += !isLoop && isa<BinaryOperator>(statement);
    }
  }

  const KernelView &view_;
  BodyFacts &facts_;
  llvm::DenseSet<const FunctionDecl *> read_;
  CallArguments arguments_;
};

struct SideEffectRule {
  llvm::StringRef sideEffect; ///< the part of the side effect before the colon
  const char *id;
  ScreenSeverity severity;
  const char *message;
};

constexpr SideEffectRule kSideEffectRules[] = {
    {"clock", "clock", ScreenSeverity::Reject,
     "the kernel reads a clock: it could behave differently when it is timed"},
    {"launch", "device-launch", ScreenSeverity::Reject,
     "the kernel launches work or calls the runtime from the device"},
    {"heap", "device-heap", ScreenSeverity::Reject,
     "the kernel allocates device memory, which lives beyond its launch"},
    {"static-local", "mutable-global", ScreenSeverity::Reject,
     "a static variable keeps state between launches"},
    {"table-written", "mutable-global", ScreenSeverity::Reject,
     "a cast takes const from a table, which could keep state between launches"},
    {"sleep", "sleep", ScreenSeverity::Flag, "the kernel waits by the clock"},
    {"print", "print", ScreenSeverity::Flag,
     "the kernel prints: output of many threads can flood the run"},
    {"assert", "assert", ScreenSeverity::Flag,
     "the kernel asserts: a failing assertion stops the device"},
    {"trap", "trap", ScreenSeverity::Flag,
     "the kernel traps, or tells the compiler what to assume"},
    {"volatile", "volatile", ScreenSeverity::Flag, "new volatile access"},
    {"cache-hint", "cache-hint", ScreenSeverity::Flag,
     "new cache operation; data the kernel also writes may be read stale"},
    {"fast-math", "precision", ScreenSeverity::Flag,
     "approximate function in place of a precise one"},
    {"block-atomic", "atomic-scope", ScreenSeverity::Flag,
     "an atomic that other blocks need not see"},
    {"short-product", "short-product", ScreenSeverity::Flag, "a product of 24 bits"},
    {"data-table", "data-table", ScreenSeverity::Flag,
     "a table of more than 64 literals: results may have been computed beforehand"},
};

std::string parameterName(const KernelView &view, unsigned index) {
  return "'" + view.kernel().getParamDecl(index)->getNameAsString() + "'";
}

} // namespace

BodyFacts readBodies(const KernelView &view) {
  BodyFacts facts;
  Reader reader(view, facts);
  reader.readFile(*view.context().getTranslationUnitDecl());
  reader.readKernel();
  return facts;
}

void compareBodies(const KernelView &baselineView, const BodyFacts &baseline,
                   const BodyFacts &candidate, std::vector<ScreenFinding> &findings) {
  for (const auto &[sideEffect, line] : candidate.sideEffects) {
    if (baseline.sideEffects.count(sideEffect))
      continue;
    const auto [kind, detail] = llvm::StringRef(sideEffect).split(':');
    if (kind == "asm") {
      if (const auto refused = refusedPtx(detail))
        findings.push_back(
            {"inline-asm", ScreenSeverity::Reject, refusedPtxMessage(*refused), line});
      else if (hasPtx(detail))
        findings.push_back({"inline-ptx", ScreenSeverity::Flag,
                            "new inline PTX, which no check but those on a GPU can look into",
                            line});
    }
    for (const SideEffectRule &rule : kSideEffectRules)
      if (rule.sideEffect == kind)
        findings.push_back({rule.id, rule.severity,
                            rule.message + (detail.empty() ? std::string() : ": " + detail.str()),
                            line});
  }

  for (const auto &[kind, word] : {std::pair(CudaFunction::Atomic, std::string("atomic")),
                                   {CudaFunction::Barrier, "barrier"},
                                   {CudaFunction::Fence, "fence"}}) {
    const unsigned before = baseline.counts.lookup(kind), now = candidate.counts.lookup(kind);
    if (now < before)
      findings.push_back({word + "-removed", ScreenSeverity::Flag,
                          "fewer " + word + "s than the baseline: " + std::to_string(now) +
                              " instead of " + std::to_string(before),
                          0});
  }

  for (const auto &[parameter, guards] : baseline.guards) {
    const auto found = candidate.comparisons.find(parameter);
    if (guards > (found == candidate.comparisons.end() ? 0 : found->second))
      findings.push_back(
          {"bounds-check", ScreenSeverity::Flag,
           "a check of an index against " + parameterName(baselineView, parameter) + " is gone",
           0});
  }
  for (unsigned parameter : baseline.usedParameters)
    if (!candidate.usedParameters.count(parameter))
      findings.push_back({"unused-parameter", ScreenSeverity::Flag,
                          "parameter " + parameterName(baselineView, parameter) +
                              " is no longer used: the kernel may assume its value",
                          0});

  for (const auto &[parameter, bits] : baseline.indexBits) {
    const auto found = candidate.doubtfulBits.find(parameter);
    if (found != candidate.doubtfulBits.end() && found->second < bits)
      findings.push_back({found->second < 32 ? "short-index" : "narrow-index", ScreenSeverity::Flag,
                          parameterName(baselineView, parameter) + " is indexed in " +
                              std::to_string(found->second) + " bits where the baseline does in " +
                              std::to_string(bits) + ": it is right for fewer elements",
                          0});
  }

  if (!candidate.floatBits.empty() &&
      (baseline.floatBits.empty() || *candidate.floatBits.begin() < *baseline.floatBits.begin() ||
       *candidate.floatBits.rbegin() < *baseline.floatBits.rbegin()))
    findings.push_back({"precision", ScreenSeverity::Flag,
                        "floating point arithmetic is narrower than the baseline's", 0});
}

} // namespace kopt::frontend
