// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/reference/Widening.h"

#include <clang/AST/DeclTemplate.h>
#include <clang/Basic/SourceManager.h>

namespace kopt::frontend {

using namespace clang;

namespace {

constexpr unsigned kMostDepth = 16; ///< structs within structs

llvm::StringRef recordName(QualType type) {
  const auto *record = type->getAsCXXRecordDecl();
  return record && record->getIdentifier() ? record->getName() : llvm::StringRef();
}

/// The scalar of CUDA's narrow vectors (float2, half2, …); empty for other types.
std::string vectorScalar(QualType type) {
  const llvm::StringRef name = recordName(type);
  if (name == "float1" || name == "float2" || name == "float3" || name == "float4")
    return "f32";
  if (name == "__half2")
    return "f16";
  return name == "__nv_bfloat162" ? "bf16" : "";
}

bool isOfText(const ASTContext &context, const Decl *decl) {
  const SourceManager &sources = context.getSourceManager();
  return sources.isInMainFile(sources.getExpansionLoc(decl->getLocation()));
}

bool isWidenedAt(const ASTContext &context, QualType type, unsigned depth) {
  if (type.isNull() || depth > kMostDepth)
    return false;
  type = type.getNonReferenceType().getCanonicalType().getUnqualifiedType();
  if (const ArrayType *array = context.getAsArrayType(type))
    return isWidenedAt(context, array->getElementType(), depth + 1);
  if (!narrowScalar(type).empty() || !vectorScalar(type).empty())
    return true;
  const auto *record = type->getAsCXXRecordDecl();
  if (!record || !record->hasDefinition())
    return false;
  if (const auto *special = dyn_cast<ClassTemplateSpecializationDecl>(record);
      special && !isOfText(context, special))
    return llvm::any_of(special->getTemplateArgs().asArray(), [&](const TemplateArgument &each) {
      return each.getKind() == TemplateArgument::Type &&
             isWidenedAt(context, each.getAsType(), depth + 1);
    });
  if (!isOfText(context, record))
    return false;
  for (const FieldDecl *field : record->getDefinition()->fields())
    if (isWidenedAt(context, field->getType(), depth + 1))
      return true;
  return llvm::any_of(record->getDefinition()->bases(), [&](const CXXBaseSpecifier &base) {
    return isWidenedAt(context, base.getType(), depth + 1);
  });
}

/// Sets `scalar` to the one scalar that the type consists of, or leaves it if the type is empty.
/// False if there is another scalar than `scalar`, or something that is not a scalar.
bool gather(const ASTContext &context, QualType type, std::string &scalar, unsigned depth) {
  if (depth > kMostDepth)
    return false;
  type = type.getNonReferenceType().getCanonicalType().getUnqualifiedType();
  if (const ArrayType *array = context.getAsArrayType(type))
    return gather(context, array->getElementType(), scalar, depth + 1);
  std::string own = narrowScalar(type);
  if (own.empty())
    own = vectorScalar(type);
  if (own.empty())
    own = scalarName(context, type);
  if (!own.empty()) {
    if (!scalar.empty() && scalar != own)
      return false;
    scalar = own;
    return true;
  }
  const auto *record = type->getAsCXXRecordDecl();
  if (!record || !record->hasDefinition() || record->isDynamicClass())
    return false;
  for (const FieldDecl *field : record->getDefinition()->fields())
    if (!gather(context, field->getType(), scalar, depth + 1))
      return false;
  for (const CXXBaseSpecifier &base : record->getDefinition()->bases())
    if (!gather(context, base.getType(), scalar, depth + 1))
      return false;
  return true;
}

} // namespace

std::string narrowScalar(QualType type) {
  type = type.getNonReferenceType().getCanonicalType().getUnqualifiedType();
  if (const auto *builtin = type->getAs<BuiltinType>()) {
    switch (builtin->getKind()) {
    case BuiltinType::Float:
      return "f32";
    case BuiltinType::Half:
    case BuiltinType::Float16:
      return "f16";
    case BuiltinType::BFloat16:
      return "bf16";
    default:
      return "";
    }
  }
  const llvm::StringRef name = recordName(type);
  return name == "__half" ? "f16" : name == "__nv_bfloat16" ? "bf16" : "";
}

std::string scalarName(const ASTContext &context, QualType type) {
  type = type.getNonReferenceType().getCanonicalType().getUnqualifiedType();
  if (const std::string narrow = narrowScalar(type); !narrow.empty())
    return narrow;
  if (type->isPointerType())
    return "ptr";
  if (const auto *enumeration = type->getAs<EnumType>())
    type = enumeration->getDecl()->getIntegerType().getCanonicalType();
  const auto *builtin = type.isNull() ? nullptr : type->getAs<BuiltinType>();
  if (!builtin)
    return "";
  const std::string bits = std::to_string(context.getTypeSize(type));
  if (builtin->getKind() == BuiltinType::Bool)
    return "bool";
  if (builtin->isFloatingPoint())
    return "f" + bits;
  return builtin->isInteger() ? (builtin->isSignedInteger() ? "i" : "u") + bits : "";
}

bool isWidened(const ASTContext &context, QualType type) { return isWidenedAt(context, type, 0); }

std::string uniformScalar(const ASTContext &context, QualType type) {
  std::string scalar;
  return gather(context, type, scalar, 0) ? scalar : "";
}

} // namespace kopt::frontend
