// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/emulated/module/ModuleFormat.h"

namespace llvm {
class BasicBlock;
}

namespace kopt::frontend::emulate {

/// What a GPU would issue for one execution of the block. LLVM's optimised instructions are close
/// to SASS for arithmetic; what SASS expands (divisions, square roots, transcendental functions) is
/// counted with the length of the expansion.
runtime::emulated::BlockInfo countInstructions(const llvm::BasicBlock &block);

} // namespace kopt::frontend::emulate
