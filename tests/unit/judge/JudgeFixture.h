// SPDX-License-Identifier: Apache-2.0
// A LocalJudge over fakes. KOPT_TEST_WITHOUT names a check that no judge made here has: then some
// test has to fail, which tests/ablation.py sees to.
#pragma once

#include "fakes/FakeBench.h"

#include <cstdlib>
#include <gtest/gtest.h>

namespace kopt::fakes {

class JudgeFixture : public testing::Test {
protected:
  LocalJudge make(const std::string &kernel = "kernel", bool modelled = false,
                  unsigned buildThreads = 0, JudgeOptions options = {}) {
    makeRunner(modelled);
    options.buildThreads = buildThreads;
    return make(makeSubject(kernel), std::move(options));
  }
  /// On the runner that makeRunner() made.
  LocalJudge make(Subject subject, JudgeOptions options) {
    options.scratch = folder_.path() / "evaluate";
    if (const char *without = std::getenv("KOPT_TEST_WITHOUT"); without && options.checks.all())
      options.checks = *CheckSwitches::without({without});
    EXPECT_TRUE(createDirectories(options.scratch));
    const auto profile = [this](ModuleId module, const std::filesystem::path &,
                                const Launch &launch) {
      return runner_->profile(module, launch, {});
    };
    JudgeServices services{frontend_, toolchain_, {{*runner_, profile, "0 fake"}}, {}};
    if (hasEmulated_)
      services.emulate = [this]() -> Result<EmulatedDevice> {
        ++opened_;
        return EmulatedDevice{std::make_unique<FakeToolchain>(),
                              std::make_unique<FakeRunner>(emulated_.path(), true)};
      };
    return LocalJudge(std::move(services), std::move(subject), options);
  }
  void makeRunner(bool modelled) {
    runner_ = std::make_unique<FakeRunner>(folder_.path(), modelled);
  }
  Trial judge(LocalJudge &local, const std::string &text) {
    auto trial = local.judge(candidateWith(text), Purpose::Search);
    EXPECT_TRUE(trial) << (trial ? "" : trial.error().what);
    return *trial;
  }
  static const CheckRecord *recordOf(const Trial &trial, const std::string &check) {
    for (const CheckRecord &record : trial.checks)
      if (record.check == check)
        return &record;
    return nullptr;
  }

  TemporaryDirectory folder_ = std::move(*TemporaryDirectory::create("local"));
  FakeFrontend frontend_;
  FakeToolchain toolchain_;
  std::unique_ptr<FakeRunner> runner_;
  TemporaryDirectory emulated_ = std::move(*TemporaryDirectory::create("emulated"));
  bool hasEmulated_ = false;
  int opened_ = 0;
};

} // namespace kopt::fakes
