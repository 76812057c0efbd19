// SPDX-License-Identifier: Apache-2.0
// What the values in a kernel are made of, and names for them that do not depend on how they are
// spelled.
#pragma once

#include "clang_plugin/analysis/KernelFacts.h"

#include <set>

namespace kopt::frontend {

/// What goes into a value, through variables and helpers' parameters too.
struct Ingredients {
  bool thread = false;   ///< threadIdx
  bool block = false;    ///< blockIdx
  bool argument = false; ///< a parameter of the kernel, gridDim
  bool blockDim = false;
  bool data = false;    ///< what is read through pointers or called for
  bool several = false; ///< a variable that gets values at several places, as loops' do
  /// The largest magnitude of a constant in it; a floating-point one other than 0 counts as 2.
  unsigned long long largest = 0;
  std::set<double> numbers;      ///< the constants in it
  std::set<unsigned> parameters; ///< of the kernel, by their position

  bool isConstant() const { return !thread && !block && !argument && !blockDim && !data; }
  bool isThreadAlone() const { return !block && !argument && !data && !several; }
};

/// A condition by its name: `!(a > 3)`, `3 >= a` and `a < 4` are one name, the first two negated or
/// not.
struct NamedCondition {
  std::string name;
  bool negated = false;
  /// A name of the outcome.
  std::string when(bool outcome) const { return (outcome == negated ? "!" : "") + name; }
};

class Values {
public:
  explicit Values(const KernelFacts &facts);

  Ingredients of(const clang::Stmt *expression) const;
  /// Whether the value is 0 or more whatever the launch is, short of overflow: sums and products of
  /// coordinates and sizes.
  bool isNeverNegative(const clang::Expr *expression) const;

  /// What a local variable is given, where that happens once; null for others.
  const clang::Expr *onlySource(const clang::VarDecl *variable) const;

  /// Parameters by their position, locals by what is assigned to them, those that hold data by
  /// their declaration.
  std::string name(const clang::Expr *value) const;
  NamedCondition condition(const clang::Expr *condition) const;

private:
  /// What a variable may hold.
  struct Sources {
    std::vector<const clang::Expr *> values;
    bool escapes = false; ///< it may change where nobody sees it
  };
  using Variables =
      llvm::SmallPtrSet<const clang::Decl *, 8>; ///< and functions, that are being looked into

  void collect(const BodyView &body, const clang::Stmt *statement);
  void collectArguments(const clang::FunctionDecl *callee,
                        llvm::ArrayRef<const clang::Expr *> arguments);
  const clang::Expr *memoryOf(const clang::Expr *element) const;
  bool isKernelParameter(const clang::VarDecl *variable) const;
  void gather(const clang::Stmt *expression, Ingredients &found, Variables &seen) const;
  bool isNeverNegative(const clang::Expr *expression, long long &factor, Variables &seen) const;
  std::string name(const clang::Expr *value, Variables &open) const;
  std::string nameOf(const clang::VarDecl *variable, Variables &open) const;
  std::string spelled(const clang::Expr *value, Variables &open) const;
  NamedCondition condition(const clang::Expr *condition, Variables &open) const;

  const KernelView &view_;
  llvm::DenseMap<const clang::VarDecl *, Sources> sources_;
  mutable llvm::DenseMap<const clang::VarDecl *, std::string>
      names_; ///< of those that are not made of themselves
};

} // namespace kopt::frontend
