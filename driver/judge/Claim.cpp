// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/Claim.h"

#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

namespace kopt {
namespace {

/// Flags of clang_plugin/screen, and what shows each of them harmless.
const std::map<std::string, Demand> &demands() {
  static const CheckGroups kOrder = {{CheckId::Schedule, CheckId::Sanitizer, CheckId::Emulated},
                                     {CheckId::Repeat}};
  static const std::map<std::string, Demand> table = {
      {"atomic-removed",
       {{{CheckId::Schedule, CheckId::Sanitizer, CheckId::Emulated},
         {CheckId::Repeat},
         {CheckId::Contents}},
        "",
        true}},
      {"barrier-removed", {kOrder, "", true}},
      {"fence-removed", {kOrder, "", true}},
      {"volatile", {kOrder, "", true}},
      {"cache-hint", {{{CheckId::Repeat}, {CheckId::Fresh}}}},
      {"inline-ptx", {{{CheckId::Repeat}, {CheckId::Fresh}}}},
      {"bounds-check", {{{CheckId::Sizes}}}},
      {"unused-parameter", {{{CheckId::Scalars, CheckId::Sizes}}}},
      {"precision", {{{CheckId::Fresh}, {CheckId::Contents, CheckId::Reference}}}},
      {"data-table", {{{CheckId::Fresh}, {CheckId::Contents, CheckId::Scalars}}}},
      {"type-changed", {{{CheckId::Fresh}, {CheckId::Contents}}}},
      {"macro", {{{CheckId::Fresh}}}},
      {"shared-function", {{{CheckId::Fresh}}}},
      {"conditional", {{{CheckId::Fresh}}}},
      {"parse", {{{CheckId::Fresh}, {CheckId::Repeat}}}},
      {"assert", {{{CheckId::Contents}}}},
      {"trap", {{{CheckId::Contents}}}},
      {"sleep", {{{CheckId::Timed}}}},
      // Code for one architecture only: kopt cannot run it on another one here.
      {"arch-conditional", {{}, "other architectures"}},
      // No launch here is large enough, or runs blocks at the same time in every way that a GPU
      // may.
      {"short-index", {{}, "a problem that large"}},
      {"narrow-index", {{}, "a problem that large", false}},
      {"short-product", {{}, "a problem that large"}},
      {"atomic-scope", {{}, "blocks that run at once"}},
  };
  return table;
}

} // namespace

Demand demandOf(const Finding &finding) {
  const auto found = demands().find(finding.id);
  return found == demands().end() || finding.severity != Severity::Flag ? Demand() : found->second;
}

bool isDemanded(const Trial &trial, CheckId check) {
  for (const Finding &finding : trial.findings)
    for (const std::vector<CheckId> &group : demandOf(finding).checks)
      if (std::ranges::find(group, check) != group.end())
        return true;
  return false;
}

std::optional<Failure> forbiddenExternal(const std::vector<std::string> &candidate,
                                         const std::vector<std::string> &original) {
  static const char *const kNames[] = {"malloc", "free", "__nv_aligned_device_malloc",
                                       "operator new"};
  static const char *const kPrefixes[] = {"cudaLaunch", "cudaGetParameterBuffer",
                                          "__cudaCDP",  "cudaMalloc",
                                          "cudaFree",   "cudaStream",
                                          "cudaEvent",  "cudaMemcpy",
                                          "cudaMemset", "cudaDeviceSynchronize",
                                          "_Znwm",      "_Znam",
                                          "_ZdlPv",     "_ZdaPv"};
  for (const std::string &name : candidate) {
    const bool isForbidden =
        std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames) ||
        std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                    [&](const char *prefix) { return name.starts_with(prefix); });
    if (isForbidden && std::find(original.begin(), original.end(), name) == original.end())
      return Failure{CheckId::Externals, Verdict::Rejected,
                     fmt::format("its machine code calls {}, but the original's does not", name)};
  }
  return std::nullopt;
}

double floorSeconds(const Launch &launch, const DeviceInfo &device) {
  double written = 0;
  for (const Buffer &buffer : launch.buffers)
    if (buffer.output)
      written += double(buffer.bytes);
  double seconds = 0;
  if (device.storeBytesPerSecond > 0)
    seconds = written / device.storeBytesPerSecond;
  if (device.dramBytesPerSecond > 0)
    seconds = std::max(seconds, (written - double(device.l2Bytes)) / device.dramBytesPerSecond);
  return seconds;
}

std::optional<Failure> belowFloor(const Trial &trial, const std::vector<Launch> &launches,
                                  const DeviceInfo &device) {
  for (std::size_t i = 0; i < trial.timings.size() && i < launches.size(); ++i) {
    const double floor = floorSeconds(launches[i], device),
                 took = trial.timings[i].candidateSeconds;
    // No launch takes zero time.
    if (!(took > 0) || took < floor)
      return Failure{
          CheckId::Roofline, Verdict::Suspect,
          fmt::format(
              "launch '{}' took {:.3g} us, but writing its outputs takes {} at least {:.3g} us",
              launches[i].name, took * 1e6, device.name, floor * 1e6)};
  }
  return std::nullopt;
}

std::string OpenObligation::inWords() const {
  return fmt::format("{}, and no check that would show it harmless passed: {}{}", finding.message,
                     needed, why);
}

std::vector<OpenObligation> openObligations(const Trial &trial) {
  std::vector<OpenObligation> open;
  const auto passed = [&](CheckId check) { return trial.passed(check); };
  for (const Finding &finding : trial.findings) {
    const Demand demand = demandOf(finding);
    if (!demand.missing.empty())
      open.push_back({finding, demand.missing, "", demand.isHazard, false});
    for (const std::vector<CheckId> &group : demand.checks)
      if (std::ranges::none_of(group, passed)) {
        std::string why;
        for (const CheckRecord &record : trial.checks)
          if (std::ranges::find(group, record.check) != group.end() && !record.detail.empty())
            why += fmt::format(" ({}: {})", toString(record.check), record.detail);
        open.push_back({finding, join(namesOf(group), " or "), std::move(why), demand.isHazard});
      }
  }
  return open;
}

std::optional<Failure> whyNotStrict(const Trial &trial, const Assurance &assurance) {
  if (assurance.level == AssuranceLevel::Full)
    return std::nullopt;
  return Failure{
      assurance.gaps.front().check, Verdict::Suspect,
      fmt::format(
          "{}, but with partial assurance, which --assurance strict does not accept; not shown: {}",
          trial.reason, fmt::join(inLines(assurance), "; "))};
}

std::optional<Failure> whyNoWin(const Trial &trial, const CheckSwitches &switches,
                                AssurancePolicy policy, bool isFirstLook) {
  if (!switches.all())
    return Failure{CheckId::None, Verdict::Suspect,
                   fmt::format("not a verdict: checks off: {}; {}", switches.list(), trial.reason)};
  for (const OpenObligation &open : openObligations(trial))
    if (isFirstLook ? open.isHazard && !open.isOfCheck
                    : open.isHazard || policy == AssurancePolicy::Strict)
      return Failure{CheckId::Obligations, Verdict::Suspect,
                     fmt::format("{}, but not proven: {}", trial.reason, open.inWords())};
  return std::nullopt;
}

namespace {

std::optional<Failure> whyNotClaimed(const ClaimBasis &basis, Trial &trial) {
  const bool isStrict = basis.policy == AssurancePolicy::Strict;
  if (basis.switches.on(CheckId::Roofline))
    if (auto failure = belowFloor(trial, basis.launches, basis.device))
      return failure;
  if (basis.switches.on(CheckId::Mutants) && !basis.mutations) {
    trial.checks.push_back({CheckId::Mutants, CheckState::NotRun, "it runs only for winners"});
  } else if (basis.switches.on(CheckId::Mutants)) {
    const AdequacyReport &mutations = *basis.mutations;
    const std::string remedy = mutations.remedy();
    const std::string words =
        mutations.inWords() + (remedy.empty() ? remedy : "; what would notice: " + remedy);
    const bool isDoubtful = !mutations.isConclusive();
    if (isDoubtful && isStrict)
      return Failure{CheckId::Mutants, Verdict::Suspect,
                     fmt::format("{}, but the workload does not notice all wrong kernels: {}",
                                 trial.reason, words)};
    if (mutations.tried + mutations.untried == 0)
      trial.checks.push_back(
          {CheckId::Mutants, CheckState::NotApplicable, "there are no wrong versions to try"});
    else
      trial.checks.push_back(
          {CheckId::Mutants, isDoubtful ? CheckState::NotRun : CheckState::Passed, words});
  }
  if (auto failure = whyNoWin(trial, basis.switches, basis.policy, basis.isFirstLook))
    return failure;
  for (const OpenObligation &open : openObligations(trial))
    addGap(trial.assurance, {CheckId::Obligations, open.inWords()});
  if (!isStrict || !basis.isLast)
    return std::nullopt;
  return whyNotStrict(trial, assuranceSoFar(trial, basis.gaps));
}

} // namespace

void claim(const ClaimBasis &basis, Trial &trial) {
  if (trial.verdict != Verdict::Faster)
    return;
  const auto failure = whyNotClaimed(basis, trial);
  if (!failure)
    return;
  trial.verdict = failure->verdict;
  trial.reason = failure->reason;
  trial.check = failure->check;
  if (failure->check != CheckId::None)
    trial.checks.push_back({failure->check, CheckState::Failed, failure->reason});
}

Assurance assuranceSoFar(const Trial &trial, const std::vector<AssuranceGap> &ofWorkload) {
  std::vector<AssuranceGap> others = trial.assurance.gaps;
  others.insert(others.end(), ofWorkload.begin(), ofWorkload.end());
  Assurance assurance = assuranceOf(trial.checks, others);
  assurance.counterexamples = trial.assurance.counterexamples;
  assurance.examples = trial.assurance.examples;
  return assurance;
}

} // namespace kopt
