// SPDX-License-Identifier: Apache-2.0
// The names of narrow floating point and what they are called in a clone.
#pragma once

#include <llvm/ADT/StringRef.h>
#include <string>
#include <vector>

namespace kopt::frontend {

/// Definitions that a clone brings along, each a block of text.
enum class Helper { None, Vector4, Memory, Arithmetic, Small };

struct NewName {
  std::string text;             ///< what stands in its place
  Helper helper = Helper::None; ///< the block that defines it
};

/// What a type, a function or a macro is called in the clone; null where it keeps its name.
const NewName *newNameOf(llvm::StringRef name);

/// The text of a block, with its last line's end.
llvm::StringRef helperText(Helper helper);

/// Calls that look at the bits of a narrow number, or make one of bits.
bool readsBits(llvm::StringRef function);

/// Calls that round a narrow number to an integer.
bool makesInteger(llvm::StringRef function);

} // namespace kopt::frontend
