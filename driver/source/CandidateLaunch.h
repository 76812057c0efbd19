// SPDX-License-Identifier: Apache-2.0
// Takes over how a person's candidate launches its kernel: the instantiation at its launch sites,
// and their grid, block and dynamic shared memory where those differ from the original's.
#pragma once

#include "driver/model/Candidate.h"
#include "driver/model/TuneSubject.h"

#include <map>
#include <optional>
#include <string>

namespace kopt {

/// The named constants that the specialization's launch site sees. If a name is declared more than
/// once, the nearest declaration before the launch counts.
std::vector<NamedConstant> constantsInScope(const KernelSpec &kernel,
                                            const Specialization &specialization);

/// The specialization in the candidate's file that corresponds to the subject's: the one launched
/// in its place, which may have other template arguments. If the file has no launch, as a slice, it
/// is found by symbol, by expression, or by position. Null if there is none.
const Specialization *counterpart(const TuneSubject &subject, const KernelSpec &changed);

/// Sets in `candidate` what `changed` launches differently: integral template arguments as
/// constants, and the geometry of its launch sites as expressions. In these, a variable that a
/// launch site passes for a kernel parameter is replaced by the parameter's name, and a constant
/// that only the candidate's file has by its value, so that the expressions mean the same at every
/// launch. `candidate.constants` must already have the changed constants. Returns why the launch
/// cannot be taken over, with its place; nothing on success.
std::optional<std::string> takeLaunch(const TuneSubject &subject, const KernelSpec &changed,
                                      const Specialization &other, Candidate &candidate);

/// Maps each variable that a launch site passes for a scalar parameter to the parameter's name.
std::map<std::string, std::string> parametersAt(const LaunchSite &site,
                                                const Specialization &specialization);

/// Gives the launch the site's grid and block as expressions, for blocks of other threads that
/// cover the same elements: "(n + 63) / 64". True if the site's grid is the same expression of its
/// block.
bool writeNaturally(const LaunchSite &site, const Dim3 &block, LaunchOverride &launch);

/// True if the launch's grid is that of writeNaturally() for its block.
bool isNatural(const LaunchSite &site, const LaunchOverride &launch);

/// The launch whose threads this one's grid covers with its block of numbers, where that is how the
/// grid is written (coveringGrid()); its members are over gridDim and blockDim, as the launch's.
std::optional<LaunchOverride> coveredLaunch(const LaunchOverride &launch);

/// The launch site with the launch's grid and block in the place of its own.
LaunchSite withLaunch(LaunchSite site, const LaunchOverride &launch);

/// Lets the launch's grid cover, with its block of numbers, the threads of the launch site.
void coverThreads(LaunchOverride &launch);

/// True if the launch's grid covers, with its block, the threads of the launch site (coveringGrid()
/// in clang_plugin/output/Variants.h).
bool isCovering(const LaunchOverride &launch);

/// The texts of gridDim and blockDim by member ("gridDim.x"), as operands; without those that are
/// not known (empty).
std::map<std::string, std::string> dimensionsOf(const std::array<std::string, 3> &grid,
                                                const std::array<std::string, 3> &block);

/// The launch that `later` makes of what `earlier` makes of the launch site's: its gridDim and
/// blockDim are those of the earlier one.
LaunchOverride composed(const LaunchOverride &earlier, const LaunchOverride &later);

/// True if every part that the launch takes of a block ("blockDim.x / 4") is a whole number of
/// threads wherever the program launches the kernel; else, and where that is not known, false.
bool dividesBlocks(const KernelSpec &kernel, const Specialization &specialization,
                   const LaunchOverride &launch);

/// The numbers of its block's expressions; 0 for others.
Dim3 blockIn(const LaunchOverride &launch);

/// The text of a file; fails with StaleInput if the file has become too short.
Result<std::string> textOf(const SourceRange &range);

/// The kernel as the launch spells it, before <<<. Fails with Usage if it is launched in another
/// way.
Result<SourceRange> calleeAt(const LaunchSite &site);

} // namespace kopt
