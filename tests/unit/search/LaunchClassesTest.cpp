// SPDX-License-Identifier: Apache-2.0
// Which launches a candidate wins, and the threshold that tells them from the others.
#include "driver/search/proposers/LaunchClasses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopt {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Trial trialWith(const std::vector<Speedup> &speedups, Verdict verdict = Verdict::Slower) {
  Trial trial;
  trial.candidateHash = "candidate";
  trial.verdict = verdict;
  for (const Speedup &speedup : speedups)
    trial.timings.push_back({"launch", speedup, 0, 0, {}, {}});
  return trial;
}

Trial baseline() {
  Trial trial = trialWith({{1.1, 1.1, 1.1}, {1.1, 1.1, 1.1}, {1.1, 1.1, 1.1}}, Verdict::Same);
  trial.candidateHash = Candidate().contentHash();
  return trial;
}

std::string condition(const std::vector<std::int64_t> &values, const std::vector<bool> &wins) {
  const auto found = conditionOn(LaunchMeasure{"n", values}, wins);
  return found ? found->text : "none";
}

TEST(LaunchClassesTest, ALaunchWinsIfItsIntervalSaysSo) {
  const Trial trial = trialWith({{1.3, 1.2, 1.4}, {1.05, 0.99, 1.1}, {0.8, 0.7, 0.9}});
  EXPECT_THAT(launchWins(trial, baseline()), ElementsAre(true, false, false));
  EXPECT_THAT(launchWins(baseline(), trial), ElementsAre(false, false, true));
  // Against another candidate both intervals count.
  const Trial other = trialWith({{1.1, 1.0, 1.25}, {0.9, 0.8, 0.95}, {0.7, 0.6, 0.75}});
  EXPECT_THAT(launchWins(trial, other), ElementsAre(false, true, false));
  EXPECT_THAT(launchWins(trialWith({{2, 2, 2}}, Verdict::WrongResult), baseline()), IsEmpty());
  EXPECT_THAT(launchWins(trialWith({{2, 2, 2}}), baseline()), IsEmpty()); // not on every launch
  EXPECT_TRUE(isSplit({true, false}));
  EXPECT_FALSE(isSplit({true, true}));
  EXPECT_FALSE(isSplit({false}));
  EXPECT_FALSE(isSplit({}));
}

TEST(LaunchClassesTest, PairsAreRankedByWhatTheWorkloadWouldGain) {
  const auto named = [](const char *hash, const std::vector<Speedup> &speedups) {
    Trial trial = trialWith(speedups);
    trial.candidateHash = hash;
    return trial;
  };
  std::vector<Trial> trials = {baseline(), named("much", {{1.5, 1.4, 1.6}, {0.5, 0.4, 0.6}}),
                               named("more", {{0.5, 0.4, 0.6}, {4, 3.9, 4.1}}),
                               named("hardly", {{1.004, 1.003, 1.005}, {1, 1, 1}}),
                               named("everywhere", {{1.1, 1.1, 1.1}, {1.1, 1.1, 1.1}})};
  trials[0].timings.pop_back();
  const std::vector<double> weights = {0.75, 0.25};
  std::vector<ClassPair> pairs = classPairs(trials, trials[0], weights);
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0].special->candidateHash, "much");
  EXPECT_EQ(pairs[0].usual, &trials[0]);
  EXPECT_THAT(pairs[0].wins, ElementsAre(true, false));
  EXPECT_DOUBLE_EQ(pairs[0].estimate, 1 / (0.75 / 1.5 + 0.25));
  EXPECT_DOUBLE_EQ(pairs[1].estimate, 1 / (0.75 + 0.25 / 4));
  // Beside a better candidate than the original both gain more.
  trials[4].speedup = Speedup{1.1, 1.1, 1.1};
  pairs = classPairs(trials, trials[4], weights);
  ASSERT_EQ(pairs.size(), 4u);
  EXPECT_EQ(pairs[0].usual, &trials[4]);
  EXPECT_DOUBLE_EQ(pairs[0].estimate, 1 / (0.75 / 1.5 + 0.25 / 1.1));
  trials[4].speedup = Speedup{1.4, 1.4, 1.4};
  EXPECT_THAT(classPairs(trials, trials[4], weights), IsEmpty());
}

TEST(LaunchClassesTest, PairsAreRankedByTheObjective) {
  Trial quick = trialWith({{8, 7, 9}, {0.5, 0.4, 0.6}}),
        slow = trialWith({{0.5, 0.4, 0.6}, {2, 1.9, 2.1}});
  quick.candidateHash = "quick";
  slow.candidateHash = "slow";
  for (Trial *trial : {&quick, &slow}) {
    trial->timings[0].baselineSeconds = 1e-6;
    trial->timings[1].baselineSeconds = 10e-6;
  }
  std::vector<Trial> trials = {baseline(), quick, slow};
  trials[0].timings.pop_back();
  const std::vector<double> weights = {0.8, 0.2};
  EXPECT_EQ(classPairs(trials, trials[0], weights).front().special->candidateHash, "quick");
  const auto pairs = classPairs(trials, trials[0], weights, Objective::Worst);
  ASSERT_EQ(pairs.size(), 1u) << "what makes the other launches faster gains nothing";
  EXPECT_EQ(pairs[0].special->candidateHash, "slow");
  EXPECT_NEAR(pairs[0].estimate, 2, 1e-9);
}

TEST(LaunchClassesTest, TheThresholdIsTheRoundNumberNextToTheWins) {
  EXPECT_EQ(condition({1000, 100000}, {false, true}), "n >= 65536");
  EXPECT_EQ(condition({100000, 1000}, {false, true}), "n <= 1024");
  EXPECT_EQ(condition({65536, 4096}, {true, false}), "n >= 65536");
  EXPECT_EQ(condition({70000, 66000}, {true, false}), "n >= 70000"); // nothing round lies between
  EXPECT_EQ(condition({70000, 66000}, {false, true}), "n <= 66000");
  EXPECT_EQ(condition({0, 1}, {true, false}), "n <= 0");
  EXPECT_EQ(condition({0, 1}, {false, true}), "n >= 1");
  EXPECT_EQ(condition({-5, 5}, {true, false}), "n <= -5");
  EXPECT_EQ(condition({-5, -9}, {true, false}), "n >= -5");
  EXPECT_EQ(condition({INT64_MAX, INT64_MIN}, {true, false}), "n >= 4611686018427387904");
  EXPECT_EQ(condition({INT64_MAX - 1, INT64_MAX}, {true, false}), "n <= 9223372036854775806");
  EXPECT_EQ(condition({10, 20, 30}, {false, true, false}), "none");
  EXPECT_EQ(condition({10, 20, 30}, {true, true, false}), "n <= 20");
  EXPECT_EQ(condition({10, 10}, {true, false}), "none");
  EXPECT_EQ(condition({10, 20}, {true, true}), "none");
}

TEST(LaunchClassesTest, ParametersComeBeforeTheGridAndTheWidestGapFirst) {
  const std::vector<bool> wins = {false, true};
  const LaunchMeasure flags{"flags", {1, 2}}, size{"n", {100, 100000}}, same{"m", {7, 7}},
      grid{"gridDim.x", {1, 4000}};
  EXPECT_EQ(conditionOn({flags, size, grid}, wins)->text, "n >= 65536");
  EXPECT_EQ(conditionOn({flags, grid}, wins)->text, "flags >= 2");
  EXPECT_EQ(conditionOn({same, grid}, wins)->text, "gridDim.x >= 2048");
  EXPECT_FALSE(conditionOn(std::vector<LaunchMeasure>{same}, wins));
}

TEST(LaunchClassesTest, IntegersAreReadFromTheArguments) {
  Specialization specialization;
  const auto add = [&](const char *name, ParamKind kind, const char *scalar) {
    KernelParam param;
    param.name = name;
    param.kind = kind;
    param.scalar = scalar;
    specialization.params.push_back(param);
  };
  add("x", ParamKind::Pointer, "f32");
  add("n", ParamKind::Scalar, "i32");
  add("alpha", ParamKind::Scalar, "f32");
  add("count", ParamKind::Scalar, "u64");
  add("rest", ParamKind::Scalar, "i32");
  add("rest", ParamKind::Scalar, "i32");
  Launch launch;
  launch.grid = {7, 1, 1};
  launch.arguments = {BufferArg{},
                      ValueArg{std::string("\xfe\xff\xff\xff", 4)},
                      ValueArg{std::string(4, '\0')},
                      ValueArg{std::string("\0\0\x01\0\0\0\0\0", 8)},
                      ValueArg{std::string(4, '\0')},
                      ValueArg{std::string(4, '\0')}};
  Workload workload;
  workload.launches = {launch};
  const auto measures = measuresOf(specialization, workload);
  ASSERT_GE(measures.size(), 3u);
  EXPECT_EQ(measures[0].name, "n");
  EXPECT_THAT(measures[0].values, ElementsAre(-2));
  EXPECT_EQ(measures[1].name, "count");
  EXPECT_THAT(measures[1].values, ElementsAre(65536));
  EXPECT_EQ(measures[2].name, "gridDim.x"); // names of a pack are no names
  EXPECT_THAT(measures[2].values, ElementsAre(7));
}

} // namespace
} // namespace kopt
