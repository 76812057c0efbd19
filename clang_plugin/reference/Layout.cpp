// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/reference/Layout.h"

#include "clang_plugin/analysis/ScalarLeaves.h"
#include "clang_plugin/reference/Widening.h"

namespace kopt::frontend {

using namespace clang;

namespace {

constexpr std::size_t kMostScalars = 4096;

unsigned sizeOf(const ASTContext &context, QualType type) {
  return static_cast<unsigned>(context.getTypeSizeInChars(type).getQuantity());
}

} // namespace

std::optional<ElementLayout> layoutOf(const ASTContext &original, QualType type,
                                      const ASTContext &clone, QualType newType, std::string &why) {
  ElementLayout layout;
  if (type->isIncompleteType() || newType->isIncompleteType() || type->isFunctionType())
    return layout; // such as void, which is not widened
  layout.size = sizeOf(original, type);
  layout.newSize = sizeOf(clone, newType);
  if (!isWidened(original, type) && layout.size == layout.newSize)
    return layout;
  const auto leavesOf = [&](const ASTContext &context, QualType of, std::vector<ScalarLeaf> &out) {
    return addScalarLeaves(
        context, of, 0, kMostScalars, [&](QualType leaf) { return scalarName(context, leaf); }, out,
        why);
  };
  std::vector<ScalarLeaf> before, after;
  if (!leavesOf(original, type, before) || !leavesOf(clone, newType, after))
    return std::nullopt;
  if (before.size() != after.size()) {
    why = "has another number of scalars in the clone";
    return std::nullopt;
  }
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i].scalar == "ptr") {
      why = "holds a pointer beside what is widened";
      return std::nullopt;
    }
    layout.fields.push_back(
        {unsigned(before[i].offset), unsigned(after[i].offset), before[i].scalar, after[i].scalar});
  }
  return layout;
}

} // namespace kopt::frontend
