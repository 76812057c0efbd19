// SPDX-License-Identifier: Apache-2.0
#include "driver/compare/program/ProgramTimes.h"

#include "driver/judge/Statistics.h"
#include "driver/source/KernelNames.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>

namespace kopt {
namespace {

/// Launches of a run that are compared if there are too few runs.
constexpr std::size_t kLaunchesPaired = 512;

/// The kernel of the patched program that replaced the old one: the one with the same name, or the
/// only new one of its template. Empty if there is none.
std::string symbolInNew(const PairedRuns &pairs, const std::string &old) {
  const ProgramSample &before = pairs.old.front(), &after = pairs.fresh.front();
  if (after.kernel(old))
    return old;
  std::string found;
  for (const KernelSample &kernel : after.kernels) {
    if (before.kernel(kernel.symbol) ||
        withoutTemplateArguments(kernel.symbol) != withoutTemplateArguments(old))
      continue;
    if (!found.empty())
      return {};
    found = kernel.symbol;
  }
  return found;
}

/// The geometries of `some` that `others` do not have, at most three of them.
std::string geometriesOf(const std::set<std::string> &some, const std::set<std::string> &others) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> own;
  std::ranges::set_difference(some, others, std::back_inserter(own));
  if (own.empty())
    own.assign(some.begin(), some.end());
  const std::size_t shown = std::min(kMost, own.size());
  std::string text = fmt::format("{}", fmt::join(own.begin(), own.begin() + long(shown), ", "));
  return own.size() > shown ? text + fmt::format(" and {} others", own.size() - shown) : text;
}

std::string shortHash(const std::set<std::string> &hashes) {
  std::string all;
  for (const std::string &hash : hashes)
    all += (all.empty() ? "" : "+") + hash.substr(0, 8);
  return all;
}

/// What shows that the patched kernel ran; empty if nothing does.
std::string proofOf(const ProgramSample &before, const ProgramSample &after,
                    const KernelSample &old, const KernelSample &fresh) {
  if (old.symbol != fresh.symbol)
    return fmt::format("the program launches {} in place of {}", kernelName(fresh.symbol),
                       kernelName(old.symbol));
  if (!old.code.empty() && !fresh.code.empty() && old.code != fresh.code)
    return fmt::format("its machine code was {} and is {}", shortHash(old.code),
                       shortHash(fresh.code));
  if (old.geometries != fresh.geometries)
    return fmt::format("its launches were {} and are {}",
                       geometriesOf(old.geometries, fresh.geometries),
                       geometriesOf(fresh.geometries, old.geometries));
  if ((old.code.empty() || fresh.code.empty()) && before.programHash != after.programHash)
    return "the program's file is another one; which code its kernels have is not known";
  return {};
}

double perLaunch(const KernelSample &kernel) {
  return kernel.launches == 0 ? 0 : kernel.seconds / double(kernel.launches);
}

/// The objective of each run's launches; empty for the mean, and if a launch is not timed.
std::vector<TimingSample> objectivePairs(const PairedRuns &pairs, const ProgramTime &time,
                                         Objective objective) {
  std::vector<TimingSample> samples;
  for (std::size_t i = 0; objective != Objective::Mean && i < pairs.old.size(); ++i) {
    const std::vector<double> &a = pairs.old[i].kernel(time.oldSymbol)->launchSeconds;
    const std::vector<double> &b = pairs.fresh[i].kernel(time.newSymbol)->launchSeconds;
    if (a.empty() || b.empty())
      return {};
    samples.push_back({objectiveSeconds(objective, std::vector<double>(a.size(), 1), a),
                       objectiveSeconds(objective, std::vector<double>(b.size(), 1), b),
                       std::uint32_t(i)});
  }
  return samples;
}

} // namespace

const KernelSample *ProgramSample::kernel(const std::string &symbol) const {
  for (const KernelSample &kernel : kernels)
    if (kernel.symbol == symbol)
      return &kernel;
  return nullptr;
}

ProgramSample together(const std::vector<ProgramSample> &runs) {
  ProgramSample all = runs.front();
  for (auto run = runs.begin() + 1; run != runs.end(); ++run) {
    if (all.failure.empty() && all.exitCode == 0) {
      all.command = run->command;
      all.failure = run->failure;
      all.exitCode = run->exitCode;
    }
    all.seconds += run->seconds;
    all.programHash += run->programHash;
    for (const KernelSample &kernel : run->kernels) {
      const auto known = std::ranges::find(all.kernels, kernel.symbol, &KernelSample::symbol);
      if (known == all.kernels.end()) {
        all.kernels.push_back(kernel);
        continue;
      }
      const auto &more = kernel.launchSeconds;
      if (known->launchSeconds.empty() || more.empty())
        known->launchSeconds.clear();
      else
        known->launchSeconds.insert(known->launchSeconds.end(), more.begin(), more.end());
      known->code.insert(kernel.code.begin(), kernel.code.end());
      known->geometries.insert(kernel.geometries.begin(), kernel.geometries.end());
      known->launches += kernel.launches;
      known->seconds =
          known->seconds > 0 && kernel.seconds > 0 ? known->seconds + kernel.seconds : 0;
    }
  }
  return all;
}

std::string withoutTemplateArguments(const std::string &symbol) {
  const std::string name = kernelName(symbol);
  return name.substr(0, name.find('<'));
}

std::vector<TimingSample> launchPairs(const PairedRuns &pairs, const std::string &old,
                                      const std::string &fresh) {
  std::vector<TimingSample> samples;
  for (std::size_t i = 0; i < pairs.old.size(); ++i) {
    const std::vector<double> &a = pairs.old[i].kernel(old)->launchSeconds;
    const std::vector<double> &b = pairs.fresh[i].kernel(fresh)->launchSeconds;
    if (a.empty() || a.size() != b.size())
      return {};
    const std::size_t step = (a.size() + kLaunchesPaired - 1) / kLaunchesPaired;
    for (std::size_t at = 0; at < a.size(); at += step)
      samples.push_back({a[at], b[at], std::uint32_t(i)});
  }
  return samples;
}

std::optional<ProgramTime> timeOf(const PairedRuns &pairs, const std::string &symbol,
                                  double confidence, std::size_t fewRuns, Objective objective) {
  ProgramTime time;
  time.oldSymbol = symbol;
  time.newSymbol = symbolInNew(pairs, symbol);
  std::vector<double> before, after;
  bool sameCount = true;
  for (std::size_t i = 0; i < pairs.old.size(); ++i) {
    const KernelSample *old = pairs.old[i].kernel(time.oldSymbol);
    const KernelSample *fresh = pairs.fresh[i].kernel(time.newSymbol);
    if (!old || !fresh || old->seconds <= 0 || fresh->seconds <= 0)
      return std::nullopt;
    sameCount &= old->launches == fresh->launches;
    before.push_back(old->seconds);
    after.push_back(fresh->seconds);
  }
  for (std::size_t i = 0; i < pairs.old.size(); ++i) {
    const KernelSample &old = *pairs.old[i].kernel(time.oldSymbol);
    const KernelSample &fresh = *pairs.fresh[i].kernel(time.newSymbol);
    // Compare times per launch if the counts differ: a program that runs for a fixed time launches
    // a faster kernel more often.
    time.runs.push_back({sameCount ? old.seconds : perLaunch(old),
                         sameCount ? fresh.seconds : perLaunch(fresh), std::uint32_t(i)});
  }
  const KernelSample &old = *pairs.old.front().kernel(time.oldSymbol);
  const KernelSample &fresh = *pairs.fresh.front().kernel(time.newSymbol);
  time.oldLaunches = old.launches;
  time.newLaunches = fresh.launches;
  time.oldSeconds = median(before);
  time.newSeconds = median(after);
  time.speedup = runSpeedup(time.runs, confidence);
  if (const auto runs = objectivePairs(pairs, time, objective); !runs.empty()) {
    time.runs = runs;
    time.speedup = runSpeedup(runs, confidence);
    time.speedup.of = objective;
  } else if (pairs.old.size() < fewRuns) {
    if (const auto launches = launchPairs(pairs, time.oldSymbol, time.newSymbol);
        !launches.empty()) {
      const double estimate = time.speedup.estimate;
      time.speedup = pairedSpeedup(launches, confidence, false);
      time.speedup.processes = pairs.old.size();
      // The launches give the confidence interval; the estimate is that of the whole runs.
      time.speedup.low = std::min(time.speedup.low, estimate);
      time.speedup.high = std::max(time.speedup.high, estimate);
      time.speedup.estimate = estimate;
    }
  }
  time.proof = proofOf(pairs.old.front(), pairs.fresh.front(), old, fresh);
  return time;
}

std::vector<std::string> changedKernels(const PairedRuns &pairs) {
  std::vector<std::string> changed;
  for (const KernelSample &old : pairs.old.front().kernels)
    if (const KernelSample *fresh = pairs.fresh.front().kernel(old.symbol);
        fresh && fresh->code != old.code)
      changed.push_back(old.symbol);
  return changed;
}

} // namespace kopt
