// SPDX-License-Identifier: Apache-2.0
// One CUDA translation unit, parsed by Clang from nvcc's flags. Every tool in clang_plugin parses
// through here, so that the shims, the toolkit search and the tolerated diagnostics are decided in
// one place.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace clang {
class ASTUnit;
}

namespace kopt::frontend {

class FileRecord;

enum class Pass { Host, Device };

struct ParseRequest {
  std::string file;                   ///< path; the name of the virtual file if `content` is set
  std::optional<std::string> content; ///< instead of the file on disk
  std::vector<std::string> nvccFlags; ///< as the user's compile command has them; translated here
  std::string directory;              ///< to which relative paths refer
  Pass pass = Pass::Device;
  /// Defines the command line's macros after the CUDA headers that Clang includes by itself, which
  /// are more than nvcc includes. parseCuda() tries this if a macro such as -DN=4 breaks one of
  /// them.
  bool lateMacros = false;
  /// Leaves out bodies of toolkit and C++ library functions that the pass cannot need: of plain
  /// functions, and of templates that run on the other side only. Twice as fast if headers are
  /// large; not for callers that follow the kernel's calls into the library.
  bool skipLibraryBodies = false;
  FileRecord *files = nullptr; ///< if set, records every file that is read or looked for
};

struct Diagnostic {
  std::string severity; ///< error, fatal, warning, note
  std::string file, message;
  unsigned line = 0, column = 0;
  bool inSystemHeader = false;

  /// "file:line:column", or as much of it as is known.
  std::string place() const;
};

/// The first error or fatal error; null if there is none.
const Diagnostic *firstErrorOf(const std::vector<Diagnostic> &diagnostics);

struct ParsedUnit {
  std::unique_ptr<clang::ASTUnit> ast; ///< null only after a fatal error
  std::vector<Diagnostic> diagnostics;
  std::vector<std::string>
      notes; ///< flags that were skipped, "no CUDA toolkit: using kopt's declarations"
  bool hasErrors =
      false; ///< non-fatal errors: the AST is usable, damaged declarations are marked invalid

  /// The first error that makes this unit useless to callers whose text nvcc compiles: one outside
  /// system headers, or a fatal one. Null if there is none; then `ast` is not null.
  const Diagnostic *problem() const;
};

/// Never fails silently: if `ast` is null, the diagnostics say why.
ParsedUnit parseCuda(const ParseRequest &request);

/// The command line arguments that parseCuda gives to Clang, for tests and `--print-clang-args`.
std::vector<std::string> clangArguments(const ParseRequest &request,
                                        std::vector<std::string> &notes);

} // namespace kopt::frontend
