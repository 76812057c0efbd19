// SPDX-License-Identifier: Apache-2.0
// Several winners as one change of the user's files. Pure functions: nothing is judged, read or
// written here.
#pragma once

#include "driver/integrate/compose/Win.h"

namespace kopt {

/// A win that is not part of the patch.
struct DroppedWin {
  Win win;
  std::string reason; ///< with names and places
};

struct Composition {
  std::vector<Win> wins; ///< the most seconds saved first
  std::vector<DroppedWin> dropped;
};

/// Whether both cannot be made: they replace the same text by different ones, or one lies within
/// what the other replaces. The same edit twice is one.
bool clash(const SourceEdit &a, const SourceEdit &b);

/// Of two wins whose edits clash, the one that saves more seconds stays.
Composition composeWins(std::vector<Win> wins);

/// All edits, each once.
std::vector<SourceEdit> editsOf(const std::vector<Win> &wins);

} // namespace kopt
