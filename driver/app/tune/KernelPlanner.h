// SPDX-License-Identifier: Apache-2.0
// Which kernels `kopt tune` tunes: those that the user names, or those that have most of the
// program's kernel time.
#pragma once

#include "driver/app/ObserveFlow.h"
#include "driver/app/tune/TuneSettings.h"
#include "driver/workload/observed/KernelChoice.h"
#include "driver/workload/observed/TraceFolder.h"

#include <optional>
#include <string>
#include <vector>

namespace kopt {

class KernelPlanner {
public:
  /// Both must outlive the planner.
  KernelPlanner(const Services &services, const TuneSettings &settings)
      : services_(services), settings_(settings) {}

  /// As PlanKernels: runs the program, if there is one.
  Result<KernelPlan> plan(const ExtractionResult &found, ProgramHost &host,
                          const ProveAhead &prove);

  /// The program's runs, one for each of the user's commands.
  const std::vector<ObservedRun> &observed() const { return observed_; }
  bool choseKernels() const { return choseKernels_; }                ///< the user named none
  double seconds() const { return seconds_; }                        ///< of the program's runs
  const std::vector<KernelShare> &shares() const { return shares_; } ///< of what it launched
  std::optional<double> shareOf(const std::string &symbol) const;
  /// Left out for lack of time; and those with much of the time that are not in the given files.
  const std::vector<KernelShare> &late() const { return choice_.late; }
  const std::vector<KernelShare> &elsewhere() const { return choice_.elsewhere; }

private:
  /// Observes all commands. Returns the symbols of the chosen kernels.
  Result<std::vector<std::string>> observe(ProgramHost &host,
                                           const std::vector<KernelInstance> &candidates,
                                           const ChooseKernels &choose);
  Result<std::vector<std::string>> choose(const std::vector<KernelInstance> &candidates,
                                          const std::vector<KernelShare> &launched);

  const Services &services_;
  const TuneSettings &settings_;
  std::vector<ObservedRun> observed_;
  std::vector<KernelShare> shares_;
  KernelChoice choice_;
  bool choseKernels_ = false;
  double seconds_ = 0;
};

} // namespace kopt
