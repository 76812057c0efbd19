// SPDX-License-Identifier: Apache-2.0
// Bodies of library functions that a parse may leave out; see ParseRequest::skipLibraryBodies.
#pragma once

#include <clang/Frontend/CompilerInvocation.h>
#include <string>
#include <vector>

namespace kopt::frontend {

/// Folders of headers that are not the user's, with symbolic links resolved, each ending in '/'. A
/// folder that the user names with -isystem is not among them: it may contain helpers that kopt
/// follows to read launches.
struct LibraryFolders {
  std::vector<std::string> system; ///< the C and C++ libraries, Clang's own headers
  std::string toolkit;             ///< its include folder; empty without one
};

LibraryFolders libraryFolders();

/// Makes the parse of `invocation` leave out such bodies. Must be called before the parse.
void leaveOutLibraryBodies(clang::CompilerInvocation &invocation);

} // namespace kopt::frontend
