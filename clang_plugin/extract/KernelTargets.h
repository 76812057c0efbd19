// SPDX-License-Identifier: Apache-2.0
// Which kernels an expression can name: through pointer variables, tables, parameters, choices.
#pragma once

#include "clang_plugin/hostflow/HostCode.h"
#include "clang_plugin/hostflow/HostFlow.h"

namespace kopt::frontend {

struct KernelTarget {
  const clang::FunctionDecl *kernel = nullptr;
  /// Where it is named, with its explicit template arguments.
  const clang::DeclRefExpr *reference = nullptr;
  /// Where the kernel is a parameter of the launching function: the calls that give this one.
  std::set<const clang::CallExpr *> callers;
};

struct KernelTargets {
  std::vector<KernelTarget> kernels;
  std::string problem; ///< what could not be followed; there may be more kernels then
};

/// `field`: of the struct that `expression` is or points to; empty where it is the kernel itself.
KernelTargets followKernel(const HostCode &code, UnitFlow &flows, const LaunchCall &site,
                           const clang::Expr *expression, const std::string &field);

} // namespace kopt::frontend
