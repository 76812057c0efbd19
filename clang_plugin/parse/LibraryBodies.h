// SPDX-License-Identifier: Apache-2.0
// Bodies of library functions that a parse may leave out; see ParseRequest::skipLibraryBodies.
#pragma once

#include <clang/Frontend/CompilerInvocation.h>
#include <string>
#include <vector>

namespace kopt::frontend {

/// Folders of headers that are no user's, without links in their names, each ending in '/'. One
/// that the user names with -isystem is not among them: it may hold helpers that the reading of
/// launches looks into.
struct LibraryFolders {
  std::vector<std::string> system; ///< the C and C++ libraries, Clang's own headers
  std::string toolkit;             ///< its include folder; empty without one
};

LibraryFolders libraryFolders();

/// Must be called, where it is wanted, before the parse: the part that is asked about each body
/// joins such a parse and no other.
void leaveOutLibraryBodies(clang::CompilerInvocation &invocation);

} // namespace kopt::frontend
