// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/checks/SanitizerCheck.h"

#include "driver/support/Text.h"

#include <fmt/format.h>
#include <map>

namespace kopt {
namespace {

std::vector<std::string> toolsFor(const Trial &trial, const Launch &launch) {
  std::vector<std::string> tools{"memcheck", "initcheck"};
  const std::string &text = trial.sliceText;
  if (launch.sharedBytes > 0 || (trial.resources && trial.resources->sharedBytes > 0) ||
      text.find("__shared__") != text.npos)
    tools.emplace_back("racecheck");
  if (text.find("__sync") != text.npos || text.find("cooperative_groups") != text.npos ||
      text.find("barrier") != text.npos)
    tools.emplace_back("synccheck");
  return tools;
}

class SanitizerGate final : public Check {
public:
  explicit SanitizerGate(std::shared_ptr<DerivedReplays> replays) : replays_(std::move(replays)) {}
  std::string name() const override { return "sanitizer"; }

  Status learn(CheckContext &context, Trial &baseline) override {
    return replays_->learnAll(context, baseline);
  }

  Result<std::optional<Failure>> ask(CheckContext &context, Examination &seen,
                                     CheckRecord &record) override {
    if (context.runner().device().modelled)
      return notApplicable(record, "the emulated device checks every launch itself");
    // At Depth::Trial the emulated device has looked for the same faults: a candidate that it
    // passed does not need the GPU's time.
    if (seen.depth == Depth::Trial && seen.trial.passed("emulated"))
      return notRun(record, kForWinners);
    const std::vector<const DerivedLaunch *> ones = replays_->smallOnes();
    if (ones.empty())
      return notRun(record, "no launch is small enough");
    const Launch *small = &ones.front()->launch;
    const auto launch = applyToDerived(context, seen.candidate, *small);
    if (!launch)
      return notRun(record, launch.error().what);
    const StageTimer timer(seen.trial, "verify/sanitizer");
    std::vector<std::string> ran, skipped;
    const std::vector<std::string> tools = toolsFor(seen.trial, *launch);
    KOPT_TRY(const auto reports,
             context.runner().sanitize(seen.built.module, *launch, tools, options(context)));
    for (std::size_t i = 0; i < tools.size() && i < reports.size(); ++i) {
      const SanitizerReport &report = reports[i];
      if (report.ran && report.errors == 0) {
        ran.push_back(tools[i]);
        continue;
      }
      std::string why = report.first;
      if (report.ran) {
        KOPT_TRY(why, whyNoTest(context, *small, tools[i]));
      }
      if (why.empty())
        return Failure{name(), Verdict::RunFailed,
                       fmt::format("launch '{}': {} found {} errors: {}", launch->name, tools[i],
                                   report.errors, report.first)};
      skipped.push_back(tools[i] + ": " + why);
    }
    record.detail =
        fmt::format("{} on launch '{}'", ran.empty() ? "none" : join(ran, ", "), launch->name);
    for (const std::string &text : skipped)
      record.detail += "; not run: " + text;
    if (ran.empty() || !skipped.empty()) // a tool that did not run shows nothing
      record.state = CheckState::NotRun;
    return std::nullopt;
  }

private:
  RunOptions options(CheckContext &context) const {
    return context.options(context.seed() + 4000, kPoison, context.heaviest(), "sanitizer");
  }

  /// Called when a candidate fails under a tool: why the original fails under it, too; empty if it
  /// passes.
  Result<std::string> whyNoTest(CheckContext &context, const Launch &launch,
                                const std::string &tool) {
    if (const auto known = original_.find(tool); known != original_.end())
      return known->second;
    KOPT_TRY(const auto reports, context.runner().sanitize(context.baseline().module, launch,
                                                           {tool}, options(context)));
    const SanitizerReport &report = reports.at(0);
    return original_[tool] = !report.ran         ? report.first
                             : report.errors > 0 ? "the original itself has errors: " + report.first
                                                 : "";
  }

  std::shared_ptr<DerivedReplays> replays_;
  std::map<std::string, std::string> original_; ///< by tool: why it is not a test
};

} // namespace

std::unique_ptr<Check> makeSanitizerCheck(std::shared_ptr<DerivedReplays> replays) {
  return std::make_unique<SanitizerGate>(std::move(replays));
}

} // namespace kopt
