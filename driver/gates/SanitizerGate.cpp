// SPDX-License-Identifier: Apache-2.0
#include "driver/gates/SanitizerGate.h"

#include "driver/support/Text.h"

#include <fmt/format.h>
#include <map>

namespace kopt {
namespace {

std::vector<std::string> toolsFor(const Trial &trial, const Launch &launch) {
  std::vector<std::string> tools{"memcheck", "initcheck"};
  const std::string &text = trial.sliceText;
  if (launch.sharedBytes > 0 || (trial.resources && trial.resources->sharedBytes > 0) || text.find("__shared__") != text.npos)
    tools.emplace_back("racecheck");
  if (text.find("__sync") != text.npos || text.find("cooperative_groups") != text.npos ||
      text.find("barrier") != text.npos)
    tools.emplace_back("synccheck");
  return tools;
}

class SanitizerGate final : public Gate {
public:
  explicit SanitizerGate(std::shared_ptr<DerivedReplays> replays) : replays_(std::move(replays)) {}
  std::string name() const override { return "sanitizer"; }

  Status learn(Bench &bench, Trial &baseline) override { return replays_->learn(bench, baseline); }

  Result<std::optional<Failure>> check(Bench &bench, Examination &seen, GateRecord &record) override {
    const auto notRun = [&](const std::string &why) {
      record = {name(), GateState::NotRun, why};
      return std::optional<Failure>();
    };
    if (bench.runner().device().modelled)
      return notRun("the emulated device checks every launch itself");
    if (!seen.sanitize)
      return notRun("it is asked of winners, and where screening flagged something");
    const Launch *small = replays_->small();
    if (!small)
      return notRun("no launch is small enough");
    const auto launch = applyToLaunch(bench.subject().kernel, *small, seen.candidate);
    if (!launch)
      return notRun(launch.error().what);
    std::vector<std::string> ran, skipped;
    for (const std::string &tool : toolsFor(seen.trial, *launch)) {
      KOPT_TRY(const std::string why, whyNoTest(bench, *small, tool));
      if (!why.empty()) {
        skipped.push_back(tool + ": " + why);
        continue;
      }
      KOPT_TRY(const SanitizerReport report, bench.runner().sanitize(seen.built.module, *launch, tool, options(bench)));
      if (!report.ran)
        skipped.push_back(tool + ": " + report.first);
      else if (report.errors > 0)
        return Failure{name(), Verdict::RunFailed,
                       fmt::format("launch '{}': {} found {} errors: {}", launch->name, tool, report.errors, report.first)};
      else
        ran.push_back(tool);
    }
    record.detail = join(ran, ", ");
    for (const std::string &text : skipped)
      record.detail += (record.detail.empty() ? "not run: " : "; not run: ") + text;
    if (ran.empty() || !skipped.empty()) // a tool that did not run has shown nothing
      record.state = GateState::NotRun;
    return std::nullopt;
  }

private:
  RunOptions options(Bench &bench) const {
    return bench.options(bench.seed() + 4000, kPoison, bench.heaviest(), "sanitizer");
  }

  /// Empty where the original itself passes the tool.
  Result<std::string> whyNoTest(Bench &bench, const Launch &launch, const std::string &tool) {
    if (const auto known = original_.find(tool); known != original_.end())
      return known->second;
    KOPT_TRY(const SanitizerReport report,
             bench.runner().sanitize(bench.baseline().module, launch, tool, options(bench)));
    return original_[tool] = !report.ran        ? report.first
                             : report.errors > 0 ? "the original itself has errors: " + report.first
                                                 : "";
  }

  std::shared_ptr<DerivedReplays> replays_;
  std::map<std::string, std::string> original_; ///< by tool: why it is no test
};

} // namespace

std::unique_ptr<Gate> makeSanitizerGate(std::shared_ptr<DerivedReplays> replays) {
  return std::make_unique<SanitizerGate>(std::move(replays));
}

} // namespace kopt
