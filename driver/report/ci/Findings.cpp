// SPDX-License-Identifier: Apache-2.0
#include "driver/report/ci/Findings.h"

#include "driver/judge/Statistics.h"
#include "driver/support/Hash.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace kopt {
namespace {

GateFinding finding(const char *rule, const std::string &kernel, GatePlace place, std::string title,
                    std::string message, double cost = 0) {
  return {
      rule, FindingLevel::Note, kernel, std::move(place), std::move(title), std::move(message), {},
      cost};
}

std::string withNotes(const GateKernel &kernel, std::string message) {
  for (const std::string &note : kernel.notes)
    message += "; " + note;
  return message;
}

/// " by 12.3%", relative to the time in the base.
std::string byHowMuch(const GateKernel &kernel) {
  if (!kernel.speedup || !(kernel.speedup->estimate > 0))
    return "";
  const double ratio = 1 / kernel.speedup->estimate;
  return " by " + formatPercent(ratio > 1 ? ratio - 1 : 1 - ratio);
}

std::string modelledNote(const GateReport &report) {
  return report.modelled ? " (modelled, not measured on a GPU)" : "";
}

void addKernel(const GateReport &report, const GateKernel &kernel,
               std::vector<GateFinding> &findings) {
  const auto add = [&](const char *rule, const std::string &title, const std::string &message,
                       double cost = 0) {
    findings.push_back(finding(rule, kernel.kernel, kernel.place, title, message, cost));
  };
  if (kernel.broken)
    return add("kopt/broken", fmt::format("{} fails", kernel.kernel),
               withNotes(kernel, kernel.reason), kernel.lostSeconds);
  switch (kernel.verdict) {
  case GateVerdict::Slower:
    return add("kopt/regression", fmt::format("{} is slower{}", kernel.kernel, byHowMuch(kernel)),
               withNotes(kernel, fmt::format("speedup over the base{}: {}", modelledNote(report),
                                             kernel.reason)),
               kernel.lostSeconds);
  case GateVerdict::Faster:
    return add("kopt/faster", fmt::format("{} is faster{}", kernel.kernel, byHowMuch(kernel)),
               withNotes(kernel, fmt::format("speedup over the base{}: {}", modelledNote(report),
                                             kernel.reason)),
               -kernel.lostSeconds);
  case GateVerdict::Ambiguous:
    return add("kopt/ambiguous", fmt::format("{}: the measurement does not decide", kernel.kernel),
               withNotes(kernel, kernel.reason), kernel.lostSeconds);
  case GateVerdict::NotMeasured:
    if (kernel.change != KernelChange::Removed && !report.isDryRun)
      add("kopt/not-measured", fmt::format("{} was not measured", kernel.kernel),
          withNotes(kernel, kernel.reason));
    return;
  case GateVerdict::Same:
    return;
  }
}

/// Sets fingerprints and makes them unique, because readers drop a second finding with the same
/// fingerprint.
void addFingerprints(const GateReport &report, std::vector<GateFinding> &findings) {
  std::map<std::string, std::size_t> uses;
  const auto key = [&](const GateFinding &one) {
    return hashFields(report.name, one.rule, one.kernel);
  };
  for (const GateFinding &one : findings)
    ++uses[key(one)];
  std::map<std::string, std::size_t> again;
  for (GateFinding &one : findings) {
    one.fingerprint = key(one);
    if (uses[one.fingerprint] > 1)
      one.fingerprint = hashFields(report.name, one.rule, one.kernel, one.place.file);
    if (const std::size_t before = again[one.fingerprint]++; before > 0)
      one.fingerprint = hashFields(one.fingerprint, std::to_string(before));
  }
}

std::string escapedData(const std::string &text) {
  return replaceAll(replaceAll(replaceAll(text, "%", "%25"), "\r", "%0D"), "\n", "%0A");
}
std::string escapedProperty(const std::string &text) {
  return replaceAll(replaceAll(escapedData(text), ":", "%3A"), ",", "%2C");
}

const char *commandOf(FindingLevel level) {
  return level == FindingLevel::Error     ? "error"
         : level == FindingLevel::Warning ? "warning"
                                          : "notice";
}

} // namespace

const std::vector<GateRule> &gateRules() {
  static const std::vector<GateRule> rules = {
      {"kopt/broken", "KernelFails",
       "The change makes a kernel fail on launches that the base's version runs.",
       FindingLevel::Error},
      {"kopt/regression", "KernelSlower",
       "The change makes a kernel slower; a fresh process confirmed it.", FindingLevel::Error},
      {"kopt/stale-variant", "StaleVariant",
       "A tuned variant of kopt.lock no longer fits its kernel, so the build uses the original.",
       FindingLevel::Warning},
      {"kopt/ambiguous", "KernelUndecided",
       "The measurement does not decide whether the kernel became slower.", FindingLevel::Note},
      {"kopt/not-measured", "KernelNotMeasured",
       "The change touches a kernel that could not be compared with the base's version.",
       FindingLevel::Note},
      {"kopt/proposal", "FasterVersion", "kopt found a faster version of a touched kernel.",
       FindingLevel::Note},
      {"kopt/faster", "KernelFaster", "The change makes a kernel faster.", FindingLevel::Note},
  };
  return rules;
}

std::vector<GateFinding> findingsOf(const GateReport &report) {
  std::vector<GateFinding> findings;
  for (const GateKernel &kernel : report.kernels)
    addKernel(report, kernel, findings);
  for (const GateVariant &variant : report.variants)
    if (variant.isNew)
      findings.push_back(
          finding("kopt/stale-variant", variant.kernel, variant.place,
                  fmt::format("the tuned variant of {} is stale", variant.kernel),
                  fmt::format("{}, so the build uses the original: tune it again with kopt tune "
                              "and kopt apply --mode header",
                              variant.what)));
  for (const GateProposal &proposal : report.proposals)
    findings.push_back(finding("kopt/proposal", proposal.kernel, proposal.place,
                               fmt::format("a faster version of {} was found", proposal.kernel),
                               fmt::format("{}: {}; the patch is {}", proposal.title,
                                           inWords(proposal.speedup), proposal.patch)));
  const auto rank = [](const GateFinding &one) {
    return std::ranges::find(gateRules(), one.rule,
                             [](const GateRule &rule) { return std::string(rule.id); }) -
           gateRules().begin();
  };
  for (GateFinding &one : findings)
    one.level = gateRules()[std::size_t(rank(one))].level;
  std::ranges::stable_sort(findings, [&](const GateFinding &a, const GateFinding &b) {
    if (a.level != b.level)
      return a.level < b.level;
    if (rank(a) != rank(b))
      return rank(a) < rank(b);
    return a.cost > b.cost;
  });
  addFingerprints(report, findings);
  return findings;
}

std::string githubAnnotations(const std::vector<GateFinding> &findings, std::size_t limit) {
  const std::size_t shown = findings.size() <= limit ? findings.size() : limit - 1;
  std::string out;
  for (std::size_t i = 0; i < shown; ++i) {
    const GateFinding &one = findings[i];
    std::string place =
        one.place.file.empty() ? "" : "file=" + escapedProperty(one.place.file) + ",";
    if (one.place.line > 0 && !place.empty())
      place += fmt::format("line={},", one.place.line);
    out += fmt::format("::{} {}title={}::{}\n", commandOf(one.level), place,
                       escapedProperty("kopt: " + one.title), escapedData(one.message));
  }
  if (const std::size_t left = findings.size() - shown; left > 0)
    out += fmt::format("::{} title={}::{}\n", commandOf(findings[shown].level),
                       escapedProperty(fmt::format("kopt: {} more findings", left)),
                       escapedData("the summary of the job and the reports have all of them"));
  return out;
}

} // namespace kopt
