// SPDX-License-Identifier: Apache-2.0
#include "driver/source/CandidateLaunch.h"
#include "fakes/ScaleKernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopt {
namespace {

using testing::HasSubstr;

/// The subject of fakes::ScaleKernel, and a candidate's file with the same kernel and launch.
class CandidateLaunchTest : public fakes::ScaleKernel {
protected:
  CandidateLaunchTest() {
    kernel_.launches[0].variables = {"n"};
    subject_.kernel = changed_ = kernel_;
    subject_.specialization = specialization_;
    changed_.launches[0].file = "c.cu";
    changed_.launches[0].line = 9;
  }

  std::string take() {
    candidate_ = {};
    const Specialization *other = counterpart(subject_, changed_);
    return other ? takeLaunch(subject_, changed_, *other, candidate_).value_or("") : "none";
  }

  /// A second instantiation or launch, of both files.
  void addSite(const std::string &variable) {
    for (KernelSpec *kernel : {&subject_.kernel, &changed_}) {
      LaunchSite site = kernel_.launches[0];
      site.line = 20;
      site.args = {"x", variable};
      site.variables = {variable};
      site.grid[0] = "(" + variable + " + TILE - 1) / TILE";
      kernel->launches.push_back(site);
    }
  }

  void makeTemplate(KernelSpec &kernel, const std::string &value) {
    Specialization &one = kernel.specializations[0];
    one.templateArgs = {{"T", "float", false, {}}, {"PER", value, true, {}}};
    one.symbol = "scale" + value;
    one.expression = "scale<float, " + value + ">";
    for (LaunchSite &site : kernel.launches)
      site.symbol = one.symbol;
  }

  TuneSubject subject_;
  KernelSpec changed_;
  Candidate candidate_;
};

using Axes = std::array<std::string, 3>;

TEST_F(CandidateLaunchTest, TheSameLaunchIsNoChange) {
  EXPECT_EQ(take(), "");
  EXPECT_FALSE(candidate_.launch.grid || candidate_.launch.block || candidate_.launch.sharedBytes);
  // Another name of the variable that is passed is no change, either.
  changed_.launches[0].args = {"x", "count"};
  changed_.launches[0].variables = {"count"};
  changed_.launches[0].grid[0] = "(count + TILE - 1) / TILE";
  EXPECT_EQ(take(), "");
  EXPECT_FALSE(candidate_.launch.grid);
}

TEST_F(CandidateLaunchTest, WhatDiffersIsTakenOverParametersAndValues) {
  LaunchSite &site = changed_.launches[0];
  site.args = {"x", "count"};
  site.variables = {"count"};
  site.grid = {"(count / PART + TILE - 1) / TILE", "2", "1"};
  site.sharedBytes = "threads * 4";
  changed_.constants.push_back({"PART", ConstantKind::Constexpr, 4, {}, 1, false, true});
  changed_.constants.push_back({"threads", ConstantKind::Const, 128, {}, 1, false, true});
  EXPECT_EQ(take(), "");
  EXPECT_EQ(candidate_.launch.grid, (Axes{"(n / 4 + TILE - 1) / TILE", "2", "1"}));
  EXPECT_EQ(candidate_.launch.sharedBytes, "128 * 4");
  EXPECT_FALSE(candidate_.launch.block);
}

TEST_F(CandidateLaunchTest, SitesThatSayTheSameOfTheirArgumentsAreOneLaunch) {
  addSite("m");
  changed_.launches[0].grid[0] = "n / 64";
  changed_.launches[1].grid[0] = "m / 64";
  EXPECT_EQ(take(), "");
  EXPECT_EQ(candidate_.launch.grid, (Axes{"n / 64", "1", "1"}));
  changed_.launches[1].grid[0] = "m / 32";
  EXPECT_THAT(take(), HasSubstr("its launches at c.cu:9 and "));
}

TEST_F(CandidateLaunchTest, AHostVariableWithAParametersNameIsNotTakenForIt) {
  changed_.launches[0].args = {"x", "count"};
  changed_.launches[0].variables = {"n"};
  changed_.launches[0].grid[0] = "n / 64";
  EXPECT_THAT(take(), HasSubstr("depends on 'n'"));
}

TEST_F(CandidateLaunchTest, WhatCannotBeReadIsRefusedWithItsReason) {
  changed_.launches[0].grid = {};
  changed_.launches[0].reason = "the grid depends on 'blocks()'";
  EXPECT_THAT(take(),
              HasSubstr("the grid of the candidate's launch (c.cu:9) could not be read: the grid "
                        "depends on 'blocks()'"));
}

TEST_F(CandidateLaunchTest, AnotherIntegralTemplateArgumentIsTheCandidatesSpecialization) {
  makeTemplate(subject_.kernel, "4");
  subject_.specialization = subject_.kernel.specializations[0];
  makeTemplate(changed_, "8");
  EXPECT_EQ(take(), "");
  EXPECT_EQ(candidate_.constants, (std::map<std::string, std::int64_t>{{"PER", 8}}));
  // The old instantiation may be there still, launched by nobody.
  changed_.specializations.insert(changed_.specializations.begin(), subject_.specialization);
  EXPECT_EQ(counterpart(subject_, changed_)->expression, "scale<float, 8>");
  // Or launched elsewhere: the new one is the candidate.
  changed_.launches.insert(changed_.launches.begin(), subject_.kernel.launches[0]);
  EXPECT_EQ(counterpart(subject_, changed_)->expression, "scale<float, 8>");
  EXPECT_EQ(take(), "");
  EXPECT_EQ(candidate_.constants.at("PER"), 8);
}

TEST_F(CandidateLaunchTest, OtherTypesAndOtherParametersAreRefused) {
  makeTemplate(subject_.kernel, "4");
  subject_.specialization = subject_.kernel.specializations[0];
  makeTemplate(changed_, "4");
  changed_.specializations[0].templateArgs[0].value = "double";
  EXPECT_THAT(take(), HasSubstr("only integral template arguments may change, but 'T' is double"));
  changed_.specializations[0].templateArgs.pop_back();
  EXPECT_THAT(take(), HasSubstr("template parameters differ from the original's"));
}

TEST_F(CandidateLaunchTest, ASliceHasNoLaunch) {
  changed_.launches.clear();
  EXPECT_EQ(take(), "");
  changed_.specializations.clear();
  EXPECT_EQ(take(), "none");
}

} // namespace
} // namespace kopt
