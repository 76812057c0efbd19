// SPDX-License-Identifier: Apache-2.0
#include "driver/app/tune/KernelRoof.h"

#include "driver/diagnose/Known.h"
#include "driver/model/Json.h"
#include "driver/report/facts/RunHistory.h"

#include <algorithm>
#include <cmath>

namespace kopt {
namespace {

constexpr const char *kTime = "gpu__time_duration.sum";

/// The rates of two launches differ by at most so much where both are at the same roof. On an H200
/// a stream took 3% longer between events than by its counter.
constexpr double kSameRate = 0.05;

const Launch *heaviestOf(const Workload &workload) {
  const auto heaviest = std::ranges::max_element(workload.launches, {}, &Launch::weight);
  return heaviest == workload.launches.end() ? nullptr : &*heaviest;
}

} // namespace

KernelRoof::KernelRoof(const Specialization &kernel, std::optional<ParameterUses> uses,
                       const DeviceInfo &device, const RunRecord &run)
    : kernel_(kernel), uses_(std::move(uses)) {
  const nlohmann::json recorded = recordedObject(run.deviceJson);
  const auto rates = fromJson<MeasuredRates>(recorded.value("measured", nlohmann::json()));
  device_ = knownOf(device, rates.value_or(MeasuredRates()));
}

Counters KernelRoof::known(const Workload &workload) const {
  const Launch *heaviest = heaviestOf(workload);
  Counters known = knownOf(heaviest ? *heaviest : Launch(), kernel_, uses_);
  known.insert(device_.begin(), device_.end());
  return known;
}

double KernelRoof::bytesOf(const Launch &launch) const {
  return knownOf(launch, kernel_, uses_).at("known__buffer_bytes");
}

std::optional<AtRoof> KernelRoof::reached(const Baseline &baseline, const RuleBook &rules) const {
  const auto roof = rules.roofReached(baseline.trial.counters, known(baseline.workload));
  const auto time = baseline.trial.counters.find(kTime);
  if (!roof || time == baseline.trial.counters.end() ||
      baseline.trial.timings.size() != baseline.workload.launches.size())
    return std::nullopt;
  const double rate = bytesOf(*heaviestOf(baseline.workload)) / (1e-9 * time->second);
  for (const LaunchTiming &timing : baseline.trial.timings) {
    const auto launch = std::ranges::find(baseline.workload.launches, timing.launch, &Launch::name);
    if (launch == baseline.workload.launches.end() ||
        std::abs(bytesOf(*launch) / timing.baselineSeconds - rate) > kSameRate * rate)
      return std::nullopt;
  }
  AtRoof result{{Stop{StopReason::AtRoof, baseline.trial.diagnosis.headroom}}, roof->finding};
  for (const auto &[what, value] : roof->evidence)
    result.stop.evidence.push_back({what, baseline.trial.candidateHash, value});
  return result;
}

} // namespace kopt
