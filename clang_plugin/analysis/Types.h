// SPDX-License-Identifier: Apache-2.0
// How types, names and symbols of a kernel are written down.
#pragma once

#include "clang_plugin/output/Extraction.h"

#include <clang/AST/Decl.h>

namespace kopt::frontend {

KernelParam describeParam(const clang::ParmVarDecl &parameter);

/// Of a variable that the device has under a name of its own. Nothing where its elements cannot be
/// filled and compared, or the variable is a template's.
std::optional<ConstantVariable> describeConstantVariable(const clang::VarDecl &variable);

/// "ns::stencil<float, 4>"; the qualified name for a plain kernel.
std::string expressionOf(const clang::FunctionDecl &specialization);

/// Template arguments in order, packs flattened; `range` is left empty.
std::vector<TemplateArg> templateArgsOf(const clang::FunctionDecl &specialization);

/// The outermost function whose body declares a type among the template arguments (a lambda's, a
/// local class's); null where there is none.
const clang::FunctionDecl *enclosingFunction(const clang::FunctionDecl &specialization);

/// The name by which code can ask for the function to be emitted; empty where it is emitted
/// unasked.
std::string instantiationOf(const clang::FunctionDecl &function);

/// As Clang mangles it; nvcc differs for what only one file sees.
std::string symbolOf(const clang::FunctionDecl &kernel);

/// Qualified, without what code cannot write (anonymous and inline namespaces).
std::string writtenName(const clang::NamedDecl &declaration);

} // namespace kopt::frontend
