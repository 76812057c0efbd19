// SPDX-License-Identifier: Apache-2.0
#include "driver/device/runner/LaunchTools.h"

#include "driver/device/profile/ComputeSanitizer.h"
#include "driver/device/profile/NcuSections.h"
#include "driver/device/runner/LaunchContents.h"
#include "driver/device/runner/ToLaunchSpec.h"

namespace kopt {

namespace {

using runtime::protocol::Message;

constexpr Duration kCountingSetup{30}; ///< CUPTI takes about a second to start
constexpr double kCountingPasses = 20; ///< kopt's counters need 14 passes on GH100
/// Of one tool of compute-sanitizer. Most end within 5 s on a small launch; racecheck of one with
/// many barriers takes minutes, which no session has.
constexpr Duration kSanitizing{40};

/// The requests for a separate process that a tool watches. It loads only this module, so the
/// module's id is 1.
std::string scriptOf(const WatchedLaunch &watched) {
  Message load("load");
  load.add("path", watched.module.string());
  load.add("symbol", watched.symbol);
  Message run("run");
  addLaunch(run, "a.", toLaunchSpec(1, watched.launch));
  run.add("input_seed", watched.options.inputSeed);
  run.add("poison_seed", watched.options.poisonSeed);
  return load.format() + "\n" + run.format() + "\n";
}

} // namespace

Result<std::vector<SanitizerReport>> LaunchTools::sanitize(const WatchedLaunch &watched,
                                                           const std::vector<std::string> &tools) {
  const WatchRequest request{runner_, scriptOf(watched), scratch_ / "sanitizer",
                             kSanitizing + bufferTime(watched.launch)};
  return ComputeSanitizer(processes_, cuda_.computeSanitizer).checkWith(tools, request);
}

Result<NcuReport> LaunchTools::inspect(const WatchedLaunch &watched,
                                       const std::vector<std::string> &sections) {
  const WatchRequest request{runner_, scriptOf(watched), scratch_ / "ncu-sections",
                             Duration(300) + 100 * watched.options.deadline +
                                 10 * bufferTime(watched.launch)}; // a set needs 40 passes or more
  return inspectLaunch(processes_, cuda_.ncu, request, sections);
}

Result<ProfileOutcome> LaunchTools::count(const WatchedLaunch &watched,
                                          const std::vector<int> &descriptors) {
  // The deadline of one launch is many times its duration, so it is enough for the launches of all
  // passes. Each pass copies the contents anew.
  const Duration deadline =
      kCountingSetup + watched.options.deadline + kCountingPasses * bufferTime(watched.launch);
  ProfileOutcome counted = counting_.count(watched, deadline, descriptors);
  if (!counted.counters.empty())
    return counted;
  if (!ncu_)
    ncu_ = std::make_unique<NcuProfiler>(processes_, cuda_.ncu);
  const WatchRequest request{runner_, scriptOf(watched), scratch_ / "ncu",
                             Duration(120) + 10 * watched.options.deadline +
                                 bufferTime(watched.launch)};
  std::string why = std::move(counted.detail);
  KOPT_TRY(counted, ncu_->profile(request));
  if (!why.empty())
    counted.detail = counted.detail.empty() ? why : why + "; " + counted.detail;
  return counted;
}

} // namespace kopt
