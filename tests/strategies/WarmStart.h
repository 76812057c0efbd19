// SPDX-License-Identifier: Apache-2.0
// What earlier runs of recorded kernels teach of another search, through the base of experience
// that `kopt tune` uses.
#pragma once

#include "strategies/RecordedKernel.h"

namespace kopt::fakes {

/// A kernel, and the numbers of the trials of a run of it.
struct RecordedRun {
  const RecordedKernel &kernel;
  std::vector<std::size_t> judged;
};

/// All of its trials.
RecordedRun wholeRecording(const RecordedKernel &kernel);

/// What `kopt tune` would learn of the run. The kernel's text is its program's name.
std::vector<Lesson> lessonsOfRun(const RecordedRun &run);

/// The numbers that tell kernels apart, of its baseline's counters.
std::map<std::string, double> featuresOf(const RecordedKernel &kernel);

/// What the base knows of the kernel after these runs. `asThis`: the rows say that they are of a
/// kernel just like this one, which they need not be.
struct Taught : KnownBefore {
  std::map<std::string, Prior> priors;
};
/// The same of what kopt comes with, if these runs had made it.
Result<Taught> seededBy(const std::vector<RecordedRun> &runs, const RecordedKernel &kernel);
Result<Taught> taughtBy(const std::vector<RecordedRun> &runs, const RecordedKernel &kernel,
                        bool asThis = false);

} // namespace kopt::fakes
