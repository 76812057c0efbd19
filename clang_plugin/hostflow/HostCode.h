// SPDX-License-Identifier: Apache-2.0
// What one walk over a unit collects about its host code: launches, who calls whom, and what
// variables that can hold kernels are given.
#pragma once

#include "clang_plugin/parse/SourceIndex.h"

#include <clang/AST/ExprCXX.h>
#include <map>
#include <set>
#include <vector>

namespace kopt::frontend {

struct CallSite {
  const clang::CallExpr *call = nullptr;
  const clang::FunctionDecl *caller = nullptr; ///< the outermost function around; null outside any
};

/// A launch as it is written, whatever way.
struct LaunchCall {
  enum class Form { Chevrons, Runtime, RuntimeConfig, Driver, GraphNode };
  Form form = Form::Chevrons;
  const clang::CallExpr *call = nullptr;
  const clang::FunctionDecl *host = nullptr; ///< the outermost function around
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
  /// No other unit calls it, and none of its callers is hidden behind a pointer.
  bool knowsAllCallers(const clang::FunctionDecl *function) const;
  /// Everything that a variable, parameter or field is given in this unit.
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

/// The definition as written of a kernel or of an instantiation; null where it is elsewhere.
const clang::FunctionDecl *patternOf(const clang::FunctionDecl *function);

} // namespace kopt::frontend
