// SPDX-License-Identifier: Apache-2.0
// Which inline PTX a candidate may use: arithmetic, memory and synchronization, as in CUDA C++.
// Whatever tells the time or where on the chip code runs is refused, and so is all unknown PTX.
#pragma once

#include <llvm/ADT/StringRef.h>

#include <optional>
#include <string>

namespace kopt::frontend {

/// Stands for the text of an asm statement that is not known before the program is compiled.
inline constexpr const char *kUnreadablePtx = "%?";

/// The first thing in an asm statement's text that is not on the list, worded for a message:
/// "the instruction 'discard.global.L2'", "the register '%clock64'". Nothing if all is on the list.
std::optional<std::string> refusedPtx(llvm::StringRef text);

/// The message that reports what refusedPtx() returned.
std::string refusedPtxMessage(const std::string &refused);

/// True if the text has statements. An asm statement without any is only a compiler barrier.
bool hasPtx(llvm::StringRef text);

/// True if code may read the special register, named without '%': "tid.x", "lanemask_lt".
bool isKnownRegister(llvm::StringRef name);

} // namespace kopt::frontend
