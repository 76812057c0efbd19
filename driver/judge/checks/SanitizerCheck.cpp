// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/checks/Checks.h"
#include "driver/judge/replays/OwnLaunches.h"

#include "driver/support/Text.h"

#include <fmt/format.h>
#include <future>
#include <map>
#include <utility>

namespace kopt {
namespace {

std::vector<std::string> toolsFor(const Trial &trial, const Launch &launch) {
  std::vector<std::string> tools{"memcheck", "initcheck", "synccheck"};
  if (launch.sharedBytes > 0 || !trial.resources || trial.resources->sharedBytes > 0)
    tools.emplace_back("racecheck");
  return tools;
}

class SanitizerCheck final : public Check {
public:
  explicit SanitizerCheck(std::shared_ptr<DerivedReplays> replays) : replays_(std::move(replays)) {}
  CheckId id() const override { return CheckId::Sanitizer; }

  Status learn(CheckContext &context, Trial &baseline) override {
    return replays_->learnAll(context, baseline);
  }

  /// The tools take seconds, most of them on the CPU, so they run beside the other checks.
  void begin(CheckContext &context, const Examination &seen) override {
    pending_.reset();
    const std::vector<const DerivedLaunch *> ones = replays_->smallOnes();
    if (seen.depth == Depth::Win && !ones.empty())
      if (auto question = start(context, seen, ones.front()->launch))
        pending_ = std::move(*question);
  }
  void end() override { pending_.reset(); }

  Result<std::optional<Failure>> ask(CheckContext &context, Examination &seen,
                                     CheckRecord &record) override {
    // At Depth::Trial the emulated device has looked for the same faults: a candidate that it
    // passed does not need the GPU's time.
    if (seen.depth == Depth::Trial && seen.trial.passed(CheckId::Emulated))
      return notRun(record, kForWinners);
    const std::vector<const DerivedLaunch *> ones = replays_->smallOnes();
    if (ones.empty())
      return notRun(record, "no launch is small enough");
    const Launch *small = &ones.front()->launch;
    auto asked = pending_ && pending_->freshSeed == seen.freshSeed
                     ? Result<Question>(std::move(*pending_))
                     : start(context, seen, *small);
    pending_.reset();
    if (!asked)
      return notRun(record, asked.error().what);
    const StageTimer timer(seen.trial, "verify/sanitizer");
    const std::vector<std::string> &tools = asked->tools;
    KOPT_TRY(const auto reports, asked->reports.get());
    std::vector<std::string> ran, skipped;
    for (std::size_t i = 0; i < tools.size() && i < reports.size(); ++i) {
      const SanitizerReport &report = reports[i];
      if (report.ran && report.errors == 0) {
        ran.push_back(tools[i]);
        continue;
      }
      std::string why = report.first;
      if (report.ran) {
        KOPT_TRY(why, whyNoTest(context, *small, tools[i], report));
      }
      if (why.empty())
        return Failure{id(), Verdict::RunFailed,
                       fmt::format("launch '{}': {} found {} errors: {}", asked->launch, tools[i],
                                   report.errors, report.first)};
      skipped.push_back(tools[i] + ": " + why);
    }
    record.detail =
        fmt::format("{} on launch '{}'", ran.empty() ? "none" : join(ran, ", "), asked->launch);
    for (const std::string &text : skipped)
      record.detail += "; not run: " + text;
    if (ran.empty() || !skipped.empty()) // a tool that did not run shows nothing
      record.state = CheckState::NotRun;
    return std::nullopt;
  }

private:
  struct Question {
    std::uint64_t freshSeed = 0;
    std::string launch; ///< its name
    std::vector<std::string> tools;
    std::future<Runner::SanitizerReports> reports;
  };

  /// Starts the tools. Fails as applyToDerived().
  Result<Question> start(CheckContext &context, const Examination &seen,
                         const Launch &small) const {
    KOPT_TRY(const Launch launch, applyToDerived(context, seen.candidate, small));
    Question question{seen.freshSeed, launch.name, toolsFor(seen.trial, launch), {}};
    question.reports =
        context.runner().sanitize(seen.built.module, launch, question.tools, options(context));
    return question;
  }

  static RunOptions options(CheckContext &context) {
    return context.options(context.seed() + 4000, kPoison, context.heaviest(), "sanitizer");
  }

  /// Called when a candidate fails under a tool: why the original fails under it, too; empty if it
  /// passes. An original whose threads race within a warp only does not excuse races of warps.
  Result<std::string> whyNoTest(CheckContext &context, const Launch &launch,
                                const std::string &tool, const SanitizerReport &candidate) {
    auto known = original_.find(tool);
    if (known == original_.end()) {
      KOPT_TRY(auto reports,
               context.runner()
                   .sanitize(context.baseline().module, launch, {tool}, options(context))
                   .get());
      known = original_.emplace(tool, std::move(reports.at(0))).first;
    }
    const SanitizerReport &report = known->second;
    if (!report.ran)
      return report.first;
    const bool isWorse = report.errors == report.warnings && candidate.errors > candidate.warnings;
    return report.errors == 0 || isWorse ? "" : "the original itself has errors: " + report.first;
  }

  std::shared_ptr<DerivedReplays> replays_;
  std::optional<Question> pending_;
  std::map<std::string, SanitizerReport> original_; ///< by tool
};

} // namespace

std::unique_ptr<Check> makeSanitizerCheck(std::shared_ptr<DerivedReplays> replays) {
  return std::make_unique<SanitizerCheck>(std::move(replays));
}

} // namespace kopt
