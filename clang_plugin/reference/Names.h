// SPDX-License-Identifier: Apache-2.0
// The names of narrow floating-point types and functions, and what replaces them in a clone.
#pragma once

#include <llvm/ADT/StringRef.h>
#include <string>

namespace kopt::frontend {

/// Blocks of definitions that are added to a clone if it needs them: the files of precise/, in the
/// order of CMakeLists.txt.
enum class Helper { None, Vector4, Memory, Arithmetic, Small };

struct NewName {
  std::string text;             ///< replaces the name
  Helper helper = Helper::None; ///< the block that defines it
};

/// The name of a type, function or macro in the clone; null if it keeps its name.
const NewName *newNameOf(llvm::StringRef name);

/// The text of a block, ending in a newline.
llvm::StringRef helperText(Helper helper);

/// True for functions that read the bits of a narrow number, or make one from bits.
bool readsBits(llvm::StringRef function);

/// True for functions that round a narrow number to an integer.
bool makesInteger(llvm::StringRef function);

} // namespace kopt::frontend
