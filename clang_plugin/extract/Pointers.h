// SPDX-License-Identifier: Apache-2.0
// Finds where the pointers that a launch passes come from, so that pointers into the same memory
// are recognised however they are spelled.
#pragma once

#include "clang_plugin/extract/Geometry.h"

namespace kopt::frontend {

class PointerReader {
public:
  /// `numbers` reads the offsets; it must be for the launch at `launch` in `function`.
  PointerReader(UnitFlow &flows, const clang::ASTContext &context, GeometryReader &numbers,
                const clang::FunctionDecl *function, const clang::Expr *launch)
      : flows_(flows), context_(context), numbers_(numbers), flow_(flows.of(function)),
        launch_(launch) {}

  /// The origin of an argument of the launch. It has no root if the argument is not a pointer or
  /// its origin cannot be named.
  PointerOrigin read(const clang::Expr *argument);

private:
  /// `root` plus an offset in bytes; without offset if it is not known.
  struct Pointer {
    std::string root;
    std::optional<std::string> offset = "0";
    bool operator==(const Pointer &) const = default;
  };
  using Found = std::optional<Pointer>;
  using Steps = std::vector<PlaceStep>;

  Found value(const clang::Expr *expression, const clang::Stmt *point);
  Found loaded(const clang::Expr *lvalue, const clang::Stmt *point);
  Found addressOf(const clang::Expr *lvalue, const clang::Stmt *point);
  Found part(const clang::Expr *object, const Steps &steps, const clang::Stmt *point);
  Found constructed(const clang::CXXConstructExpr *construction, const Steps &steps,
                    const clang::Stmt *point);
  Found held(const Place &place, const clang::Stmt *point);
  Found defined(const Definition &definition, const Place &place, const clang::Stmt *point);
  Found called(const clang::CallExpr *call, const clang::Stmt *point);
  std::optional<Place> returnedField(const clang::FunctionDecl &accessor,
                                     const clang::Expr *object) const;
  Found dataOf(const clang::Expr *object, const std::string &accessor, const clang::Stmt *point);
  Found leaf(const Place &place, const clang::Stmt *point);
  Found agreed(Found one, const Found &other) const;

  Found moved(Found pointer, const clang::Expr *index, bool back, clang::QualType pointerType,
              const clang::Stmt *point);
  static Pointer movedBy(Pointer pointer, const std::string &bytes);
  std::string nameOf(const Place &place);
  std::string at(const clang::Stmt *point) const;

  UnitFlow &flows_;
  const clang::ASTContext &context_;
  GeometryReader &numbers_;
  const FunctionFlow *flow_;
  const clang::Expr *launch_;
  /// Different variables with the same name, such as the elements of a pack.
  std::map<std::string, std::vector<const clang::ValueDecl *>> named_;
  int depth_ = 0;
};

} // namespace kopt::frontend
