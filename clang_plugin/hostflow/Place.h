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
  const clang::Expr *index = nullptr;      ///< an index that is not constant
  clang::QualType type;                    ///< type of what the step leads to
};

struct Place {
  /// A variable, or a field of the object that `this` points to.
  const clang::ValueDecl *root = nullptr;
  std::vector<PlaceStep> steps;

  std::string text() const;
  clang::QualType type() const;
  /// True if only this function can change it: the place involves no pointer, no `this` and no
  /// global.
  bool isLocal() const;
};

/// The place that an expression names. Local references are resolved to what they refer to.
std::optional<Place> placeOf(const clang::Expr *expression, const clang::ASTContext &context);

/// True if writing `written` changes all or a part of `read`.
bool overlaps(const Place &written, const Place &read);
/// The steps from `written` to `read`, if `read` is `written` or a part of it; otherwise nothing.
std::optional<std::vector<PlaceStep>> partOf(const Place &written, const Place &read);

/// The expression without implicit nodes, casts and parentheses.
const clang::Expr *strip(const clang::Expr *expression);

} // namespace kopt::frontend
