// SPDX-License-Identifier: Apache-2.0
// Which launches the program can make, as far as its launch sites and its own launches show.
#pragma once

#include "driver/judge/derive/DerivedLaunch.h"
#include "driver/model/Trial.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kopt {

/// Keeps references to what `source` refers to.
class ProgramLaunches {
public:
  /// `own` are launches that the program makes, or that the user declared.
  ProgramLaunches(const DerivationSource &source, std::vector<Launch> own);

  /// Why the program makes no such launch, as a clause: every launch site computes other numbers
  /// from its host variables, or passes pointers that are aligned to more bytes, as all of `own`
  /// do. Empty if it may make it, or if nothing is known of its launch sites.
  std::string whyNot(const Launch &launch) const;

  /// What the functions of all these launch sites check before they launch, as expressions over the
  /// kernel's parameters.
  std::vector<std::string> requirements() const;

private:
  std::string whyNotAt(const LaunchSite &site, const Launch &launch) const;
  std::uint64_t alignmentAt(const LaunchSite &site, std::size_t argument) const;
  std::string whyNotAligned(const Launch &launch) const;

  const DerivationSource source_;
  const std::vector<Launch> own_;
  std::vector<const LaunchSite *> sites_; ///< those that make some launch of `own`
};

/// What tells the launch from others.
Counterexample counterexampleOf(const Specialization &specialization, const Launch &launch);

} // namespace kopt
