// SPDX-License-Identifier: Apache-2.0
// Measures errors: runs the original, the candidate, and the original in double precision on the
// same inputs. A tolerance by type only says which errors are usual; this check knows those of this
// kernel.
#pragma once

#include "driver/device/Toolchain.h"
#include "driver/judge/checks/DerivedReplays.h"
#include "driver/judge/checks/ErrorStatistics.h"
#include "driver/source/Frontend.h"

namespace kopt {

struct ReferenceSettings {
  BuildRequest build;            ///< for the original, without text and output
  std::filesystem::path scratch; ///< where the clone is built
  double factor = 2;             ///< a candidate's error may be this many times the original's
};

/// Runs only under the default tolerance; a user's tolerance and `strict` take its place. Captured
/// launches are used as they are, at their full size, besides those derived from them. The check
/// does not run if there is no double-precision clone, or if the clone takes another branch than
/// the original.
std::unique_ptr<Check> makeReferenceCheck(std::shared_ptr<DerivedReplays> replays,
                                          Frontend &frontend, Toolchain &toolchain,
                                          ReferenceSettings settings);

} // namespace kopt
