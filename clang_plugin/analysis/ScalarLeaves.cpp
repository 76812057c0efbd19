// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/analysis/ScalarLeaves.h"

#include <clang/AST/DeclCXX.h>
#include <clang/AST/RecordLayout.h>

namespace kopt::frontend {

using namespace clang;

bool addScalarLeaves(const ASTContext &context, QualType type, std::uint64_t offset,
                     std::size_t most, llvm::function_ref<std::string(QualType)> nameOf,
                     std::vector<ScalarLeaf> &out, std::string &why, const std::string &within) {
  const auto bytesOf = [&](QualType of) {
    return std::uint64_t(context.getTypeSizeInChars(of).getQuantity());
  };
  const auto add = [&](QualType part, std::uint64_t at, const std::string &named) {
    return addScalarLeaves(context, part, at, most, nameOf, out, why, named);
  };
  type = type.getCanonicalType().getUnqualifiedType();
  if (out.size() >= most) {
    why = "has more than " + std::to_string(most) + " scalars";
    return false;
  }
  if (const std::string name = nameOf(type); !name.empty()) {
    out.push_back({name, offset, bytesOf(type), within});
    return true;
  }
  if (const auto *array = context.getAsConstantArrayType(type)) {
    const std::uint64_t step = bytesOf(array->getElementType());
    const std::size_t before = out.size();
    for (std::uint64_t i = 0; i < array->getSize().getZExtValue(); ++i) {
      if (!add(array->getElementType(), offset + i * step, within + "[" + std::to_string(i) + "]"))
        return false;
      if (out.size() == before) // an array of empty structs may have any length
        break;
    }
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
        !add(base.getType(),
             offset + std::uint64_t(layout.getBaseClassOffset(parent).getQuantity()), within))
      return false;
  }
  for (const FieldDecl *field : record->fields()) {
    if (field->isBitField()) {
      why = "has bit-fields";
      return false;
    }
    if (!add(field->getType(), offset + layout.getFieldOffset(field->getFieldIndex()) / 8,
             (within.empty() ? "" : within + ".") + field->getNameAsString()))
      return false;
  }
  return true;
}

} // namespace kopt::frontend
