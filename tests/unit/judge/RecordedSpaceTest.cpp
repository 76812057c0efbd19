// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/recorded/RecordedSpaceJudge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kopt {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

/// Two parameters, four points of which one does not build; the last one was not measured.
json cache() {
  return json::parse(R"({
    "device_name": "GPU", "kernel_name": "add", "tune_params_keys": ["TILE", "WIDE"],
    "tune_params": {"TILE": [32, 16], "WIDE": [0, 1]},
    "cache": {
      "32,0": {"TILE": 32, "WIDE": 0, "time": 2.0, "times": [2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0],
               "compile_time": 400, "verification_time": 20, "benchmark_time": 80, "framework_time": 900},
      "16,0": {"TILE": 16, "WIDE": 0, "time": 1.0, "times": [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
               "compile_time": 1000},
      "16,1": {"TILE": 16, "WIDE": 1, "time": "CompilationFailedConfig", "compile_time": 250}}})");
}

Candidate withTile(std::int64_t tile, std::int64_t wide = 0) {
  Candidate candidate;
  candidate.constants = {{"TILE", tile}, {"WIDE", wide}};
  return candidate;
}

TEST(RecordedSpaceTest, ReadsACacheOfKernelTuner) {
  const auto space = readRecordedSpace(cache());
  ASSERT_TRUE(space) << space.error().what;
  EXPECT_EQ(space->kernel, "add");
  EXPECT_THAT(space->declaration.params.at(0).values, ElementsAre(32, 16));
  ASSERT_EQ(space->points.size(), 3u);
  const RecordedPoint &slow = space->points.at({32, 0});
  EXPECT_DOUBLE_EQ(slow.mean(), 2e-3);
  EXPECT_DOUBLE_EQ(slow.cost, 0.5) << "what the tuner itself took is no cost of the point";
  EXPECT_TRUE(space->points.at({16, 1}).seconds.empty());
  EXPECT_EQ(space->points.at({16, 1}).failure, Verdict::BuildFailed);
}

TEST(RecordedSpaceTest, EachFormatSaysTheSameAgain) {
  auto space = *readRecordedSpace(cache());
  space.declaration.requirements = {"TILE > WIDE"};
  const json t1 = writeRecordedSpace(space, RecordFormat::T1);
  for (const RecordFormat format : {RecordFormat::KernelTuner, RecordFormat::T4}) {
    const json file = writeRecordedSpace(space, format);
    const auto again = readRecordedSpace(file, format == RecordFormat::T4 ? &t1 : nullptr);
    ASSERT_TRUE(again) << again.error().what;
    EXPECT_EQ(writeRecordedSpace(*again, format), file) << toString(format);
    EXPECT_THAT(again->declaration.params.at(0).values, ElementsAre(32, 16)) << toString(format);
    EXPECT_EQ(again->points.at({16, 1}).failure, Verdict::BuildFailed);
  }
  EXPECT_EQ(
      readRecordedSpace(writeRecordedSpace(space, RecordFormat::T4), &t1)->declaration.requirements,
      space.declaration.requirements);
}

TEST(RecordedSpaceTest, SaysWhatIsWrongWithAFile) {
  EXPECT_THAT(readRecordedSpace(json::array()).error().what, HasSubstr("neither a cache"));
  json words = cache();
  words["cache"]["32,0"]["TILE"] = "wide";
  EXPECT_THAT(readRecordedSpace(words).error().what, HasSubstr("'TILE' is no whole number"));
  json other = cache();
  other["cache"]["32,0"]["TILE"] = 7;
  EXPECT_THAT(readRecordedSpace(other).error().what, HasSubstr("'TILE' has no value 7"));
  json none = cache();
  none["cache"] = {{"16,1", none["cache"]["16,1"]}};
  EXPECT_THAT(readRecordedSpace(none).error().what, HasSubstr("no point of it ran"));
  none.erase("tune_params");
  EXPECT_THAT(readRecordedSpace(none).error().what, HasSubstr("tune_params"));
}

TEST(RecordedSpaceTest, JudgesByTheSamplesInTheTimeThatTheyTook) {
  const auto space = *readRecordedSpace(cache());
  SimulatedClock clock;
  const auto begun = clock.now();
  RecordedSpaceJudge judge(space, {32, 0}, VerdictPolicy(), clock);
  const auto baseline = judge.baseline();
  ASSERT_TRUE(baseline);
  EXPECT_EQ(baseline->trial.verdict, Verdict::Same);
  EXPECT_EQ(baseline->workload.launches.at(0).bindings.at("TILE"), 32);
  const Trial faster = *judge.judge(withTile(16), Purpose::Search);
  EXPECT_EQ(faster.verdict, Verdict::Faster) << faster.reason;
  EXPECT_DOUBLE_EQ(faster.speedup->estimate, 2);
  EXPECT_DOUBLE_EQ(Duration(clock.now() - begun).count(), 1.5);
  EXPECT_EQ(judge.judge(withTile(16, 1), Purpose::Search)->verdict, Verdict::BuildFailed);
  EXPECT_DOUBLE_EQ(Duration(clock.now() - begun).count(), 1.75);
  EXPECT_EQ(judge.judge(withTile(32, 1), Purpose::Search)->verdict, Verdict::Rejected);
  EXPECT_DOUBLE_EQ((*judge.compare(withTile(32), withTile(16)))->estimate, 0.5);
  EXPECT_FALSE(judge.compare(withTile(16, 1), withTile(16))->has_value());
}

} // namespace
} // namespace kopt
