// SPDX-License-Identifier: Apache-2.0
// A launch configuration as integer expressions in C syntax, whose leaves are numbers, named
// constants and host variables. Looks through local variables, dim3, helper functions and macros.
#pragma once

#include "clang_plugin/extract/Constants.h"

#include <array>
#include <clang/AST/Expr.h>
#include <functional>
#include <map>
#include <set>

namespace kopt::frontend {

/// Which variables of a function hold what they were initialised with.
struct FunctionFacts {
  std::set<const clang::VarDecl *> modified;
  /// dim3 members assigned one by one: variable, member, and the values in source order.
  std::map<std::pair<const clang::VarDecl *, std::string>,
           std::vector<const clang::BinaryOperator *>>
      memberAssignments;
  std::set<const clang::Stmt *> straightLine; ///< statements of the function's outermost block
};

FunctionFacts factsOf(const clang::FunctionDecl &function);

class GeometryReader {
public:
  /// `keep`: variables that stay leaves, because the launch passes them to the kernel. `onConstant`
  /// is told of each named constant that becomes a leaf and gives the name it goes by, or nothing
  /// if its number must stand instead.
  GeometryReader(const SourceIndex &index, const FunctionFacts &facts,
                 std::set<const clang::VarDecl *> keep,
                 std::function<std::optional<std::string>(const ConstantInfo &)> onConstant)
      : index_(index), facts_(facts), keep_(std::move(keep)), constants_(index),
        onConstant_(std::move(onConstant)) {}

  std::optional<std::string> scalar(const clang::Expr *expression);
  /// x, y, z of a dim3, or of an integer that becomes one.
  std::optional<std::array<std::string, 3>> extent(const clang::Expr *expression);
  /// True once a leaf was a variable of the host program.
  bool usesHostVariables() const { return usesHostVariables_; }

private:
  std::optional<std::string> variable(const clang::VarDecl *variable);
  std::optional<std::string> call(const clang::CallExpr *call);
  std::optional<std::string> ceiling(const clang::Expr *argument);
  std::optional<std::string> member(const clang::MemberExpr *member);
  std::optional<std::array<std::string, 3>> extentOf(const clang::VarDecl *variable);
  /// Runs `read` on the returned expression of a function with nothing but a return, its parameters
  /// bound.
  template <class Result>
  std::optional<Result>
  inlined(const clang::CallExpr *call,
          const std::function<std::optional<Result>(const clang::Expr *)> &read);

  const SourceIndex &index_;
  const FunctionFacts &facts_;
  std::set<const clang::VarDecl *> keep_;
  Constants constants_;
  std::function<std::optional<std::string>(const ConstantInfo &)> onConstant_;
  std::map<const clang::VarDecl *, std::string>
      bound_;                             ///< parameters of the helper being looked through
  std::set<const clang::VarDecl *> open_; ///< being expanded: stops self reference
  bool usesHostVariables_ = false;
  int depth_ = 0;
};

/// Without implicit nodes, casts and parentheses: what the user wrote.
const clang::Expr *strip(const clang::Expr *expression);

} // namespace kopt::frontend
