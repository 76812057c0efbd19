// SPDX-License-Identifier: Apache-2.0
// A variable of the host program or a part of one, as expressions name it: `n`, `grid.x`,
// `table[2]`.
#pragma once

#include <clang/AST/Expr.h>
#include <optional>
#include <string>
#include <vector>

namespace kopt::frontend {

struct PlaceStep {
  std::string text;                        ///< ".x", "->n", "[2]", "[i]"
  const clang::FieldDecl *field = nullptr; ///< null for an index
  const clang::Expr *index = nullptr;      ///< an index that is no constant
  clang::QualType type;                    ///< of what the step leads to
};

struct Place {
  /// A variable, or a field of the object behind `this`.
  const clang::ValueDecl *root = nullptr;
  std::vector<PlaceStep> steps;

  std::string text() const;
  clang::QualType type() const;
  /// The object of this function alone can change it: no pointer, no `this`, no global.
  bool isLocal() const;
};

/// Local references are looked through: the place is what they refer to.
std::optional<Place> placeOf(const clang::Expr *expression, const clang::ASTContext &context);

/// Writing `written` changes all or some of `read`.
bool overlaps(const Place &written, const Place &read);
/// `read` is `written` or a part of it; gives the steps that lead there.
std::optional<std::vector<PlaceStep>> partOf(const Place &written, const Place &read);

/// Without implicit nodes, casts and parentheses: what the user wrote.
const clang::Expr *strip(const clang::Expr *expression);

} // namespace kopt::frontend
