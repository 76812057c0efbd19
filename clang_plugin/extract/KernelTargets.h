// SPDX-License-Identifier: Apache-2.0
// Finds the kernels that an expression can name, through pointer variables, tables, parameters and
// choices.
#pragma once

#include "clang_plugin/hostflow/HostCode.h"
#include "clang_plugin/hostflow/HostFlow.h"

namespace kopt::frontend {

struct KernelTarget {
  const clang::FunctionDecl *kernel = nullptr;
  /// The expression that names it, with its explicit template arguments.
  const clang::DeclRefExpr *reference = nullptr;
  /// If the kernel is a parameter of the launching function: the calls that pass this kernel.
  std::set<const clang::CallExpr *> callers;
};

struct KernelTargets {
  std::vector<KernelTarget> kernels;
  std::string problem; ///< what could not be followed; if not empty, there may be more kernels
};

/// `field`: the member that holds the kernel, if `expression` is a struct or a pointer to one;
/// empty if it is the kernel itself.
KernelTargets followKernel(const HostCode &code, UnitFlow &flows, const LaunchCall &site,
                           const clang::Expr *expression, const std::string &field);

} // namespace kopt::frontend
