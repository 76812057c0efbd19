// SPDX-License-Identifier: Apache-2.0
// What only the tokens of a text say: directives and comments are gone from the AST, and so is code
// that a conditional hides from this compiler.
#pragma once

#include "clang_plugin/output/Variants.h"

#include <llvm/ADT/StringRef.h>

#include <map>

namespace kopt::frontend {

struct SourceLine {
  std::string text; ///< tokens joined by single blanks
  unsigned line = 0;
};

struct SourceComment {
  std::string text;
  unsigned offset = 0, line = 0;
};

struct SourceFacts {
  std::vector<SourceLine> includes;     ///< `<vector>`, as spelled; #embed and #import too
  unsigned headEnd = 1;                 ///< the first line that is not an include, blank or comment
  std::vector<SourceLine> assembly;     ///< texts of asm statements, or kUnreadablePtx
  std::vector<SourceLine> conditionals; ///< #if, #ifdef, #ifndef, #elif and their like
  std::map<std::string, unsigned>
      conditions;                      ///< identifiers in conditionals, with their first line
  std::vector<SourceLine> pragmas;     ///< `unroll 4`; also from _Pragma("…")
  std::vector<SourceLine> lineMarkers; ///< #line and its like: `1 "a.cu"`
  std::vector<SourceLine>
      clusters; ///< `__cluster_dims__ ( 2 , 1 , 1 )`: Clang does not know the attribute
  std::map<std::string, SourceLine> macros; ///< body by name; #undef has the body "undef"
  std::map<std::string, unsigned>
      identifiers; ///< every identifier and keyword, with its first line
  std::vector<SourceComment> comments;
};

SourceFacts readSource(llvm::StringRef text);

/// Findings from tokens alone; they are valid even if the candidate does not parse.
void compareSources(const SourceFacts &baseline, const SourceFacts &candidate,
                    std::vector<ScreenFinding> &findings);

/// For candidates that do not parse: rejects refused inline PTX, and every name of a refused
/// facility (clocks, heap, …) that the baseline lacks.
void compareHazardNames(const SourceFacts &baseline, const SourceFacts &candidate,
                        std::vector<ScreenFinding> &findings);

/// True if a comment stands for code that was left out: "... rest unchanged".
bool isElision(llvm::StringRef comment);

} // namespace kopt::frontend
