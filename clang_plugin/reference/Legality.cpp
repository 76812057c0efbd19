// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/reference/Legality.h"

#include "clang_plugin/reference/Names.h"
#include "clang_plugin/reference/Widening.h"

#include <clang/AST/Attr.h>
#include <clang/AST/StmtCXX.h>
#include <llvm/Support/Regex.h>

namespace kopt::frontend {

using namespace clang;

namespace {

class Checker {
public:
  Checker(const KernelView &view, Legality &result)
      : view_(view), context_(view.context()), result_(result) {}

  void check() {
    for (const BodyView &body : view_.bodies()) {
      if (body.function->isDefaulted())
        continue; // copies a struct, member by member, in words of the compiler
      body_ = &body;
      for (const Stmt *statement : body.statements)
        visit(statement);
    }
    if (!hasNarrow_)
      refuse(hasDouble_ ? "double" : "integers",
             hasDouble_ ? "the kernel computes in double precision already"
                        : "the kernel computes with integers only",
             view_.kernel().getLocation());
  }

private:
  void refuse(const char *id, const std::string &message, SourceLocation at) {
    // One line and reason is told once, however many expressions it has.
    const unsigned line = lineOf(view_, at);
    for (const ReferenceNote &known : result_.refusals)
      if (known.id == id && known.line == line)
        return;
    result_.refusals.push_back({id, message, line});
  }

  bool widened(QualType type) const { return isWidened(context_, type); }
  bool pointsToWidened(QualType type) const {
    return type->isPointerType() &&
           (widened(type->getPointeeType()) || pointsToWidened(type->getPointeeType()));
  }

  void visit(const Stmt *statement) {
    if (const auto *expression = dyn_cast<Expr>(statement)) {
      hasNarrow_ |= widened(expression->getType());
      hasDouble_ |= expression->getType()->isSpecificBuiltinType(BuiltinType::Double);
      checkType(*expression);
    }
    if (const auto *assembly = dyn_cast<AsmStmt>(statement))
      checkAssembly(*assembly);
    else if (const auto *cast = dyn_cast<CastExpr>(statement))
      checkCast(*cast);
    else if (const auto *member = dyn_cast<MemberExpr>(statement))
      checkUnion(*member);
    else if (const auto *size = dyn_cast<UnaryExprOrTypeTraitExpr>(statement))
      checkSize(*size);
    if (const auto *call = dyn_cast<CallExpr>(statement))
      checkCall(*call);
    if (const auto *reference = dyn_cast<DeclRefExpr>(statement))
      checkReference(*reference);
  }

  void checkType(const Expr &expression) {
    QualType type = expression.getType().getNonReferenceType().getCanonicalType();
    while (type->isPointerType() || type->isArrayType())
      type = type->isPointerType()
                 ? type->getPointeeType().getCanonicalType()
                 : context_.getAsArrayType(type)->getElementType().getCanonicalType();
    const auto *record = type->getAsCXXRecordDecl();
    if (!record || !record->getIdentifier())
      return;
    const std::string name = record->getQualifiedNameAsString();
    const llvm::StringRef plain = name;
    if (plain.starts_with("nvcuda::wmma") || plain.starts_with("mma::"))
      refuse("tensor-cores", "matrix fragments are of the type they are made for",
             expression.getBeginLoc());
    if (plain.starts_with("__nv_fp8") || plain.starts_with("__nv_fp6") ||
        plain.starts_with("__nv_fp4"))
      refuse("fp8", "8-bit floating point has no place in a clone yet", expression.getBeginLoc());
    if (plain == "__half_raw" || plain == "__half2_raw" || plain.starts_with("__nv_bfloat16_raw"))
      refuse("bits", "the bits of a half are looked at", expression.getBeginLoc());
  }

  // ---- Inline assembly ----

  void checkAssembly(const AsmStmt &assembly) {
    std::string text;
    if (const auto *plain = dyn_cast<GCCAsmStmt>(&assembly))
      text = plain->getAsmString()->getString().str();
    static const llvm::Regex touches(
        "(^|[^a-z_.])(ld|st|cp|mma|wmma|wgmma|ldmatrix|stmatrix|atom|red|"
        "tex|tld4|suld|sust|shfl|cvt|tcgen05|multimem|ldu|mapa)[.]");
    static const llvm::Regex floats("[.](f|bf|tf|e[45]m)[0-9]");
    bool ofIntegers = !touches.match(text) && !floats.match(text);
    for (const Stmt *operand : assembly.children())
      if (const auto *expression = dyn_cast_or_null<Expr>(operand))
        ofIntegers &= expression->getType()->isIntegerType();
    if (!ofIntegers)
      refuse("asm", "inline PTX that may touch floating-point data", assembly.getAsmLoc());
  }

  // ---- Reinterpretation ----

  void checkCast(const CastExpr &cast) {
    const QualType from = cast.getSubExpr()->getType(), to = cast.getType();
    switch (cast.getCastKind()) {
    case CK_BitCast:
    case CK_AddressSpaceConversion:
      if (from->isPointerType() && to->isPointerType())
        checkPointerCast(cast, from->getPointeeType(), to->getPointeeType());
      break;
    case CK_LValueBitCast:
    case CK_LValueToRValueBitCast:
    case CK_ReinterpretMemberPointer:
      if (widened(from) || widened(to))
        if (!sameScalars(from, to))
          refuse("bits", "bits are taken for another type in " + text(cast), cast.getBeginLoc());
      break;
    case CK_PointerToIntegral:
      if (pointsToWidened(from))
        refuse("address", "the address of floating-point data is computed with in " + text(cast),
               cast.getBeginLoc());
      break;
    case CK_IntegralToPointer:
      if (pointsToWidened(to))
        refuse("address", "floating-point data is found by a computed address in " + text(cast),
               cast.getBeginLoc());
      break;
    default:
      break;
    }
    if (isa<BuiltinBitCastExpr>(cast) && (widened(from) || widened(to)))
      refuse("bits", "bits are taken for another type in " + text(cast), cast.getBeginLoc());
  }

  bool sameScalars(QualType left, QualType right) const {
    const std::string one = uniformScalar(context_, left), other = uniformScalar(context_, right);
    return !one.empty() && one == other;
  }

  void checkPointerCast(const CastExpr &cast, QualType from, QualType to) {
    if (from->isPointerType() && to->isPointerType())
      return checkPointerCast(cast, from->getPointeeType(), to->getPointeeType());
    if (!widened(from) && !widened(to))
      return;
    if (context_.hasSameUnqualifiedType(from, to) || sameScalars(from, to))
      return;
    if (to->isVoidType()) {
      if (!isKnownUse(cast))
        refuse("untyped", "floating-point data is handed on without its type in " + text(cast),
               cast.getBeginLoc());
      return;
    }
    if (isByte(from) && isStartOfDynamicShared(cast.getSubExpr())) {
      const std::string scalar = uniformScalar(context_, to);
      result_.sharedFactor = std::max(result_.sharedFactor, scalar == "f32" ? 2u : 4u);
      return;
    }
    refuse("bits", "memory is taken for another type in " + text(cast), cast.getBeginLoc());
  }

  bool isByte(QualType type) const {
    const auto *enumeration = type->getAs<EnumType>();
    return type->isCharType() || type->isVoidType() ||
           (enumeration && enumeration->getDecl()->getName() == "byte");
  }

  /// The first byte of `extern __shared__ char raw[]`, or one that lies so many whole numbers
  /// behind it as sizeof() says.
  bool isStartOfDynamicShared(const Expr *pointer) const {
    pointer = pointer->IgnoreParenImpCasts();
    if (const auto *cast = dyn_cast<ExplicitCastExpr>(pointer))
      return isStartOfDynamicShared(cast->getSubExpr());
    if (const auto *reference = dyn_cast<DeclRefExpr>(pointer)) {
      const auto *variable = dyn_cast<VarDecl>(reference->getDecl());
      if (variable && variable->hasAttr<CUDASharedAttr>())
        return variable->getType()->isIncompleteArrayType();
      return variable && variable->isLocalVarDecl() && variable->getInit() &&
             variable->getType()->isPointerType() && isStartOfDynamicShared(variable->getInit());
    }
    const auto *sum = dyn_cast<BinaryOperator>(pointer);
    return sum && sum->getOpcode() == BO_Add && isStartOfDynamicShared(sum->getLHS()) &&
           isScaled(sum->getRHS());
  }

  /// A product with sizeof() of what is widened, or a sum of such.
  bool isScaled(const Expr *count) const {
    count = count->IgnoreParenCasts();
    if (const auto *size = dyn_cast<UnaryExprOrTypeTraitExpr>(count))
      return size->getKind() == UETT_SizeOf && widened(size->getTypeOfArgument());
    const auto *binary = dyn_cast<BinaryOperator>(count);
    if (!binary)
      return false;
    if (binary->getOpcode() == BO_Mul)
      return isScaled(binary->getLHS()) || isScaled(binary->getRHS());
    return binary->getOpcode() == BO_Add && isScaled(binary->getLHS()) &&
           isScaled(binary->getRHS());
  }

  const CallExpr *callAround(const Expr &argument) const {
    const Stmt *parent = body_->parentOf(&argument);
    while (isa_and_nonnull<CastExpr>(parent))
      parent = body_->parentOf(parent);
    return dyn_cast_or_null<CallExpr>(parent);
  }

  static llvm::StringRef nameOf(const CallExpr &call) {
    const FunctionDecl *callee = call.getDirectCallee();
    return callee && callee->getIdentifier() ? callee->getName() : llvm::StringRef();
  }

  /// Copies by size, which follow where the size does; and questions of the address space.
  bool isKnownUse(const CastExpr &cast) const {
    const CallExpr *call = callAround(cast);
    if (!call)
      return false;
    const llvm::StringRef name = nameOf(*call);
    if (name == "__isShared" || name == "__isGlobal" || name == "__isLocal" ||
        name == "__isConstant")
      return true;
    if ((name != "memcpy" && name != "memmove" && name != "__builtin_memcpy") ||
        call->getNumArgs() != 3)
      return false;
    const auto pointee = [](const Expr *argument) {
      return argument->IgnoreParenCasts()->getType()->isPointerType()
                 ? argument->IgnoreParenCasts()->getType()->getPointeeType()
                 : argument->IgnoreParenCasts()->getType();
    };
    return isScaled(call->getArg(2)) &&
           sameScalars(pointee(call->getArg(0)), pointee(call->getArg(1)));
  }

  void checkUnion(const MemberExpr &member) {
    const auto *field = dyn_cast<FieldDecl>(member.getMemberDecl());
    if (!field || !field->getParent()->isUnion())
      return;
    std::set<std::string> scalars;
    bool any = false;
    for (const FieldDecl *each : field->getParent()->fields()) {
      any |= widened(each->getType());
      scalars.insert(uniformScalar(context_, each->getType()));
    }
    if (any && (scalars.size() > 1 || scalars.count("")))
      refuse("bits", "a union of floating point with something else in " + text(member),
             member.getBeginLoc());
  }

  // ---- Sizes ----

  /// A size may go into an offset in bytes or into a copy; what else it decides is not known.
  void checkSize(const UnaryExprOrTypeTraitExpr &size) {
    if (!widened(size.getTypeOfArgument()))
      return;
    const Stmt *child = &size;
    for (const Stmt *parent = body_->parentOf(child); parent;
         child = parent, parent = body_->parentOf(parent)) {
      if (isa<CastExpr>(parent))
        continue;
      if (const auto *binary = dyn_cast<BinaryOperator>(parent)) {
        if (binary->getOpcode() == BO_Mul)
          continue;
        if (binary->isAdditiveOp()) {
          if (binary->getType()->isPointerType() && isByte(binary->getType()->getPointeeType()))
            return;
          continue;
        }
        if (binary->getOpcode() == BO_Div && isRatio(*binary))
          return;
      }
      if (const auto *call = dyn_cast<CallExpr>(parent);
          call && (nameOf(*call).contains("memcpy") || nameOf(*call) == "memmove"))
        return; // where the pointers are floating point too, their casts are looked at
      break;
    }
    refuse("size", "the size of a floating-point type decides something in " + text(size),
           size.getBeginLoc());
  }

  bool isRatio(const BinaryOperator &division) const {
    const auto *left = dyn_cast<UnaryExprOrTypeTraitExpr>(division.getLHS()->IgnoreParenCasts());
    const auto *right = dyn_cast<UnaryExprOrTypeTraitExpr>(division.getRHS()->IgnoreParenCasts());
    return left && right && sameScalars(left->getTypeOfArgument(), right->getTypeOfArgument());
  }

  // ---- Calls ----

  void checkCall(const CallExpr &call) {
    const FunctionDecl *callee = call.getDirectCallee();
    const llvm::StringRef name = nameOf(call);
    if (!callee || name.empty())
      return;
    bool touches = widened(call.getType());
    for (const Expr *argument : call.arguments())
      touches |= widened(argument->getType()) || pointsToWidened(argument->getType());
    // INFINITY and its like are made of bits in a header; that is a value like any other.
    if (!view_.offset(call.getBeginLoc()) && isSystemMacro(call.getBeginLoc()))
      return;
    if (readsBits(name) && !view_.isInText(callee->getLocation()))
      refuse("bits", "the bits of a number are looked at by " + name.str() + "()",
             call.getBeginLoc());
    const std::string qualified = callee->getQualifiedNameAsString();
    if (llvm::StringRef(qualified).starts_with("nvcuda::wmma"))
      refuse("tensor-cores", "matrix fragments are of the type they are made for",
             call.getBeginLoc());
    if (!view_.isInText(callee->getLocation()) && touches &&
        (name.starts_with("tex1D") || name.starts_with("tex2D") || name.starts_with("tex3D") ||
         name.starts_with("texCubemap") || name.starts_with("surf")))
      refuse("texture", "a texture or surface holds what it was made with", call.getBeginLoc());
    const auto *method = dyn_cast<CXXMethodDecl>(callee);
    static const char *const kLimits[] = {"epsilon", "max", "min", "lowest", "denorm_min"};
    if (method && widened(call.getType()) && llvm::is_contained(kLimits, name) &&
        method->getParent()->getNameAsString() == "numeric_limits")
      refuse("limits", "a limit of the type itself is used: " + text(call), call.getBeginLoc());
  }

  bool isSystemMacro(SourceLocation location) const {
    const SourceManager &sources = context_.getSourceManager();
    return location.isMacroID() && !sources.isInMainFile(sources.getSpellingLoc(location));
  }

  // ---- Variables ----

  void checkReference(const DeclRefExpr &reference) {
    const auto *variable = dyn_cast<VarDecl>(reference.getDecl());
    if (!variable)
      return;
    if (variable->hasAttr<CUDASharedAttr>() && variable->getType()->isIncompleteArrayType()) {
      const QualType element = context_.getAsArrayType(variable->getType())->getElementType();
      if (widened(element))
        result_.sharedFactor =
            std::max(result_.sharedFactor, uniformScalar(context_, element) == "f32" ? 2u : 4u);
    }
    if (variable->getType()->isDependentType())
      refuse("unknown", "a type is not known", reference.getBeginLoc());
  }

  std::string text(const Expr &expression) const {
    return quoted(view_, expression.getSourceRange());
  }

  const KernelView &view_;
  const ASTContext &context_;
  Legality &result_;
  const BodyView *body_ = nullptr;
  bool hasNarrow_ = false, hasDouble_ = false;
};

} // namespace

unsigned lineOf(const KernelView &view, SourceLocation location) {
  const SourceManager &sources = view.context().getSourceManager();
  return location.isValid() && view.isInText(location) ? sources.getExpansionLineNumber(location)
                                                       : 0;
}

std::string quoted(const KernelView &view, SourceRange range) {
  const llvm::StringRef found = view.text(range);
  if (found.empty())
    return "what a macro spells";
  std::string line;
  for (char c : found.take_front(80))
    line += c == '\n' ? ' ' : c;
  return "`" + line + (found.size() > 80 ? "..." : "") + "`";
}

Legality checkOriginal(const KernelView &view) {
  Legality result;
  Checker(view, result).check();
  checkSteering(view, result.refusals, result.notes);
  return result;
}

} // namespace kopt::frontend
