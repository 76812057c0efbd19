// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/observed/KernelChoice.h"

#include <gmock/gmock.h>

namespace {

using namespace kopt;
using testing::ElementsAre;
using testing::HasSubstr;

/// A file with scale<float>, scale<double> and a kernel that it keeps to itself.
class KernelChoiceTest : public testing::Test {
protected:
  KernelChoiceTest() {
    scale.name = "scale";
    scale.specializations.resize(2);
    scale.specializations[0].symbol = "_Z5scaleIfEvPT_";
    scale.specializations[0].expression = "scale<float>";
    scale.specializations[1].symbol = "_Z5scaleIdEvPT_";
    scale.specializations[1].expression = "scale<double>";
    own.name = "own";
    own.specializations.resize(1);
    own.specializations[0].symbol = "_ZN12_GLOBAL__N_13ownEPf"; // as Clang mangles it
    own.specializations[0].expression = "own";
    extraction.kernels = {scale, own};
  }
  std::vector<KernelInstance> candidates() { return instancesIn(extraction); }

  KernelSpec scale, own;
  ExtractionResult extraction;
  const std::string library = "_ZN3cub6reduceEPf";
  const std::string ownAsNvccHasIt = "_ZN43_GLOBAL__N__00000000_7_main_cu_11111111_2223ownEPf";
};

TEST_F(KernelChoiceTest, WhatHasMostOfTheTimeIsTakenAndTheRestNamed) {
  const auto choice = chooseByTime({{"_Z5scaleIfEvPT_", 10, 5, 0.5},
                                    {library, 10, 2, 0.2},
                                    {ownAsNvccHasIt, 1, 1.5, 0.15},
                                    {"_Z5scaleIdEvPT_", 1, 1.5, 0.15}},
                                   candidates());
  ASSERT_TRUE(choice) << choice.error().what;
  EXPECT_THAT(choice->symbols, ElementsAre("_Z5scaleIfEvPT_", ownAsNvccHasIt))
      << "with the library's kernel they have more than 80 %";
  EXPECT_EQ(choice->describeElsewhere(),
            "not in the given files, so not tuned: cub::reduce (20.0%)");
}

TEST_F(KernelChoiceTest, WhereALibraryHasTheTimeTheLongestOfTheFilesIsTaken) {
  const auto choice = chooseByTime(
      {{library, 10, 9, 0.9}, {"_ZN3cub4scanEPf", 1, 0.5, 0.05}, {"_Z5scaleIdEvPT_", 1, 0.5, 0.05}},
      candidates());
  ASSERT_TRUE(choice) << choice.error().what;
  EXPECT_THAT(choice->symbols, ElementsAre("_Z5scaleIdEvPT_"));
  ASSERT_EQ(choice->elsewhere.size(), 1u) << "those among the 80 %";
}

TEST_F(KernelChoiceTest, KernelsWithNextToNoTimeAreNotTunedUnasked) {
  const std::vector<KernelShare> launched = {{library, 10, 9, 0.995},
                                             {"_Z5scaleIdEvPT_", 1, 0.05, 0.005}};
  const auto choice = chooseByTime(launched, candidates());
  ASSERT_FALSE(choice);
  EXPECT_EQ(choice.error().what,
            "the kernels of the given files have 0.5% of the program's kernel time");
  EXPECT_THAT(choice.error().hint, HasSubstr("cub::reduce (99.5%)"));
  EXPECT_THAT(choice.error().hint, HasSubstr("--kernel 'scale<double>'"));
  EXPECT_TRUE(chooseLaunched(launched, candidates())) << "where the user selects it";
}

TEST_F(KernelChoiceTest, ManyShortKernelsAreWorthTheirSum) {
  const auto choice = chooseByTime({{library, 10, 9, 0.985},
                                    {"_Z5scaleIfEvPT_", 1, 0.08, 0.008},
                                    {"_Z5scaleIdEvPT_", 1, 0.07, 0.007}},
                                   candidates());
  ASSERT_TRUE(choice) << choice.error().what;
  EXPECT_THAT(choice->symbols, ElementsAre("_Z5scaleIfEvPT_"));
}

TEST_F(KernelChoiceTest, NoMoreAreTakenThanThereIsTimeFor) {
  const auto choice = chooseByTime({{"_Z5scaleIfEvPT_", 10, 4, 0.4},
                                    {ownAsNvccHasIt, 1, 3, 0.3},
                                    {"_Z5scaleIdEvPT_", 1, 3, 0.3}},
                                   candidates(), 2);
  ASSERT_TRUE(choice) << choice.error().what;
  EXPECT_THAT(choice->symbols, ElementsAre("_Z5scaleIfEvPT_", ownAsNvccHasIt));
  ASSERT_EQ(choice->late.size(), 1u);
  EXPECT_EQ(choice->late[0].symbol, "_Z5scaleIdEvPT_");
  EXPECT_TRUE(choice->elsewhere.empty());
}

TEST_F(KernelChoiceTest, NamedKernelsAreTakenAsFarAsTheyWereLaunched) {
  const auto choice =
      chooseLaunched({{library, 10, 9, 0.9}, {"_Z5scaleIdEvPT_", 1, 1, 0.1}}, candidates());
  ASSERT_TRUE(choice) << choice.error().what;
  EXPECT_THAT(choice->symbols, ElementsAre("_Z5scaleIdEvPT_"));
  EXPECT_TRUE(choice->elsewhere.empty());
}

TEST_F(KernelChoiceTest, WhereNoneWasLaunchedTheErrorSaysWhatWas) {
  const std::vector<KernelShare> launched = {{library, 10, 9, 1.0}};
  for (const auto &choice :
       {chooseByTime(launched, candidates()), chooseLaunched(launched, candidates())}) {
    ASSERT_FALSE(choice);
    EXPECT_EQ(choice.error().code, ErrorCode::Usage);
    EXPECT_THAT(choice.error().what, HasSubstr("scale<float>, scale<double>, own"));
    EXPECT_THAT(choice.error().hint, HasSubstr("cub::reduce (100.0%)"));
  }
}

TEST_F(KernelChoiceTest, TheTimesOfSeveralRunsAreAdded) {
  const std::vector<KernelShare> first = {{library, 2, 3, 0.75}, {ownAsNvccHasIt, 1, 1, 0.25}};
  EXPECT_EQ(sharesOfAll({first}).front().share, 0.75);
  const auto all = sharesOfAll({first, {{own.specializations[0].symbol, 4, 4, 1}}});
  ASSERT_EQ(all.size(), 2u) << "one kernel, however it is mangled";
  EXPECT_EQ(all[0].symbol, ownAsNvccHasIt);
  EXPECT_EQ(all[0].launches, 5u);
  EXPECT_DOUBLE_EQ(all[0].seconds, 5);
  EXPECT_DOUBLE_EQ(all[0].share, 5.0 / 8);
  EXPECT_DOUBLE_EQ(all[1].share, 3.0 / 8);
}

TEST_F(KernelChoiceTest, WithoutTimesLaunchesCount) {
  KernelUse many, few;
  many.symbol = "many";
  many.launches = 3;
  few.symbol = "few";
  few.launches = 1;
  const auto shares = sharesOf({many, few});
  EXPECT_DOUBLE_EQ(shares[0].share, 0.75);
  EXPECT_DOUBLE_EQ(shares[1].share, 0.25);
  EXPECT_EQ(findShare(shares, "few")->launches, 1u);
  EXPECT_EQ(findShare(shares, "none"), nullptr);
}

} // namespace
