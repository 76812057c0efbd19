// SPDX-License-Identifier: Apache-2.0
// What has to hold before a candidate with a gain is called Faster. Otherwise it is Suspect, with
// the reason.
#pragma once

#include "driver/judge/context/CheckContext.h"
#include "driver/model/Adequacy.h"
#include "driver/model/CheckList.h"

#include <optional>
#include <string>

namespace kopt {

using CheckGroups = std::vector<std::vector<CheckId>>;

/// What shows that a flag of the screen is harmless.
struct Demand {
  CheckGroups checks; ///< one check of each group must have passed
  /// If no check can show it: what would be needed.
  std::string missing{};
  /// The change removes an ordering, or may be wrong only where kopt cannot run it. Others are
  /// listed (an index that is narrower, but wide enough for problems like the program's).
  bool isHazard = !missing.empty();
};
/// The demand of a finding of the screen; nothing is needed if it is no flag.
Demand demandOf(const Finding &finding);

/// True if a finding of the screen requires the check, alone or among others of which one is
/// enough.
bool isDemanded(const Trial &trial, CheckId check);

/// The failure for a function that the candidate's machine code calls and the original's does not,
/// and that keeps memory or launches work beyond the kernel's own launch. Nothing if there is none.
std::optional<Failure> forbiddenExternal(const std::vector<std::string> &candidate,
                                         const std::vector<std::string> &original);

/// The fewest seconds that a launch can take. Every element of its pure outputs is written: the
/// multiprocessors need time to store all of it, and the memory needs time for what does not fit in
/// L2. 0 if the device's bandwidths are unknown.
double floorSeconds(const Launch &launch, const DeviceInfo &device);

/// The failure for a launch of the trial that took less than floorSeconds(); nothing if there is
/// none. `launches` are the candidate's.
std::optional<Failure> belowFloor(const Trial &trial, const std::vector<Launch> &launches,
                                  const DeviceInfo &device);

/// A change that the screen flagged and that no check has shown harmless.
struct OpenObligation {
  Finding finding;
  std::string needed;    ///< what would have shown it: "contents or scalars"
  std::string why;       ///< why that did not
  bool isHazard = false; ///< as Demand::isHazard: such a candidate is never a win
  bool isOfCheck = true; ///< a check could show it; otherwise nothing can here
  std::string inWords() const;
};
std::vector<OpenObligation> openObligations(const Trial &trial);

/// Why a trial with verdict Faster is not a win: checks were left out, or the checks that a flag of
/// the screen requires did not pass (under `standard` only for hazards). Nothing if it is a win, or
/// may become one: a first look leaves checks to the confirmation.
std::optional<Failure> whyNoWin(const Trial &trial, const CheckSwitches &switches,
                                AssurancePolicy policy, bool isFirstLook = false);

/// Why `--assurance strict` does not accept a trial with this assurance; nothing if it is full.
std::optional<Failure> whyNotStrict(const Trial &trial, const Assurance &assurance);

/// What a claim rests on besides the trial.
struct ClaimBasis {
  const CheckSwitches &switches;
  AssurancePolicy policy = AssurancePolicy::Standard;
  const DeviceInfo &device;
  const std::vector<Launch> &launches;   ///< the candidate's
  const std::vector<AssuranceGap> &gaps; ///< of the workload
  const AdequacyReport *mutations;       ///< null: wrong versions are tried only for winners
  /// Every check has run that will: under `strict` a gap of the assurance decides.
  bool isLast = true;
  /// The checks for winners have not run, so what they leave open is judged by the confirmation.
  bool isFirstLook = false;
};

/// If a trial has the verdict Faster and is no win, gives it another one, with the reason. Under
/// `standard`, what was not shown is a gap of the assurance, unless there is a reason to doubt the
/// candidate. Under `strict` any gap is such a reason.
void claim(const ClaimBasis &basis, Trial &trial);

/// What was shown of a trial so far, with the gaps of the workload.
Assurance assuranceSoFar(const Trial &trial, const std::vector<AssuranceGap> &ofWorkload);

} // namespace kopt
