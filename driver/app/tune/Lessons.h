// SPDX-License-Identifier: Apache-2.0
// What the trials of a run teach beyond the project.
#pragma once

#include "driver/app/Workbench.h"
#include "driver/knowledge/Experience.h"
#include "driver/model/Run.h"
#include "driver/model/TuneSubject.h"

#include <vector>

namespace kopt {

/// Experience::arch of what runs on the device.
std::string experienceArch(const DeviceInfo &device);

/// How often the kernel's code has what, as ModelReply::counts; empty if that cannot be told.
std::map<std::string, double> codeCounts(Workbench &bench, const TuneSubject &subject);

/// The kernel in numbers, of the baseline's counters those that do not grow with the problem.
KernelPrint printOf(const TuneSubject &subject, const Counters &counters,
                    const std::map<std::string, double> &code);

struct LearntRun {
  const TuneSubject &subject;
  const RunRecord &run;
  const DeviceInfo &device;
  std::string toolchain;
  std::string program;                ///< as Provenance has it
  std::map<std::string, double> code; ///< codeCounts()
};

/// A lesson of each trial that was verified or failed, in the order of the trials, the first of
/// which is the baseline's. Of a duplicate the twin's speedup counts. The interval of a gain over a
/// parent takes the two speedups over the baseline as independent.
std::vector<Lesson> lessonsOf(const LearntRun &learnt, const std::vector<Trial> &trials);

} // namespace kopt
