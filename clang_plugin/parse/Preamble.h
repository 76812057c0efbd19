// SPDX-License-Identifier: Apache-2.0
// The headers that a text starts with, parsed once: Clang's precompiled header of them is kept in
// the user's cache folder, for every later parse with the same flags, of this process or another.
#pragma once

#include <llvm/ADT/IntrusiveRefCntPtr.h>
#include <llvm/Support/VirtualFileSystem.h>

#include <optional>
#include <string>

namespace clang {
class CompilerInvocation;
}

namespace kopt::frontend {

/// The folder in which Clang sees kopt's own virtual headers: the embedded shims, and the macros of
/// the command line where they have to come late.
inline constexpr const char *kShimFolder = "/kopt-virtual/shim";
inline constexpr const char *kMacroHeader = "kopt_late_macros.h";

/// Makes `invocation` begin behind its forced includes and the `#include <...>` lines that `text`
/// starts with, from a precompiled header that is made first where there is none. Returns what to
/// parse in place of `text`: the same bytes, those lines blank. Nothing, and `invocation` is as it
/// was, where that cannot be had: no cache folder, headers with errors, forced includes of the
/// user's.
///
/// Clang checks the size and time of every header it took; where one has changed since, the parse
/// ends in a fatal error. So a parse that fails is done once more without this, and where that goes
/// better, dropPreamble() is called.
std::optional<std::string>
usePreamble(clang::CompilerInvocation &invocation, llvm::StringRef text,
            const llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> &files);

/// Removes the precompiled header that `invocation` begins with, so that the next parse makes a new
/// one.
void dropPreamble(const clang::CompilerInvocation &invocation);

} // namespace kopt::frontend
