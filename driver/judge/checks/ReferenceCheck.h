// SPDX-License-Identifier: Apache-2.0
// Errors, measured: the original, the candidate and the original in double precision on the same
// inputs. A tolerance by type says what is usual; this says what this kernel has any right to.
#pragma once

#include "driver/device/Toolchain.h"
#include "driver/judge/checks/DerivedReplays.h"
#include "driver/judge/checks/ErrorStatistics.h"
#include "driver/source/Frontend.h"

namespace kopt {

struct ReferenceSettings {
  BuildRequest build;            ///< of the original: everything but text and output
  std::filesystem::path scratch; ///< where the clone is built
  double factor = 2;             ///< times the original's own error that a candidate's may be
};

/// For the default tolerance alone: a user's own, or `strict`, says all there is to say. Captured
/// launches are looked at as they are, at their size, besides those derived from them. Does not run
/// where there is no double-precision clone, or where it takes another way than the original.
std::unique_ptr<Check> makeReferenceCheck(std::shared_ptr<DerivedReplays> replays,
                                          Frontend &frontend, Toolchain &toolchain,
                                          ReferenceSettings settings);

} // namespace kopt
