// SPDX-License-Identifier: Apache-2.0
// What the kernel has in common with code outside of its slice: a candidate's version of it would
// reach that code, too, which is not run while the candidate is judged.
#pragma once

#include "clang_plugin/screen/Declarations.h"
#include "clang_plugin/screen/Screen.h"
#include "clang_plugin/screen/SourceFacts.h"

namespace kopt::frontend {

/// Text that others use is as it was; other functions may stand before or behind it. Tokens alone:
/// it holds where the candidate does not parse, too.
void compareSharedChunks(const ScreenRequest &request, std::vector<ScreenFinding> &findings);

/// No new or changed macro has a name that stands outside.
void compareOutsideMacros(const ScreenRequest &request, const SourceFacts &baseline,
                          const SourceFacts &candidate, std::vector<ScreenFinding> &findings);

/// No new function or type is found by what is called or declared outside: an overload, a
/// specialization, the same name again.
void compareOutsideNames(const ScreenRequest &request, const SourceFacts &baselineSource,
                         const std::vector<Declaration> &baseline,
                         const std::vector<Declaration> &candidate,
                         std::vector<ScreenFinding> &findings);

} // namespace kopt::frontend
