// SPDX-License-Identifier: Apache-2.0
// Determines what the values in a kernel are made of, and gives them names that do not depend on
// their spelling.
#pragma once

#include "clang_plugin/analysis/KernelFacts.h"

#include <set>

namespace kopt::frontend {

/// What a value is computed from, also through variables and parameters of helpers.
struct Ingredients {
  bool thread = false;   ///< threadIdx
  bool block = false;    ///< blockIdx
  bool argument = false; ///< a parameter of the kernel, or gridDim
  bool blockDim = false;
  bool data = false;    ///< a value read through a pointer or returned by a call
  bool several = false; ///< a variable that is assigned at several places, such as a loop variable
  /// The largest magnitude of a constant in it; a floating-point one other than 0 counts as 2.
  unsigned long long largest = 0;
  std::set<double> numbers;      ///< the constants in it
  std::set<unsigned> parameters; ///< positions of the kernel's parameters in it

  bool isConstant() const { return !thread && !block && !argument && !blockDim && !data; }
  bool isThreadAlone() const { return !block && !argument && !data && !several; }
};

/// The name of a condition: `!(a > 3)`, `3 >= a` and `a < 4` have the same name, and `negated`
/// accounts for negation.
struct NamedCondition {
  std::string name;
  bool negated = false;
  /// The name of an outcome of the condition.
  std::string when(bool outcome) const { return (outcome == negated ? "!" : "") + name; }
};

class Values {
public:
  explicit Values(const KernelFacts &facts);

  Ingredients of(const clang::Stmt *expression) const;
  /// True if the value is at least 0 in any launch, apart from overflow: sums and products of
  /// coordinates and sizes.
  bool isNeverNegative(const clang::Expr *expression) const;

  /// The value that a local variable is given, if that happens only once; otherwise null.
  const clang::Expr *onlySource(const clang::VarDecl *variable) const;

  /// The name of a value: parameters are named by position, locals by what is assigned to them, and
  /// locals that hold data by their declaration.
  std::string name(const clang::Expr *value) const;
  NamedCondition condition(const clang::Expr *condition) const;

private:
  /// What a variable may hold.
  struct Sources {
    std::vector<const clang::Expr *> values;
    bool escapes = false; ///< it may change in ways that are not tracked
  };
  /// Variables and functions that are being examined.
  using Variables = llvm::SmallPtrSet<const clang::Decl *, 8>;

  void collect(const BodyView &body, const clang::Stmt *statement);
  void collectArguments(const clang::FunctionDecl *callee,
                        llvm::ArrayRef<const clang::Expr *> arguments);
  void addSource(const clang::VarDecl *variable, const clang::Expr *value);
  const clang::Expr *asGuarded(const BodyView &body, const clang::Stmt *statement,
                               const clang::Expr *value) const;
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
  /// Names of variables that are not computed from themselves.
  mutable llvm::DenseMap<const clang::VarDecl *, std::string> names_;
};

} // namespace kopt::frontend
