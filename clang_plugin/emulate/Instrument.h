// SPDX-License-Identifier: Apache-2.0
// Two passes over the LLVM module of an emulated kernel. prepareModule() runs before the optimiser:
// it prevents shared and device variables from being optimised as if only one thread used them.
// instrumentModule() runs after it, on what a GPU would execute, and reports every access, block
// and synchronisation to the runtime.
#pragma once

#include "clang_plugin/emulate/ModulePlan.h"

namespace llvm {
class Module;
}

namespace kopt::frontend::emulate {

void prepareModule(llvm::Module &module, ModulePlan &plan);
void instrumentModule(llvm::Module &module, ModulePlan &plan);

} // namespace kopt::frontend::emulate
