// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/Claim.h"

#include "driver/judge/DeviceJudge.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>

namespace kopt {
namespace {

using Groups = std::vector<std::vector<std::string>>;

/// Flags of clang_plugin/screen, and the checks that show each of them harmless.
const std::map<std::string, Groups> &demands() {
  static const Groups kOrder = {{"schedule", "sanitizer", "emulated"}, {"repeat"}};
  static const std::map<std::string, Groups> table = {
      {"atomic-removed", {{"schedule", "sanitizer", "emulated"}, {"repeat"}, {"contents"}}},
      {"barrier-removed", kOrder},
      {"fence-removed", kOrder},
      {"volatile", kOrder},
      {"cache-hint", {{"repeat"}, {"fresh"}}},
      {"inline-ptx", {{"repeat"}, {"fresh"}}},
      {"bounds-check", {{"sizes"}}},
      {"unused-parameter", {{"scalars", "sizes"}}},
      {"precision", {{"fresh"}, {"contents", "reference"}}},
      {"data-table", {{"fresh"}, {"contents", "scalars"}}},
      {"type-changed", {{"fresh"}, {"contents"}}},
      {"macro", {{"fresh"}}},
      {"shared-function", {{"fresh"}}},
      {"conditional", {{"fresh"}}},
      {"parse", {{"fresh"}, {"repeat"}}},
      {"assert", {{"contents"}}},
      {"trap", {{"contents"}}},
      {"sleep", {{"timed"}}},
      // Code for one architecture only: kopt cannot run it on another one here.
      {"arch-conditional", {{"other architectures"}}},
      // No launch here is large enough, or runs blocks at the same time in every way that a GPU
      // may.
      {"short-index", {{"a problem that large"}}},
      {"narrow-index", {{"a problem that large"}}},
      {"short-product", {{"a problem that large"}}},
      {"atomic-scope", {{"blocks that run at once"}}},
  };
  return table;
}

} // namespace

Groups checksRequiredBy(const Finding &finding) {
  const auto found = demands().find(finding.id);
  return found == demands().end() || finding.severity != Severity::Flag ? Groups() : found->second;
}

bool wantsEveryCheck(const Trial &trial) {
  for (const Finding &finding : trial.findings)
    for (const std::vector<std::string> &group : checksRequiredBy(finding))
      if (std::find(group.begin(), group.end(), "sanitizer") != group.end())
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
      return Failure{"externals", Verdict::Rejected,
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
          "roofline", Verdict::Suspect,
          fmt::format(
              "launch '{}' took {:.3g} us, but writing its outputs takes {} at least {:.3g} us",
              launches[i].name, took * 1e6, device.name, floor * 1e6)};
  }
  return std::nullopt;
}

std::string OpenObligation::inWords() const {
  return fmt::format("{}, and no check that would show it harmless passed: {}{}", finding.message,
                     join(checks, " or "), why);
}

std::vector<OpenObligation> openObligations(const Trial &trial) {
  static const std::set<std::string> kHazards = {
      "atomic-removed",   "barrier-removed", "fence-removed", "volatile",
      "arch-conditional", "short-index",     "short-product", "atomic-scope"};
  std::vector<OpenObligation> open;
  const auto passed = [&](const std::string &check) { return trial.passed(check); };
  for (const Finding &finding : trial.findings)
    for (const std::vector<std::string> &group : checksRequiredBy(finding))
      if (std::none_of(group.begin(), group.end(), passed)) {
        std::string why;
        for (const CheckRecord &record : trial.checks)
          if (std::find(group.begin(), group.end(), record.check) != group.end() &&
              !record.detail.empty())
            why += fmt::format(" ({}: {})", record.check, record.detail);
        open.push_back({finding, group, std::move(why), kHazards.contains(finding.id)});
      }
  return open;
}

std::optional<Failure> whyNoWin(const Trial &trial, const CheckSwitches &switches,
                                AssurancePolicy policy) {
  if (!switches.all())
    return Failure{"", Verdict::Suspect,
                   fmt::format("not a verdict: checks off: {}; {}", switches.list(), trial.reason)};
  for (const OpenObligation &open : openObligations(trial))
    if (open.isHazard || policy == AssurancePolicy::Strict)
      return Failure{"obligations", Verdict::Suspect,
                     fmt::format("{}, but not proven: {}", trial.reason, open.inWords())};
  return std::nullopt;
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

Assurance DeviceJudge::assuranceSoFar(const Trial &trial) const {
  std::vector<AssuranceGap> others = trial.assurance.gaps;
  others.insert(others.end(), gaps_.begin(), gaps_.end());
  Assurance assurance = assuranceOf(trial.checks, others);
  assurance.counterexamples = trial.assurance.counterexamples;
  assurance.examples = trial.assurance.examples;
  return assurance;
}

/// Why a trial with verdict Faster is not a win. Under `standard`, what was not shown is a gap of
/// the assurance, unless there is a reason to doubt the candidate. Under `strict` any gap is such a
/// reason.
std::optional<Failure> DeviceJudge::whyNotClaimed(const std::vector<Launch> &launches, Depth depth,
                                                  Trial &trial) const {
  const bool isStrict = options_.assurance == AssurancePolicy::Strict;
  std::optional<Failure> failure;
  if (options_.checks.on("roofline"))
    failure = belowFloor(trial, launches, runner_.device());
  if (failure)
    return failure;
  if (options_.checks.on("mutants") && learned_ < Depth::Trial) {
    trial.checks.push_back({"mutants", CheckState::NotRun, "it runs only for winners"});
  } else if (options_.checks.on("mutants")) {
    const bool isDoubtful = !mutations_.isConclusive();
    const std::string remedy = mutations_.remedy();
    const std::string words =
        mutations_.inWords() + (remedy.empty() ? remedy : "; what would notice: " + remedy);
    if (isDoubtful && isStrict)
      return Failure{"mutants", Verdict::Suspect,
                     fmt::format("{}, but the workload does not notice all wrong kernels: {}",
                                 trial.reason, words)};
    if (mutations_.tried + mutations_.untried == 0)
      trial.checks.push_back(
          {"mutants", CheckState::NotApplicable, "there are no wrong versions to try"});
    else
      trial.checks.push_back(
          {"mutants", isDoubtful ? CheckState::NotRun : CheckState::Passed, words});
  }
  // On a GPU some checks run only for would-be winners, so the confirmation decides.
  const bool isFirstLook = depth == Depth::Search && !runner_.device().modelled;
  failure = whyNoWin(trial, options_.checks,
                     isFirstLook ? AssurancePolicy::Standard : options_.assurance);
  if (failure)
    return failure;
  for (const OpenObligation &open : openObligations(trial))
    addGap(trial.assurance, {"obligations", open.inWords()});
  if (!isStrict || !(depth == Depth::Win || runner_.device().modelled))
    return std::nullopt;
  return whyNotStrict(trial, assuranceSoFar(trial));
}

void DeviceJudge::claim(const std::vector<Launch> &launches, Depth depth, Trial &trial) const {
  if (trial.verdict != Verdict::Faster)
    return;
  if (const auto failure = whyNotClaimed(launches, depth, trial)) {
    trial.verdict = failure->verdict;
    trial.reason = failure->reason;
    trial.check = failure->check;
    if (!failure->check.empty())
      trial.checks.push_back({failure->check, CheckState::Failed, failure->reason});
  }
}

} // namespace kopt
