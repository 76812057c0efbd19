// SPDX-License-Identifier: Apache-2.0
// Two passes over the LLVM module of an emulated kernel. prepareModule() runs before the optimiser:
// it keeps shared and device variables from being optimised as if one thread owned them.
// instrumentModule() runs after it: what is left is what a GPU would execute, and every access,
// block and synchronisation of it is reported to the runtime.
#pragma once

#include <string>
#include <vector>

namespace llvm {
class Module;
}

namespace kopt::frontend::emulate {

struct ModulePlan {
  std::string kernel;          ///< mangled name of the kernel that is kept
  std::string headerDirectory; ///< kopt's own headers: no finding is ever reported there
  struct Parameter {
    unsigned long long bytes, alignment;
  };
  std::vector<Parameter> parameters;
  unsigned maxThreads = 0;         ///< of __launch_bounds__
  std::vector<std::string> errors; ///< filled by the passes: what cannot be emulated, with its line
};

void prepareModule(llvm::Module &module, ModulePlan &plan);
void instrumentModule(llvm::Module &module, ModulePlan &plan);

} // namespace kopt::frontend::emulate
