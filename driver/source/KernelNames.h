// SPDX-License-Identifier: Apache-2.0
// Names of kernels on the command line, in kopt.toml and in messages.
#pragma once

#include "driver/model/KernelSpec.h"

#include <string>

namespace kopt {

/// The readable name of a mangled kernel name, "ns::scale<float, 4>": without result type,
/// parameters and unnamed namespaces. Returns any other text unchanged.
std::string kernelName(const std::string &symbol);

/// True if a name or a glob (Glob.h) matches the kernel of this name, which may be mangled. The
/// pattern is compared with the symbol and with "ns::scale<float, 4>", "scale<float, 4>",
/// "ns::scale" and "scale"; blanks are ignored.
bool namesKernel(const std::string &pattern, const std::string &name);

/// True if two symbols name the same kernel: nvcc and Clang mangle file-local kernels differently.
/// File-local kernels of several files with the same signature count as the same.
bool isSameKernel(const std::string &symbol, const std::string &other);

/// True if the pattern matches this instantiation, by its expression or its symbol. If
/// `specialization` is null, only the kernel's name is compared.
bool namesKernel(const std::string &pattern, const KernelSpec &kernel,
                 const Specialization *specialization);

} // namespace kopt
