// SPDX-License-Identifier: Apache-2.0
// Several winners as one change of the user's files. Pure functions: nothing is judged, read or
// written here.
#pragma once

#include "driver/integrate/compose/Win.h"

namespace kopt {

/// A win that is not part of the patch.
struct DroppedWin {
  Win win;
  std::string reason; ///< names the other win and its place
};

struct Composition {
  std::vector<Win> wins; ///< by seconds saved, the most first
  std::vector<DroppedWin> dropped;
};

/// True if both edits cannot be made: they replace overlapping text in different ways. Two equal
/// edits do not clash.
bool clash(const SourceEdit &a, const SourceEdit &b);

/// True if both wins are in one file, which cannot be compiled with the options of both.
bool haveOtherOptions(const Win &win, const Win &kept);

/// Combines the wins. Of two wins whose edits or options clash, the one that saves more
/// seconds stays.
Composition composeWins(std::vector<Win> wins);

/// All edits, each once.
std::vector<SourceEdit> editsOf(const std::vector<Win> &wins);

} // namespace kopt
