// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/analysis/Types.h"

#include "clang_plugin/analysis/ScalarLeaves.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/Mangle.h>
#include <clang/AST/QualTypeNames.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <map>
#include <set>

namespace kopt::frontend {
namespace {

struct ScalarInfo {
  std::string name;
  unsigned components = 1;
};

std::string builtinName(const clang::ASTContext &context, const clang::BuiltinType &type) {
  unsigned bits = static_cast<unsigned>(context.getTypeSize(&type));
  if (type.getKind() == clang::BuiltinType::Bool)
    return "bool";
  if (type.isFloatingPoint())
    return type.getKind() == clang::BuiltinType::BFloat16 ? "bf16" : "f" + std::to_string(bits);
  if (type.isInteger())
    return (type.isSignedInteger() ? "i" : "u") + std::to_string(bits);
  return "";
}

/// Describes a type that can be filled and compared element by element: float, float4, __half2,
/// enums.
ScalarInfo scalarOf(const clang::ASTContext &context, clang::QualType type) {
  type = type.getCanonicalType().getUnqualifiedType();
  if (const auto *enumeration = type->getAs<clang::EnumType>())
    type = enumeration->getDecl()->getIntegerType().getCanonicalType();
  if (type.isNull())
    return {};
  if (const auto *builtin = type->getAs<clang::BuiltinType>())
    return {builtinName(context, *builtin)};
  const clang::RecordDecl *record = type->getAsRecordDecl();
  if (!record)
    return {};
  llvm::StringRef name = record->getName();
  // CUDA's own, and those of libraries such as c10::Half and cutlass::bfloat16_t.
  static const std::map<std::string, ScalarInfo> kSmallFloats = {
      {"__half", {"f16"}}, {"__half2", {"f16", 2}},         {"__nv_bfloat16", {"bf16"}},
      {"Half", {"f16"}},   {"__nv_bfloat162", {"bf16", 2}}, {"BFloat16", {"bf16"}},
      {"half_t", {"f16"}}, {"bfloat16_t", {"bf16"}}};
  if (const auto found = kSmallFloats.find(name.str());
      found != kSmallFloats.end() && record->isCompleteDefinition() &&
      context.getTypeSize(type) == 16 * found->second.components)
    return found->second;
  // CUDA's vector types: float4 is four members of one builtin type, named by it.
  unsigned count = 0;
  if (name.empty() || name.back() < '1' || name.back() > '4')
    return {};
  std::string element;
  for (const clang::FieldDecl *field : record->fields()) {
    const auto *builtin = field->getType().getCanonicalType()->getAs<clang::BuiltinType>();
    if (!builtin || (count && builtinName(context, *builtin) != element))
      return {};
    element = builtinName(context, *builtin);
    ++count;
  }
  static const std::set<std::string> kVectors = {"char",     "uchar",     "short", "ushort",
                                                 "int",      "uint",      "long",  "ulong",
                                                 "longlong", "ulonglong", "float", "double"};
  if (count != static_cast<unsigned>(name.back() - '0') || !kVectors.count(name.drop_back().str()))
    return {};
  return {element, count};
}

/// Limits for scalars that are listed one by one, and for scalars that are all of one kind.
constexpr std::size_t kMostMembers = 64, kMostLeaves = 1 << 16;

/// The element type of a pointer: scalars of one kind without gaps, or "struct 16 f32 0 i32 4 ...";
/// empty if its members cannot be filled and compared.
ScalarInfo elementOf(const clang::ASTContext &context, clang::QualType type) {
  const auto nameOf = [&](clang::QualType leaf) {
    const ScalarInfo scalar = scalarOf(context, leaf);
    return scalar.components == 1 ? scalar.name : ""; // float4 is a struct of its members
  };
  std::vector<ScalarLeaf> leaves;
  std::string why;
  if (type->isIncompleteType() || type->isFunctionType() ||
      !addScalarLeaves(context, type, 0, kMostLeaves, nameOf, leaves, why) || leaves.empty())
    return {};
  const auto bytes = std::uint64_t(context.getTypeSizeInChars(type).getQuantity());
  const ScalarLeaf &first = leaves.front();
  const bool isOneKind =
      llvm::all_of(leaves, [&](const ScalarLeaf &leaf) { return leaf.scalar == first.scalar; });
  if (isOneKind && leaves.size() * first.bytes == bytes)
    return {first.scalar, static_cast<unsigned>(leaves.size())};
  if (leaves.size() > kMostMembers)
    return {};
  std::string text = "struct " + std::to_string(bytes);
  for (const ScalarLeaf &leaf : leaves)
    text += " " + leaf.scalar + " " + std::to_string(leaf.offset);
  return {text, 1};
}

/// The numbers of a struct or vector, in order; empty if it contains anything else.
std::vector<ParamMember> membersOf(const clang::ASTContext &context, clang::QualType type) {
  const auto nameOf = [&](clang::QualType leaf) {
    const ScalarInfo scalar = scalarOf(context, leaf);
    return scalar.components == 1 ? scalar.name : "";
  };
  std::vector<ScalarLeaf> leaves;
  std::string why;
  std::vector<ParamMember> members;
  if (addScalarLeaves(context, type, 0, kMostMembers, nameOf, leaves, why))
    for (const ScalarLeaf &leaf : leaves)
      members.push_back({leaf.name, leaf.scalar, static_cast<std::uint32_t>(leaf.offset)});
  return members;
}

/// "pointers 0 f32 8 i32": the offsets of the pointers in a struct and what they point to, for
/// pointers to scalars of one kind; empty if there is none.
std::string pointersIn(const clang::ASTContext &context, clang::QualType type) {
  const auto nameOf = [&](clang::QualType leaf) -> std::string {
    if (!leaf->isPointerType())
      return scalarOf(context, leaf).name.empty() ? "" : "-";
    const std::string pointee = elementOf(context, leaf->getPointeeType()).name;
    return llvm::StringRef(pointee).contains(' ') || pointee.empty() ? "-" : pointee;
  };
  std::vector<ScalarLeaf> leaves;
  std::string why, text;
  if (!addScalarLeaves(context, type, 0, kMostMembers, nameOf, leaves, why))
    return "";
  for (const ScalarLeaf &leaf : leaves)
    if (leaf.scalar != "-")
      text += " " + std::to_string(leaf.offset) + " " + leaf.scalar;
  return text.empty() ? "" : "pointers" + text;
}

/// The type to which a function casts a pointer to bytes or to void, apart from byte arithmetic.
/// Empty if it casts the pointer to several types or to none.
class PointerCasts : public clang::RecursiveASTVisitor<PointerCasts> {
public:
  explicit PointerCasts(const clang::ParmVarDecl &parameter) : parameter_(parameter) {}

  static std::string of(const clang::ParmVarDecl &parameter) {
    const auto *function = llvm::dyn_cast<clang::FunctionDecl>(parameter.getDeclContext());
    clang::Stmt *body = function ? function->getBody() : nullptr;
    if (!body || function->isDependentContext())
      return "";
    PointerCasts casts(parameter);
    casts.TraverseStmt(body);
    // If it is also used directly, it points to bytes.
    return casts.found_.size() == 1 && !casts.isRead_ ? *casts.found_.begin() : "";
  }

  bool VisitExplicitCastExpr(clang::ExplicitCastExpr *cast) {
    if (cast->getType()->isPointerType() && isOfParameter(cast->getSubExpr()))
      if (const std::string name =
              elementOf(parameter_.getASTContext(), cast->getType()->getPointeeType()).name;
          !name.empty() && name != "i8" && name != "u8")
        found_.insert(name);
    return true;
  }
  bool VisitArraySubscriptExpr(clang::ArraySubscriptExpr *element) {
    const clang::Expr *base = element->getBase()->IgnoreParenImpCasts();
    isRead_ |= isItself(base);
    return true;
  }
  bool VisitUnaryOperator(clang::UnaryOperator *use) {
    isRead_ |= use->getOpcode() == clang::UO_Deref && use->getType()->isCharType() &&
               isOfParameter(use->getSubExpr());
    return true;
  }

private:
  bool isItself(const clang::Expr *expression) const {
    const auto *name = llvm::dyn_cast<clang::DeclRefExpr>(expression);
    return name && name->getDecl() == &parameter_;
  }
  /// True for the parameter, or the parameter plus an offset in bytes.
  bool isOfParameter(const clang::Expr *expression) const {
    expression = expression->IgnoreParenCasts();
    if (const auto *sum = llvm::dyn_cast<clang::BinaryOperator>(expression))
      return sum->getType()->isPointerType() &&
             (isOfParameter(sum->getLHS()) || isOfParameter(sum->getRHS()));
    if (const auto *address = llvm::dyn_cast<clang::UnaryOperator>(expression);
        address && address->getOpcode() == clang::UO_AddrOf)
      if (const auto *element = llvm::dyn_cast<clang::ArraySubscriptExpr>(
              address->getSubExpr()->IgnoreParenImpCasts()))
        return isOfParameter(element->getBase());
    return isItself(expression);
  }

  const clang::ParmVarDecl &parameter_;
  std::set<std::string> found_;
  bool isRead_ = false;
};

std::string typeText(const clang::ASTContext &context, clang::QualType type) {
  clang::PrintingPolicy policy(context.getLangOpts());
  policy.SuppressUnwrittenScope = true;
  policy.SuppressTagKeyword = true;
  policy.adjustForCPlusPlus();
  return clang::TypeName::getFullyQualifiedName(type, context, policy);
}

void flatten(const clang::TemplateArgument &argument, std::vector<clang::TemplateArgument> &out) {
  if (argument.getKind() != clang::TemplateArgument::Pack) {
    out.push_back(argument);
    return;
  }
  for (const clang::TemplateArgument &element : argument.pack_elements())
    flatten(element, out);
}

std::string valueText(const clang::ASTContext &context, const clang::TemplateArgument &argument) {
  if (argument.getKind() == clang::TemplateArgument::Type)
    return typeText(context, argument.getAsType());
  clang::PrintingPolicy policy(context.getLangOpts());
  policy.SuppressUnwrittenScope = true;
  policy.adjustForCPlusPlus();
  std::string text;
  llvm::raw_string_ostream stream(text);
  argument.print(policy, stream, /*IncludeType=*/false);
  return text;
}

std::string mangledName(const clang::NamedDecl &declaration, clang::GlobalDecl what) {
  clang::ASTContext &context = declaration.getASTContext();
  std::unique_ptr<clang::MangleContext> mangler(
      clang::ItaniumMangleContext::create(context, context.getDiagnostics()));
  if (!mangler->shouldMangleDeclName(&declaration))
    return declaration.getNameAsString();
  std::string symbol;
  llvm::raw_string_ostream stream(symbol);
  mangler->mangleName(what, stream);
  return symbol;
}

} // namespace

ParamLayout layoutOf(const clang::ParmVarDecl &parameter) {
  const clang::ASTContext &context = parameter.getASTContext();
  const clang::QualType type = parameter.getType();
  ParamLayout layout{std::uint64_t(context.getTypeSizeInChars(type).getQuantity()),
                     std::uint64_t(context.getTypeAlignInChars(type).getQuantity())};
  const clang::CXXRecordDecl *record = type->getAsCXXRecordDecl();
  if (!record || !record->isLambda() || record->captures().empty())
    return layout;
  const auto isSpelled = [](const clang::Attr *attribute) {
    return attribute && !attribute->isImplicit();
  };
  const clang::CXXMethodDecl *call = record->getLambdaCallOperator();
  if (!isSpelled(call->getAttr<clang::CUDAHostAttr>()) ||
      !isSpelled(call->getAttr<clang::CUDADeviceAttr>()))
    return layout;
  constexpr std::uint64_t kPointer = 8;
  return {(layout.size + kPointer - 1) / kPointer * kPointer + kPointer,
          std::max(layout.align, kPointer)};
}

KernelParam describeParam(const clang::ParmVarDecl &parameter) {
  const clang::ASTContext &context = parameter.getASTContext();
  clang::QualType type = parameter.getType();
  KernelParam info;
  info.name = parameter.getNameAsString();
  info.type = typeText(context, type);
  info.restrict = type.isRestrictQualified();
  if (type->isIncompleteType() || type->isDependentType())
    return info;
  const ParamLayout layout = layoutOf(parameter);
  info.size = static_cast<std::uint32_t>(layout.size);
  info.align = static_cast<std::uint32_t>(layout.align);
  clang::QualType element = type;
  if (type->isPointerType()) {
    element = type->getPointeeType();
    info.kind = ParamKind::Pointer;
    info.pointeeConst = element.isConstQualified();
    if (!element->isIncompleteType() && !element->isFunctionType())
      info.pointeeSize =
          static_cast<std::uint32_t>(context.getTypeSizeInChars(element).getQuantity());
  }
  const ScalarInfo scalar =
      info.kind == ParamKind::Pointer ? elementOf(context, element) : scalarOf(context, element);
  info.scalar = scalar.name;
  info.components = scalar.components;
  if (info.kind == ParamKind::Pointer &&
      (element->isVoidType() || scalar.name == "i8" || scalar.name == "u8"))
    if (const std::string used = PointerCasts::of(parameter); !used.empty())
      info.scalar = used;
  if (info.kind != ParamKind::Pointer && type->isRecordType() && scalar.name.empty()) {
    info.kind = ParamKind::Struct;
    const clang::CXXRecordDecl *record = type->getAsCXXRecordDecl();
    info.scalar = record && record->isEmpty() ? "empty" : pointersIn(context, type);
  }
  if (info.kind == ParamKind::Struct || (info.kind == ParamKind::Scalar && info.components > 1))
    info.members = membersOf(context, type);
  return info;
}

std::optional<ConstantVariable> describeConstantVariable(const clang::VarDecl &variable) {
  const clang::ASTContext &context = variable.getASTContext();
  const clang::QualType element = context.getBaseElementType(variable.getType());
  if (element->isIncompleteType() || element->isDependentType() || variable.isTemplated() ||
      variable.getType()->isIncompleteType())
    return std::nullopt;
  ConstantVariable info;
  info.name = variable.getNameAsString();
  info.scalar = elementOf(context, element).name;
  info.type = typeText(context, element.getUnqualifiedType());
  info.bytes = std::uint64_t(context.getTypeSizeInChars(variable.getType()).getQuantity());
  if (info.scalar.empty() || info.bytes == 0)
    return std::nullopt;
  std::string parts = std::to_string(variable.getName().size()) + variable.getName().str();
  bool isNested = false;
  for (const clang::DeclContext *scope = variable.getDeclContext()->getRedeclContext();
       !scope->isTranslationUnit(); scope = scope->getParent()) {
    const auto *space = llvm::dyn_cast<clang::NamespaceDecl>(scope);
    if (!space)
      return std::nullopt;
    const std::string name =
        space->isAnonymousNamespace() ? "_GLOBAL__N_1" : space->getNameAsString();
    parts = std::to_string(name.size()) + name + parts;
    isNested = true;
  }
  if (llvm::isa<clang::VarTemplateSpecializationDecl>(variable))
    info.symbol = mangledName(variable, clang::GlobalDecl(&variable));
  else
    info.symbol = isNested ? "_ZN" + parts + "E" : variable.getNameAsString();
  return info;
}

std::vector<TemplateArg> templateArgsOf(const clang::FunctionDecl &specialization) {
  std::vector<TemplateArg> result;
  const clang::TemplateArgumentList *arguments = specialization.getTemplateSpecializationArgs();
  if (!arguments)
    return result;
  const clang::TemplateParameterList *parameters =
      specialization.getPrimaryTemplate()->getTemplateParameters();
  for (unsigned i = 0; i < arguments->size(); ++i) {
    std::vector<clang::TemplateArgument> flat;
    flatten(arguments->get(i), flat);
    for (const clang::TemplateArgument &argument : flat) {
      TemplateArg info;
      info.name = i < parameters->size() ? parameters->getParam(i)->getNameAsString() : "";
      info.value = valueText(specialization.getASTContext(), argument);
      info.integral = argument.getKind() == clang::TemplateArgument::Integral &&
                      !argument.getIntegralType()->isBooleanType();
      result.push_back(std::move(info));
    }
  }
  return result;
}

std::string writtenName(const clang::NamedDecl &declaration) {
  clang::PrintingPolicy policy(declaration.getASTContext().getLangOpts());
  policy.SuppressUnwrittenScope = true;
  std::string name;
  llvm::raw_string_ostream stream(name);
  declaration.printQualifiedName(stream, policy);
  return name;
}

std::string expressionOf(const clang::FunctionDecl &specialization) {
  std::string text = writtenName(specialization);
  if (!specialization.getTemplateSpecializationArgs())
    return text;
  text += "<";
  bool first = true;
  for (const TemplateArg &argument : templateArgsOf(specialization)) {
    text += (first ? "" : ", ") + argument.value;
    first = false;
  }
  return text + ">";
}

const clang::FunctionDecl *enclosingFunction(const clang::FunctionDecl &specialization) {
  const clang::TemplateArgumentList *arguments = specialization.getTemplateSpecializationArgs();
  if (!arguments)
    return nullptr;
  std::vector<clang::TemplateArgument> open(arguments->asArray().begin(),
                                            arguments->asArray().end());
  while (!open.empty()) {
    clang::TemplateArgument argument = open.back();
    open.pop_back();
    if (argument.getKind() == clang::TemplateArgument::Pack)
      open.insert(open.end(), argument.pack_begin(), argument.pack_end());
    if (argument.getKind() != clang::TemplateArgument::Type)
      continue;
    clang::QualType type = argument.getAsType().getCanonicalType();
    while (!type->getPointeeType().isNull())
      type = type->getPointeeType();
    const clang::CXXRecordDecl *record = type->getAsCXXRecordDecl();
    if (!record)
      continue;
    const clang::FunctionDecl *outermost = nullptr;
    for (const clang::DeclContext *context = record->getDeclContext(); context;
         context = context->getParent())
      if (const auto *function = llvm::dyn_cast<clang::FunctionDecl>(context))
        outermost = function;
    if (outermost)
      return outermost;
    if (const auto *generic = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(record))
      open.insert(open.end(), generic->getTemplateArgs().asArray().begin(),
                  generic->getTemplateArgs().asArray().end());
  }
  return nullptr;
}

std::string instantiationOf(const clang::FunctionDecl &function) {
  return function.getTemplateSpecializationArgs() ? expressionOf(function) : "";
}

std::string symbolOf(const clang::FunctionDecl &kernel) {
  return mangledName(kernel, clang::GlobalDecl(&kernel, clang::KernelReferenceKind::Kernel));
}

} // namespace kopt::frontend
