// SPDX-License-Identifier: Apache-2.0
// Collects, in one walk over a unit, facts about its host code: launches, callers of functions, and
// the values of variables that can hold kernels.
#pragma once

#include "clang_plugin/parse/SourceIndex.h"

#include <clang/AST/ExprCXX.h>
#include <map>
#include <set>
#include <vector>

namespace kopt::frontend {

struct CallSite {
  const clang::CallExpr *call = nullptr;
  /// The outermost enclosing function; null outside of any.
  const clang::FunctionDecl *caller = nullptr;
};

/// A launch as written, in any form.
struct LaunchCall {
  enum class Form { Chevrons, Runtime, RuntimeConfig, Driver, GraphNode };
  Form form = Form::Chevrons;
  const clang::CallExpr *call = nullptr;
  const clang::FunctionDecl *host = nullptr; ///< the outermost enclosing function
  bool onDevice = false;                     ///< from a kernel
};

class HostCode {
public:
  explicit HostCode(const SourceIndex &index);

  const SourceIndex &index() const { return index_; }
  /// Every kernel's definition as written, in the order of the text.
  const std::vector<const clang::FunctionDecl *> &kernels() const { return kernels_; }
  const std::vector<const clang::FunctionDecl *> &instantiations() const { return instantiations_; }
  const std::vector<LaunchCall> &launches() const { return launches_; }

  const std::vector<CallSite> &callersOf(const clang::FunctionDecl *function) const;
  /// True if no other unit calls the function and it is not called through a pointer.
  bool knowsAllCallers(const clang::FunctionDecl *function) const;
  /// All values that a variable, parameter or field is given in this unit.
  std::vector<const clang::Expr *> valuesOf(const clang::ValueDecl *holder) const;

private:
  friend class HostCodeFinder;
  const SourceIndex &index_;
  std::vector<const clang::FunctionDecl *> kernels_, instantiations_;
  std::vector<LaunchCall> launches_;
  std::map<const clang::FunctionDecl *, std::vector<CallSite>> callers_;
  std::set<const clang::FunctionDecl *> addressTaken_;
  std::map<const clang::ValueDecl *, std::vector<const clang::Expr *>> values_;
  bool hasMain_ = false;
};

/// The definition as written of a kernel or of an instantiation; null if it is in another unit.
const clang::FunctionDecl *patternOf(const clang::FunctionDecl *function);

} // namespace kopt::frontend
