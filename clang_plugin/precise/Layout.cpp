// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/precise/Layout.h"

#include "clang_plugin/precise/Widening.h"

#include <clang/AST/DeclCXX.h>
#include <clang/AST/RecordLayout.h>

namespace kopt::frontend {

using namespace clang;

namespace {

constexpr std::size_t kMostScalars = 4096;

struct Scalar {
  unsigned offset;
  std::string name;
};

/// Every scalar of a type, in order of offset; nothing with a reason where there is no such list.
bool flatten(const ASTContext &context, QualType type, unsigned offset, std::vector<Scalar> &out,
             std::string &why) {
  type = type.getCanonicalType().getUnqualifiedType();
  if (out.size() >= kMostScalars) {
    why = "has more than " + std::to_string(kMostScalars) + " scalars";
    return false;
  }
  if (const std::string name = scalarName(context, type); !name.empty()) {
    out.push_back({offset, name});
    return true;
  }
  if (const auto *array = context.getAsConstantArrayType(type)) {
    const unsigned step = context.getTypeSizeInChars(array->getElementType()).getQuantity();
    for (std::uint64_t i = 0; i < array->getSize().getZExtValue(); ++i)
      if (!flatten(context, array->getElementType(), offset + unsigned(i) * step, out, why))
        return false;
    return true;
  }
  const auto *record = type->getAsCXXRecordDecl();
  if (!record || !record->hasDefinition()) {
    why = "holds something that is neither a number nor a struct of them";
    return false;
  }
  record = record->getDefinition();
  if (record->isDynamicClass() || record->isUnion()) {
    why = record->isUnion() ? "holds a union" : "has virtual functions";
    return false;
  }
  const ASTRecordLayout &layout = context.getASTRecordLayout(record);
  for (const CXXBaseSpecifier &base : record->bases()) {
    const auto *parent = base.getType()->getAsCXXRecordDecl();
    if (!parent ||
        !flatten(context, base.getType(),
                 offset + unsigned(layout.getBaseClassOffset(parent).getQuantity()), out, why))
      return false;
  }
  for (const FieldDecl *field : record->fields()) {
    if (field->isBitField()) {
      why = "has bit-fields";
      return false;
    }
    const std::uint64_t bits = layout.getFieldOffset(field->getFieldIndex());
    if (!flatten(context, field->getType(), offset + unsigned(bits / 8), out, why))
      return false;
  }
  return true;
}

unsigned sizeOf(const ASTContext &context, QualType type) {
  return static_cast<unsigned>(context.getTypeSizeInChars(type).getQuantity());
}

} // namespace

std::optional<ElementLayout> layoutOf(const ASTContext &original, QualType type,
                                      const ASTContext &clone, QualType newType, std::string &why) {
  ElementLayout layout;
  if (type->isIncompleteType() || newType->isIncompleteType() || type->isFunctionType())
    return layout; // void: nobody can have widened it
  layout.size = sizeOf(original, type);
  layout.newSize = sizeOf(clone, newType);
  if (!isWidened(original, type) && layout.size == layout.newSize)
    return layout;
  std::vector<Scalar> before, after;
  if (!flatten(original, type, 0, before, why) || !flatten(clone, newType, 0, after, why))
    return std::nullopt;
  if (before.size() != after.size()) {
    why = "has another number of scalars in the clone";
    return std::nullopt;
  }
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i].name == "ptr") {
      why = "holds a pointer beside what is widened";
      return std::nullopt;
    }
    layout.fields.push_back({before[i].offset, after[i].offset, before[i].name, after[i].name});
  }
  return layout;
}

} // namespace kopt::frontend
