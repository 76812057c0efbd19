// SPDX-License-Identifier: Apache-2.0
// Describes types, names and symbols of a kernel.
#pragma once

#include "clang_plugin/output/Extraction.h"

#include <clang/AST/Decl.h>

namespace kopt::frontend {

struct ParamLayout {
  std::uint64_t size = 0, align = 0; ///< in bytes
};

/// How nvcc passes the parameter. A `__host__ __device__` lambda with captures is passed in a
/// struct
/// (`__nv_hdl_wrapper_t`) that has a pointer to the host's copy of the lambda after the captures;
/// everything else as its type is.
ParamLayout layoutOf(const clang::ParmVarDecl &parameter);

KernelParam describeParam(const clang::ParmVarDecl &parameter);

/// Describes a __constant__ variable that has its own symbol on the device. Nothing if its elements
/// cannot be filled and compared, or if it is a template's.
std::optional<ConstantVariable> describeConstantVariable(const clang::VarDecl &variable);

/// "ns::stencil<float, 4>"; the qualified name for a plain kernel.
std::string expressionOf(const clang::FunctionDecl &specialization);

/// Template arguments in order, packs flattened; `range` is left empty.
std::vector<TemplateArg> templateArgsOf(const clang::FunctionDecl &specialization);

/// The outermost function whose body declares a type among the template arguments (a lambda's, a
/// local class's); null if there is none.
const clang::FunctionDecl *enclosingFunction(const clang::FunctionDecl &specialization);

/// The explicit instantiation that makes the compiler emit the function; empty if none is needed.
std::string instantiationOf(const clang::FunctionDecl &function);

/// The name as Clang mangles it. nvcc's name differs for functions with internal linkage.
std::string symbolOf(const clang::FunctionDecl &kernel);

/// The qualified name, without parts that code cannot write (anonymous and inline namespaces).
std::string writtenName(const clang::NamedDecl &declaration);

} // namespace kopt::frontend
