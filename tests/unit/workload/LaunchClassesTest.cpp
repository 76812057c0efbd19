// SPDX-License-Identifier: Apache-2.0
#include "driver/device/capture/ObserveProgram.h"
#include "unit/workload/TraceSample.h"

#include <gmock/gmock.h>

namespace {

using namespace kopt;
using kopt::test::TraceSample;
using testing::HasSubstr;

TEST(LaunchClasses, GeometryAndScalarsTellKindsApart) {
  TraceSample sample;
  for (int i = 0; i < 6; ++i)
    sample.launch(1000, 10e-6);
  sample.launch(1001, 10e-6); // the same grid, another scalar
  for (int i = 0; i < 2; ++i)
    sample.launch(1000, 50e-6, 2); // grid y
  const auto kernels = rankKernels(sample.observed);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].launches, 9u);
  EXPECT_DOUBLE_EQ(kernels[0].seconds, 170e-6);
  EXPECT_DOUBLE_EQ(kernels[0].share, 1);
  ASSERT_EQ(kernels[0].classes.size(), 3u);
  EXPECT_EQ(kernels[0].classes[0].describe(), "grid 8x2 block 128");
  EXPECT_EQ(kernels[0].classes[1].launches.size(), 6u);
}

TEST(LaunchClasses, ScalarsThatAlwaysVaryAreNoKinds) {
  TraceSample sample;
  for (int i = 0; i < 100; ++i)
    sample.launch(900 + i, 10e-6);
  const auto kernels = rankKernels(sample.observed);
  EXPECT_TRUE(kernels[0].scalarsVary);
  EXPECT_EQ(kernels[0].classes.size(), 1u);
}

TEST(LaunchClasses, FastAndSlowAreKeptApart) {
  TraceSample sample;
  for (int i = 0; i < 40; ++i)
    sample.launch(1000, i % 4 == 0 ? 60e-6 + i * 1e-9 : 10e-6 + i * 1e-9);
  for (int i = 0; i < 40; ++i)
    sample.launch(500, 10e-6 + i * 0.2e-6); // noise: p95/p25 below 2.5
  const auto kernels = rankKernels(sample.observed);
  ASSERT_EQ(kernels[0].classes.size(), 3u);
  EXPECT_TRUE(kernels[0].classes[0].slow);
  EXPECT_EQ(kernels[0].classes[0].launches.size(), 10u);
  EXPECT_FALSE(kernels[0].classes[1].slow || kernels[0].classes[1].fast);
  EXPECT_TRUE(kernels[0].classes[2].fast);
}

TEST(LaunchClasses, UnknownTimesCountAsTheMean) {
  TraceSample sample;
  sample.launch(1000, 10e-6);
  sample.launch(1000, -1);
  sample.launch(500, -1);
  const auto kernels = rankKernels(sample.observed);
  EXPECT_EQ(kernels[0].timed, 1u);
  EXPECT_DOUBLE_EQ(kernels[0].seconds, 30e-6);
}

TEST(LaunchClasses, LaunchesPastTheCapCount) {
  TraceSample sample;
  sample.launch(1000, 10e-6);
  sample.observed.processes[0].totals[0] = 5;
  const auto kernels = rankKernels(sample.observed);
  EXPECT_EQ(kernels[0].launches, 5u);
  EXPECT_DOUBLE_EQ(kernels[0].seconds, 50e-6);
}

TEST(LaunchClasses, HundredsOfSizesBecomeAFewKindsByTime) {
  TraceSample sample;
  for (int i = 0; i < 200; ++i)
    sample.launch(128 * (i + 1), 1e-6 * (i + 1));
  const KernelUse use = rankKernels(sample.observed)[0];
  ASSERT_EQ(use.classes.size(), kKindsOfLaunches);
  std::size_t launches = 0, merged = 0;
  for (const LaunchClass &one : use.classes) {
    EXPECT_NEAR(one.seconds, use.seconds / 5, 0.02 * use.seconds);
    launches += one.launches.size();
    merged += one.merged;
  }
  EXPECT_EQ(launches, 200u);
  EXPECT_EQ(merged, 200u);
  EXPECT_THAT(use.classes[0].describe(), HasSubstr(" kinds of launches"));
  const Selection selection =
      chooseRepresentatives(use, 5, kCoverage, [](const LaunchRef &) { return true; });
  EXPECT_EQ(selection.chosen.size(), 5u);
  EXPECT_NEAR(selection.coverage, 1, 1e-9);
  double shortest = 1;
  for (const Representative &one : selection.chosen)
    shortest = std::min(shortest, one.launch.seconds);
  EXPECT_NEAR(shortest, 45e-6, 2e-6) << "the median of the 89 shortest";
}

TEST(Representatives, TheKindsThatHaveNineTenthsOfTheTime) {
  TraceSample sample;
  const double each[] = {500e-6, 300e-6, 120e-6, 50e-6, 30e-6};
  for (int kind = 0; kind < 5; ++kind)
    for (int i = 0; i < 3; ++i)
      sample.launch(128 * (kind + 1), each[kind] + (i - 1) * 1e-6);
  const auto kernels = rankKernels(sample.observed);
  const auto any = [](const LaunchRef &) { return true; };
  const Selection selection = chooseRepresentatives(kernels[0], 5, 0.9, any);
  ASSERT_EQ(selection.chosen.size(), 3u);
  EXPECT_NEAR(selection.coverage, 0.92, 1e-9);
  EXPECT_NEAR(selection.chosen[0].weight, 500.0 / 920, 1e-9);
  EXPECT_EQ(sample.observed.processes[0].launches[selection.chosen[0].launch.launch].ordinal, 1u)
      << "the median";
  ASSERT_TRUE(selection.chosen[0].heldOut);
  EXPECT_NE(selection.chosen[0].heldOut->launch, selection.chosen[0].launch.launch);
  EXPECT_EQ(chooseRepresentatives(kernels[0], 2, 0.9, any).chosen.size(), 2u);
  EXPECT_TRUE(chooseRepresentatives(kernels[0], 5, 0.9, [](const LaunchRef &) {
                return false;
              }).chosen.empty());
}

TEST(Representatives, ThePlanNamesTheirOrdinals) {
  TraceSample sample;
  for (int i = 0; i < 5; ++i)
    sample.launch(1000, 10e-6 + i * 1e-6);
  sample.observed.processes[0].launches[2].fromGraph = true; // cannot be snapshotted
  const auto orders =
      planSnapshots(sample.observed, rankKernels(sample.observed), 5, 1u << 30).orders;
  ASSERT_EQ(orders.size(), 1u);
  EXPECT_EQ(orders[0].symbol, "_Z5scalePfPKfi");
  EXPECT_EQ(orders[0].how, "launch 1,3");
}

TEST(Representatives, ThePlanKeepsToTheRoomThereIs) {
  TraceSample sample;
  for (int i = 0; i < 3; ++i)
    sample.launch(500, 10e-6);
  for (int i = 0; i < 3; ++i)
    sample.launch(1000, 50e-6);
  const auto kernels = rankKernels(sample.observed);
  constexpr std::uint64_t kOne = 2 * (4096 + 8192); // both buffers, before and after
  const auto planned = [&](std::uint64_t bytes) {
    return planSnapshots(sample.observed, kernels, 5, bytes);
  };
  const SnapshotPlan all = planned(4 * kOne);
  ASSERT_EQ(all.orders.size(), 1u);
  EXPECT_EQ(std::ranges::count(all.orders[0].how, ','), 3);
  EXPECT_TRUE(all.notes.empty());
  const SnapshotPlan one = planned(kOne);
  ASSERT_EQ(one.orders.size(), 1u);
  EXPECT_EQ(one.orders[0].how, "launch 3") << "of the heavier kind";
  EXPECT_EQ(one.notes.size(), 3u);
  const SnapshotPlan none = planned(kOne - 1);
  EXPECT_TRUE(none.orders.empty());
  ASSERT_FALSE(none.notes.empty());
  EXPECT_THAT(none.notes[0], HasSubstr("its memory takes 24.0 KiB"));
  for (int i = 0; i < 3; ++i)
    sample.launch(2000, 20e-6);
  const SnapshotPlan many =
      planSnapshots(sample.observed, rankKernels(sample.observed), 5, kOne - 1);
  ASSERT_EQ(many.notes.size(), 5u);
  EXPECT_EQ(many.notes.back(), "2 other launches are not stored either");
}

TEST(Representatives, TheRoomForOtherLaunchesIsAShareOfTheMachines) {
  TraceSample sample;
  sample.observed.processes[0].allocations[1].bytes = std::uint64_t(9) << 30; // twice: 18 GiB
  for (int i = 0; i < 2; ++i)
    sample.launch(1000, 50e-6);
  const auto planned = [&](std::uint64_t gigabytes) {
    return planSnapshots(sample.observed, rankKernels(sample.observed), 5, gigabytes << 30);
  };
  EXPECT_EQ(planned(64).orders[0].how, "launch 0,1");
  EXPECT_THAT(planned(40).notes[0], HasSubstr("12.0 GiB of the limit of 30.0 GiB are left"));
}

} // namespace
