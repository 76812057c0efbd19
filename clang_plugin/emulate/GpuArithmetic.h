// SPDX-License-Identifier: Apache-2.0
// Arithmetic that C++ leaves undefined and a GPU does not: shifts by the width of their operand and
// more, and conversions of what an integer cannot hold.
#pragma once

namespace llvm {
class Function;
class Instruction;
} // namespace llvm

namespace kopt::frontend::emulate {

/// Before the optimiser, which would make anything of it: as the instructions that nvcc makes of it
/// compute it.
void defineArithmetic(llvm::Function &function);

/// Whether defineArithmetic() put it there: what a GPU's own instruction does besides.
bool isPartOfGpuInstruction(const llvm::Instruction &instruction);

} // namespace kopt::frontend::emulate
