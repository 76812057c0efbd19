// SPDX-License-Identifier: Apache-2.0
// How people name kernels, on the command line, in kopt.toml and in messages.
#pragma once

#include "driver/model/KernelSpec.h"

#include <string>

namespace kopt {

/// "ns::scale<float, 4>" of a mangled kernel name: without result type, parameters and unnamed
/// namespaces; any other text as it is.
std::string kernelName(const std::string &symbol);

/// Whether a name or a glob (Glob.h) means the kernel of this name, which may be mangled. It is
/// compared with the symbol and with "ns::scale<float, 4>", "scale<float, 4>", "ns::scale" and
/// "scale"; blanks do not count.
bool namesKernel(const std::string &pattern, const std::string &name);

/// Whether two symbols are one kernel's: what only its file sees is mangled otherwise by nvcc than
/// by Clang. Kernels of equal signature that several files keep to themselves are taken for one.
bool isSameKernel(const std::string &symbol, const std::string &other);

/// Whether it means this instantiation, as the source or as the symbol spells it. Null: the kernel
/// has none, so its name alone counts.
bool namesKernel(const std::string &pattern, const KernelSpec &kernel,
                 const Specialization *specialization);

} // namespace kopt
