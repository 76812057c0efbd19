// SPDX-License-Identifier: Apache-2.0
// What the trials of a run teach beyond the project.
#pragma once

#include "driver/knowledge/Experience.h"
#include "driver/model/Run.h"
#include "driver/model/TuneSubject.h"

#include <vector>

namespace kopt {

/// Experience::arch of what runs on the device.
std::string experienceArch(const DeviceInfo &device);

struct LearntRun {
  const TuneSubject &subject;
  const RunRecord &run;
  const DeviceInfo &device;
  std::string toolchain;
  std::string program; ///< as Provenance has it
};

/// A lesson of each trial that was verified or failed, in the order of the trials, the first of
/// which is the baseline's. Of a duplicate the twin's speedup counts. The interval of a gain over a
/// parent takes the two speedups over the baseline as independent.
std::vector<Lesson> lessonsOf(const LearntRun &learnt, const std::vector<Trial> &trials);

} // namespace kopt
