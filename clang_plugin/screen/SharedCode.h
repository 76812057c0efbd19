// SPDX-License-Identifier: Apache-2.0
// What the kernel shares with code outside its slice. A candidate that changes it also affects that
// code, which does not run while the candidate is judged.
#pragma once

#include "clang_plugin/screen/Declarations.h"
#include "clang_plugin/screen/Screen.h"
#include "clang_plugin/screen/SourceFacts.h"

namespace kopt::frontend {

/// Rejects changes to text that code outside the slice uses; new functions before or after the text
/// are allowed. Works on tokens alone, hence also if the candidate does not parse.
void compareSharedChunks(const ScreenRequest &request, std::vector<ScreenFinding> &findings);

/// Rejects new or changed macros whose name occurs outside the slice.
void compareOutsideMacros(const ScreenRequest &request, const SourceFacts &baseline,
                          const SourceFacts &candidate, std::vector<ScreenFinding> &findings);

/// Rejects new functions and types that code outside the slice could pick up: an overload, a
/// specialization, a second declaration of a name.
void compareOutsideNames(const ScreenRequest &request, const SourceFacts &baselineSource,
                         const std::vector<Declaration> &baseline,
                         const std::vector<Declaration> &candidate,
                         std::vector<ScreenFinding> &findings);

} // namespace kopt::frontend
