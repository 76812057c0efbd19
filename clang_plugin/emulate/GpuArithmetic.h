// SPDX-License-Identifier: Apache-2.0
// Arithmetic that is undefined in C++ but defined on a GPU: shifts by the operand's width or more,
// and conversions of values that an integer cannot hold.
#pragma once

namespace llvm {
class Function;
class Instruction;
} // namespace llvm

namespace kopt::frontend::emulate {

/// Gives such arithmetic the results of the instructions that nvcc generates. Must run before the
/// optimiser, which exploits undefined behaviour.
void defineArithmetic(llvm::Function &function);

/// True if the instruction has that annotation.
bool hasAnnotation(const llvm::Instruction &instruction, const char *text);

/// True if defineArithmetic() inserted the instruction; it then belongs to another instruction of a
/// GPU and is not counted.
bool isPartOfGpuInstruction(const llvm::Instruction &instruction);

} // namespace kopt::frontend::emulate
