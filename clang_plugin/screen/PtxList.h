// SPDX-License-Identifier: Apache-2.0
// Which inline PTX a candidate may bring: arithmetic, memory and synchronization, as a kernel in
// C++ has them. What tells the time or the place on the chip, and what is not known, is refused.
#pragma once

#include <llvm/ADT/StringRef.h>

#include <optional>
#include <string>

namespace kopt::frontend {

/// In place of a text that is not known before the program is compiled.
inline constexpr const char *kUnreadablePtx = "%?";

/// The first thing in an asm statement's text that is not on the list, as it is named in a message:
/// "the instruction 'discard.global.L2'", "the register '%clock64'". Nothing where all of it is.
std::optional<std::string> refusedPtx(llvm::StringRef text);

/// What is said of it.
std::string refusedPtxMessage(const std::string &refused);

/// Whether the text has instructions at all: without any it is a barrier for the compiler.
bool hasPtx(llvm::StringRef text);

/// Whether code may read the special register: "tid.x", "lanemask_lt", without '%'.
bool isKnownRegister(llvm::StringRef name);

} // namespace kopt::frontend
