// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/SeenCode.h"

#include "driver/source/Expression.h"
#include "driver/workload/ApplyCandidate.h"

#include <fmt/format.h>

namespace kopt {

namespace {

// Expressions count, too: they say what launches with other arguments are.
std::string keyOf(const std::string &moduleHash, const std::vector<Launch> &launches) {
  std::string key = moduleHash;
  for (const Launch &launch : launches) {
    key += fmt::format("|{},{},{}/{},{},{}/{}", launch.grid.x, launch.grid.y, launch.grid.z,
                       launch.block.x, launch.block.y, launch.block.z, launch.sharedBytes);
    for (const std::string &text : launch.geometry.all()) {
      key += "|" + text;
      for (const std::string &name : namesIn(text).value_or(std::vector<std::string>()))
        if (const auto value = launch.bindings.find(name); value != launch.bindings.end())
          key += fmt::format(",{}", value->second);
    }
  }
  return key;
}

} // namespace

std::optional<std::vector<Launch>> launchesOf(const Candidate &candidate, const KernelSpec &kernel,
                                              const std::vector<Launch> &baseline) {
  std::vector<Launch> launches;
  for (const Launch &launch : baseline) {
    auto changed = applyToLaunch(kernel, launch, candidate);
    if (!changed)
      return std::nullopt;
    launches.push_back(std::move(*changed));
  }
  return launches;
}

void SeenCode::add(const Trial &trial, const std::vector<Launch> &launches) {
  seen_.try_emplace(keyOf(trial.moduleHash, launches), trial.candidate.contentHash(),
                    trial.candidate.title);
}

bool SeenCode::isDuplicate(Trial &trial, const std::vector<Launch> &launches, bool adds) {
  const auto seen = seen_.find(keyOf(trial.moduleHash, launches));
  if (seen == seen_.end()) {
    if (adds)
      add(trial, launches);
    return false;
  }
  trial.verdict = Verdict::Duplicate;
  trial.duplicateOf = seen->second.first;
  trial.reason = "the same machine code and launch as '" + seen->second.second + "'";
  return true;
}

void SeenCode::remember(const Trial &trial, const KernelSpec &kernel,
                        const std::vector<Launch> &baseline) {
  if (trial.moduleHash.empty() || trial.verdict == Verdict::BuildFailed ||
      trial.verdict == Verdict::Duplicate)
    return;
  if (const auto launches = launchesOf(trial.candidate, kernel, baseline))
    add(trial, *launches);
}

} // namespace kopt
