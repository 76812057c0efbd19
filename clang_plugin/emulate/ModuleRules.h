// SPDX-License-Identifier: Apache-2.0
// What a module may not contain if the emulated device is to run it: everything through which a
// candidate could act on the host, and what the emulation would silently get wrong.
#pragma once

#include "clang_plugin/emulate/Instrument.h"

#include <llvm/ADT/StringRef.h>

namespace llvm {
class DILocation;
class Instruction;
class Module;
} // namespace llvm

namespace kopt::frontend::emulate {

/// Through which emulated code calls function pointers.
inline constexpr llvm::StringLiteral kTrampoline = "kopt_emulated_call";

/// Whether an instruction is written in kopt's own headers.
bool isOfHeaders(const llvm::Instruction &instruction, const ModulePlan &plan);
/// Where an instruction stands in the user's text: a line of kopt's own headers says nothing to the
/// user, the line that called into them does. Null where that is not known.
const llvm::DILocation *userLocation(const llvm::Instruction &instruction, const ModulePlan &plan);
/// The same in words: "FILE:LINE", or "an unknown line".
std::string placeOf(const llvm::Instruction &instruction, const ModulePlan &plan);

/// A mathematical function of the C library, which emulated code calls as it is.
bool isMathFunction(llvm::StringRef name);

/// Before the optimiser: sections, constructors, module assembly, names reserved for the runtime.
void checkDeclarations(const llvm::Module &module, ModulePlan &plan);
/// After the optimiser, before the instrumentation: calls, intrinsics, assembly, indirect calls.
void checkInstructions(const llvm::Module &module, ModulePlan &plan);

} // namespace kopt::frontend::emulate
