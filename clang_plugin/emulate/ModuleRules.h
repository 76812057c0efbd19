// SPDX-License-Identifier: Apache-2.0
// Checks for what a module must not contain: everything through which a candidate could affect the
// host, and everything that would be emulated wrongly without notice.
#pragma once

#include "clang_plugin/emulate/ModulePlan.h"

#include <llvm/ADT/StringRef.h>

namespace llvm {
class DILocation;
class Instruction;
class Module;
} // namespace llvm

namespace kopt::frontend::emulate {

/// The function through which emulated code calls function pointers.
inline constexpr llvm::StringLiteral kTrampoline = "kopt_emulated_call";

/// True if an instruction comes from kopt's own headers.
bool isOfHeaders(const llvm::Instruction &instruction, const ModulePlan &plan);
/// The location of an instruction in the user's text: for code in kopt's own headers and
/// those of the system, the line that called it. Null if it is not known.
const llvm::DILocation *userLocation(const llvm::Instruction &instruction, const ModulePlan &plan);
/// The user location as text: "FILE:LINE", or "an unknown line".
std::string placeOf(const llvm::Instruction &instruction, const ModulePlan &plan);

/// True for a mathematical function of the C library, which emulated code calls directly.
bool isMathFunction(llvm::StringRef name);

/// Checks, before the optimiser, for sections, constructors, module assembly and names that are
/// reserved for the runtime.
void checkDeclarations(const llvm::Module &module, ModulePlan &plan);
/// Checks calls, intrinsics, assembly and indirect calls, after the optimiser and before the
/// instrumentation.
void checkInstructions(const llvm::Module &module, ModulePlan &plan);

} // namespace kopt::frontend::emulate
