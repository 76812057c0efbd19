// SPDX-License-Identifier: Apache-2.0
// Two passes over the LLVM module of an emulated kernel. prepareModule() runs before the optimiser:
// it prevents shared and device variables from being optimised as if only one thread used them.
// instrumentModule() runs after it, on what a GPU would execute, and reports every access, block
// and synchronisation to the runtime.
#pragma once

#include <string>
#include <vector>

namespace llvm {
class Module;
}

namespace kopt::frontend::emulate {

struct ModulePlan {
  std::string kernel;          ///< mangled name of the kernel that is kept
  std::string headerDirectory; ///< kopt's own headers, in which no finding is reported
  struct Parameter {
    unsigned long long bytes, alignment;
  };
  std::vector<Parameter> parameters;
  unsigned maxThreads = 0;         ///< from __launch_bounds__
  std::vector<std::string> errors; ///< set by the passes: what cannot be emulated, with its line
  bool isLimit = false;            ///< Clang refuses what cannot be emulated either
};

void prepareModule(llvm::Module &module, ModulePlan &plan);
void instrumentModule(llvm::Module &module, ModulePlan &plan);

} // namespace kopt::frontend::emulate
