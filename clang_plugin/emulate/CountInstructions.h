// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/emulated/module/ModuleFormat.h"

namespace llvm {
class BasicBlock;
}

namespace kopt::frontend::emulate {

/// The instructions that a GPU would issue for one execution of the block. For arithmetic, LLVM's
/// optimised instructions are close to SASS; operations that SASS expands (divisions, square roots,
/// transcendental functions) count with the length of the expansion.
runtime::emulated::BlockInfo countInstructions(const llvm::BasicBlock &block);

} // namespace kopt::frontend::emulate
