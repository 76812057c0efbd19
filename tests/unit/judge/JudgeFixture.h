// SPDX-License-Identifier: Apache-2.0
// A LocalJudge over fakes. KOPT_TEST_WITHOUT names a check that no judge made here has: then some
// test has to fail, which tests/ablation.py sees to.
#pragma once

#include "driver/workload/WorkloadBuilder.h"
#include "fakes/FakeBench.h"

#include <atomic>
#include <cstdlib>
#include <gtest/gtest.h>

namespace kopt {

/// Messages of tests show an enumerator by its name.
template <SpelledEnum Enum> std::ostream &operator<<(std::ostream &out, Enum value) {
  return out << toString(value);
}

} // namespace kopt

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
    options.depth = std::max(options.depth, depth_);
    if (const char *without = std::getenv("KOPT_TEST_WITHOUT"); without && options.checks.all())
      options.checks = *CheckSwitches::without({without});
    EXPECT_TRUE(createDirectories(options.scratch));
    const auto profile = [this](ModuleId module, const std::filesystem::path &,
                                const Launch &launch) {
      return runner_->profile(module, launch, {});
    };
    JudgeServices services{
        frontend_, toolchain_, {{*runner_, profile, "0 fake", nullptr, lines_}}, {}};
    services.secondsLeft = secondsLeft_;
    if (hasEmulated_)
      services.emulated = {&emulator_, [this]() -> Result<std::unique_ptr<Runner>> {
                             ++opened_;
                             return std::make_unique<FakeRunner>(emulated_.path(), true);
                           }};
    return LocalJudge(std::move(services), std::move(subject), options);
  }
  /// Every check has its say, unless a test is about what a search leaves for winners.
  Depth depth_ = Depth::Trial;
  LinesFunction lines_;                 ///< of the device
  std::function<double()> secondsLeft_; ///< for a confirmation; empty: no limit
  void makeRunner(bool modelled) {
    runner_ = std::make_unique<FakeRunner>(folder_.path(), modelled);
  }
  Trial judge(LocalJudge &local, const std::string &text) {
    auto trial = local.judge(candidateWith(text), Purpose::Search);
    EXPECT_TRUE(trial) << (trial ? "" : trial.error().what);
    return *trial;
  }
  /// scale(in, out, factor, n), with a launch site that any n and factor can be given to.
  static Subject scaleSubject() {
    Subject subject = makeSubject();
    LaunchSite site;
    site.symbol = subject.specialization.symbol;
    site.geometry = GeometryKind::Symbolic;
    site.grid = {"(n + 63) / 64", "1", "1"};
    site.block = {"64", "1", "1"};
    site.variables = {"n"};
    site.args = {"in", "out", "factor", "n"};
    subject.kernel.launches = {site};
    subject.specialization.params = {
        {"in", "const float *", ParamKind::Pointer, 8, 8, "f32", 1, 4, true, false},
        {"out", "float *", ParamKind::Pointer, 8, 8, "f32", 1, 4, false, false},
        {"factor", "float", ParamKind::Scalar, 4, 4, "f32", 1, 0, false, false},
        {"n", "int", ParamKind::Scalar, 4, 4, "i32", 1, 0, false, false}};
    return subject;
  }
  /// The same with a declared launch.
  Subject declaredSubject() {
    Subject subject = scaleSubject();
    subject.declaration.emplace();
    subject.declaration->arguments = {{"factor", "1.5"}, {"n", "64"}};
    subject.declaration->extents = {{"in", "n"}, {"out", "n"}};
    auto workload = buildWorkload(subject.kernel, subject.specialization, *subject.declaration,
                                  runner_->device().kind);
    EXPECT_TRUE(workload) << (workload ? "" : workload.error().what);
    subject.workload = std::move(*workload);
    return subject;
  }

  /// Gives the bench the original's launches and module.
  void loadBaseline(CheckContext &bench) {
    ASSERT_TRUE(writeFileAtomically(folder_.path() / "module", "kernel"));
    bench.baseline().launches = bench.subject().workload.launches;
    bench.baseline().module = runner_->load(folder_.path() / "module", "")->id;
  }
  static const CheckRecord *recordOf(const Trial &trial, CheckId check) {
    for (const CheckRecord &record : trial.checks)
      if (record.check == check)
        return &record;
    return nullptr;
  }

  TemporaryDirectory folder_ = std::move(*TemporaryDirectory::create("local"));
  FakeFrontend frontend_;
  FakeToolchain toolchain_, emulator_;
  std::unique_ptr<FakeRunner> runner_;
  TemporaryDirectory emulated_ = std::move(*TemporaryDirectory::create("emulated"));
  bool hasEmulated_ = false;
  std::atomic<int> opened_ = 0; ///< emulated devices, by the threads that use them
};

} // namespace kopt::fakes
