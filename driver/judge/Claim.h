// SPDX-License-Identifier: Apache-2.0
// What has to hold before a faster candidate may be called Faster. What does not is Suspect, with
// the reason.
#pragma once

#include "driver/judge/checks/CheckContext.h"
#include "driver/judge/checks/CheckList.h"

#include <optional>
#include <string>

namespace kopt {

/// The checks that a finding of the screen asks for: of each group, one has to have passed.
std::vector<std::vector<std::string>> checksRequiredBy(const Finding &finding);

/// A finding of the screen demands one of the checks that else only winners are asked for.
bool wantsEveryCheck(const Trial &trial);

/// A function that the candidate's machine code calls, the original's does not, and a kernel has no
/// honest use for: one that keeps memory or launches work beyond its own launch. Nothing where
/// there is none.
std::optional<Failure> forbiddenExternal(const std::vector<std::string> &candidate,
                                         const std::vector<std::string> &original);

/// Seconds below which no launch can stay: every element of its pure outputs is written, which
/// takes the multiprocessors as long as they need to store it, and the memory as long as it needs
/// for what L2 cannot keep. 0 where nothing is known.
double floorSeconds(const Launch &launch, const DeviceInfo &device);

/// A launch of the trial that took less than it can; nothing where there is none. `launches` are
/// the candidate's.
std::optional<Failure> belowFloor(const Trial &trial, const std::vector<Launch> &launches,
                                  const DeviceInfo &device);

/// Something that the screen flagged and no check has shown harmless.
struct OpenObligation {
  Finding finding;
  std::vector<std::string> checks; ///< one of which would have
  std::string why;                 ///< they did not
  /// A change that is wrong beyond what can be run here, or that takes an order away and that no
  /// check of orders has looked at: never a win.
  bool isHazard = false;
  std::string inWords() const;
};
std::vector<OpenObligation> openObligations(const Trial &trial);

/// Why a trial that came out Faster is no win all the same; nothing where it is one: checks that
/// were left out, and flags of the screen whose checks did not run, under `standard` only hazards.
std::optional<Failure> whyNoWin(const Trial &trial, const CheckSwitches &switches,
                                AssurancePolicy policy);

} // namespace kopt
