// SPDX-License-Identifier: Apache-2.0
// The checks, in the order in which they run.
#pragma once

#include "driver/device/Toolchain.h"
#include "driver/judge/checks/EmulationCheck.h"
#include "driver/source/Frontend.h"

#include <filesystem>
#include <memory>
#include <vector>

namespace kopt {

/// What checks need to build something of their own.
struct CheckServices {
  Frontend &frontend;
  Toolchain &toolchain;
  BuildRequest build;             ///< for the original, without text and output
  std::filesystem::path scratch;  ///< where versions of the kernel are built
  Emulation *emulation = nullptr; ///< used beside a GPU; null: there is none
  AssurancePolicy assurance = AssurancePolicy::Standard;
  bool isModelled = false; ///< the checks run on the emulated device
};

/// The checks that are switched on, the cheapest first. They share the derived launches.
std::vector<std::unique_ptr<Check>> makeChecks(const CheckSwitches &switches,
                                               const CheckServices &services,
                                               const std::shared_ptr<DerivedReplays> &replays);

/// Both run the workload's own launches.
std::unique_ptr<Check> makeOutputsCheck(std::shared_ptr<DerivedReplays> replays);
std::unique_ptr<Check> makeFreshCheck(std::shared_ptr<DerivedReplays> replays);

/// Replays the derived launches of one kind.
std::unique_ptr<Check> makeReplayCheck(Derivation kind, std::shared_ptr<DerivedReplays> replays);

/// Launches a candidate ten or more times (fewer if a launch is slow on a GPU), alternating between
/// two inputs, each time with other poison and at other addresses, sometimes in a freshly loaded
/// module: a kernel's results must not depend on what memory held before. If the original gives the
/// same bits each time, a candidate has to; otherwise its results may spread as the original's do.
std::unique_ptr<Check> makeRepeatCheck(std::shared_ptr<DerivedReplays> replays);

/// The emulated device runs blocks, warps and lanes in other orders, and may switch threads between
/// any two instructions. The order cannot be chosen on a GPU, so the check does not run there;
/// winners run on the emulated device instead (makeEmulationCheck()).
std::unique_ptr<Check> makeScheduleCheck(std::shared_ptr<DerivedReplays> replays);

/// Measures errors: runs the original, the candidate, and the original in double precision on the
/// same inputs. A tolerance by type only says which errors are usual; this check knows those of
/// this kernel. Runs only under the default tolerance; a user's tolerance and `strict` take its
/// place. Captured launches are used as they are, at their full size, besides those derived from
/// them. The check does not run if there is no double-precision clone, or if the clone takes
/// another branch than the original.
std::unique_ptr<Check> makeReferenceCheck(std::shared_ptr<DerivedReplays> replays,
                                          CheckServices services);

/// Finds code of a candidate that no launch reached and so none verified. A candidate that is wrong
/// only for one size or one value passes every test that lacks that size or value, but some of its
/// code never runs. A correct candidate may have such code, too: a loop for longer rows, a fallback
/// for unaligned pointers.
///
/// Builds a version of the candidate that records the outcomes of its conditions, and runs it on
/// all launches that the candidate was verified on. If an outcome never occurs, derives launches
/// with the numbers of its condition, and larger launches, until it does, and judges the candidate
/// on those. An outcome that is still missing then is a gap of the assurance. Under
/// AssurancePolicy::Strict a case that a number of the candidate's own singles out
/// (CoveragePoint::special) is refused. An outcome does not count as missing if it never occurs in
/// the original either, however the original spells the condition. On a GPU the check does not run
/// at Depth::Search, because it costs a build.
std::unique_ptr<Check> makeCoverageCheck(std::shared_ptr<DerivedReplays> replays,
                                         CheckServices services);

/// Runs NVIDIA's compute-sanitizer over a small launch on a GPU: it finds faults that no comparison
/// of results can show. Runs racecheck where the launch has shared memory, and the other tools
/// always. A tool that also finds errors in the original is not a test of a candidate. The check
/// takes seconds of the GPU, so it runs at Depth::Win, and at Depth::Trial only if the emulated
/// device did not pass the candidate. On the emulated device the check is not applicable, because
/// the device checks every launch itself.
std::unique_ptr<Check> makeSanitizerCheck(std::shared_ptr<DerivedReplays> replays);

} // namespace kopt
