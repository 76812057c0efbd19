// SPDX-License-Identifier: Apache-2.0
// Winners over a judge that knows which of their edits gain.
#include "driver/search/Trim.h"
#include "fakes/FakeJudge.h"
#include "fakes/MemoryStore.h"
#include "tests/fakes/Results.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopt {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Each of these texts, wherever a candidate has it, makes it faster by its factor; without
/// "int i;" nothing that says "use(i)" builds.
class GainJudge final : public Judge {
public:
  std::map<std::string, double> gains;
  std::string ignored;                       ///< a constant that is in no machine code
  std::vector<std::string> judged, compared; ///< titles

  double speedOf(const Candidate &candidate) const {
    std::string text;
    for (const auto &[name, value] : candidate.constants)
      text += name + "=" + std::to_string(value) + ";";
    for (const auto &[index, chunk] : candidate.chunks)
      text += chunk;
    if (text.find("use(i)") != text.npos && text.find("int i;") == text.npos)
      return 0;
    double speed = 1;
    for (const auto &[part, gain] : gains)
      speed *= text.find(part) == text.npos ? 1 : gain;
    return speed;
  }
  Trial trialOf(const Candidate &candidate) const {
    Trial trial;
    trial.candidate = candidate;
    trial.candidateHash = candidate.contentHash();
    const double speed = speedOf(candidate);
    trial.verdict = speed > 1.01   ? Verdict::Faster
                    : speed == 0.0 ? Verdict::BuildFailed
                                   : Verdict::Same;
    trial.speedup = Speedup{speed, speed, speed};
    if (!ignored.empty()) {
      trial.moduleHash = fmt::format("{}", speed);
      if (!candidate.constants.contains(ignored) && candidate.constants.size() == 1)
        trial.verdict = Verdict::Duplicate;
    }
    return trial;
  }

  Result<Baseline> baseline() override { return Baseline{}; }
  Result<Trial> judge(const Candidate &candidate, Purpose, Stage) override {
    judged.push_back(candidate.title);
    Trial trial = trialOf(candidate);
    trial.id = std::int64_t(judged.size());
    return trial;
  }
  Result<std::optional<Speedup>> compare(const Candidate &candidate,
                                         const Candidate &other) override {
    compared.push_back(candidate.title + " against " + other.title);
    const double ratio = speedOf(candidate) / speedOf(other);
    return Speedup{ratio, ratio - 0.0005, ratio + 0.0005};
  }
  Status addCounters(Trial &) override { return {}; }
};

class TrimTest : public testing::Test {
protected:
  TrimTest() {
    SliceChunk helper, kernel;
    helper.name = "helper";
    helper.sliceEnd = slice_.find("k() {");
    kernel.name = "k";
    kernel.sliceBegin = helper.sliceEnd;
    kernel.sliceEnd = slice_.size();
    specialization_.chunks = {helper, kernel};
    winner_.title = "fast";
  }
  std::optional<Trial> trim(const std::function<bool()> &isTimeUp = {}) {
    auto log = Journal::open(store_, 1);
    const SearchProblem problem{kernel_, specialization_, workload_, slice_, device_};
    auto trimmed = trimWinner(problem, judge_.trialOf(winner_), 3, judge_, *log, isTimeUp);
    EXPECT_TRUE(trimmed);
    return *trimmed;
  }
  std::vector<std::string> titles() const {
    std::vector<std::string> all;
    for (const CandidateEdit &edit : editsOf(winner_, specialization_, slice_))
      all.push_back(edit.title);
    return all;
  }

  std::string slice_ = "helper() {\n  return 1;\n}\nk() {\n  load;\n  work;\n  store;\n}\n";
  GainJudge judge_;
  fakes::MemoryStore store_;
  Specialization specialization_;
  KernelSpec kernel_;
  Workload workload_;
  DeviceInfo device_;
  Candidate winner_;
};

TEST_F(TrimTest, WhatGainsNothingIsTakenOut) {
  winner_.constants = {{"TILE", 32}, {"UNROLL", 4}};
  winner_.chunks = {{1, "k() {\n  load4;\n  work;\n  store4;\n}\n"}};
  judge_.gains = {{"TILE=32", 1.2}, {"load4", 1.3}};
  const auto trimmed = must(trim());
  EXPECT_EQ(trimmed.candidate.constants, (std::map<std::string, std::int64_t>{{"TILE", 32}}));
  EXPECT_EQ(trimmed.candidate.chunks.at(1), "k() {\n  load4;\n  work;\n  store;\n}\n");
  EXPECT_EQ(trimmed.candidate.title, "fast, without UNROLL = 4, line 4 of k()");
  EXPECT_THAT(trimmed.candidate.parents, testing::SizeIs(1));
}

TEST_F(TrimTest, AWinnerWhoseEditsAllGainStaysAsItIs) {
  winner_.constants = {{"TILE", 32}, {"UNROLL", 4}};
  judge_.gains = {{"TILE=32", 1.2}, {"UNROLL=4", 1.01}};
  EXPECT_FALSE(trim());
  EXPECT_THAT(judge_.judged, ElementsAre("fast, without TILE = 32", "fast, without UNROLL = 4"));
}

TEST_F(TrimTest, AnEditThatOthersNeedStaysWithThem) {
  winner_.chunks = {{0, "helper() {\n  return 2;\n}\n"},
                    {1, "k() {\n  int i;\n  load;\n  work;\n  use(i);\n}\n"}};
  judge_.gains = {{"use(i)", 1.5}};
  const auto trimmed = must(trim());
  EXPECT_FALSE(trimmed.candidate.chunks.contains(0)) << "the helper's change gains nothing";
  EXPECT_EQ(trimmed.candidate.chunks.at(1), winner_.chunks.at(1));
}

TEST_F(TrimTest, AWinnerOfOneEditIsNotJudgedAgain) {
  winner_.constants = {{"TILE", 32}};
  EXPECT_THAT(titles(), IsEmpty());
  winner_.constants.clear();
  winner_.chunks = {{1, "k() {\n  load4;\n  work;\n  store;\n}\n"}};
  EXPECT_THAT(titles(), IsEmpty());
  winner_.launch.block = {{"64", "1", "1"}};
  EXPECT_THAT(titles(), ElementsAre("the launch", "the change of k()"));
}

TEST_F(TrimTest, RunsOfLinesAreEditsWhereAChunkHasSeveral) {
  winner_.chunks = {{1, "k() {\n  work;\n  store;\n  more;\n}\n"}};
  EXPECT_THAT(titles(), ElementsAre("line 2 of k()", "line 4 of k()"));
  const auto edits = editsOf(winner_, specialization_, slice_);
  EXPECT_EQ(edits[0].without.chunks.at(1), "k() {\n  load;\n  work;\n  store;\n  more;\n}\n");
  EXPECT_EQ(edits[1].without.chunks.at(1), "k() {\n  work;\n  store;\n}\n");
}

TEST_F(TrimTest, ABlockAroundLinesIsNotTakenApart) {
  winner_.chunks = {{1, "k() {\n  if (n) {\n    load;\n  work;\n  } else {\n    store;\n  }\n}\n"}};
  EXPECT_THAT(titles(), IsEmpty()) << "a part of it has one of two braces";
  winner_.chunks = {{1, "k() {\n    load;\n  work;\n  more;\n}\n"}};
  EXPECT_THAT(titles(), ElementsAre("line 4 of k()")) << "the other line is only indented";
}

TEST_F(TrimTest, ItEndsWhenTheTimeIsUpAndAfterAFewTries) {
  for (int i = 0; i < 20; ++i)
    winner_.constants["C" + std::to_string(i)] = 7;
  EXPECT_FALSE(trim([] { return true; }));
  EXPECT_THAT(judge_.judged, IsEmpty());
  trim();
  EXPECT_THAT(judge_.judged, testing::SizeIs(kMostTrims));
}

TEST_F(TrimTest, WhatChangesNoMachineCodeIsTakenOutUnmeasured) {
  winner_.constants = {{"TILE", 32}, {"UNUSED", 4}};
  judge_.gains = {{"TILE=32", 1.2}};
  judge_.ignored = "UNUSED";
  const auto trimmed = must(trim());
  EXPECT_EQ(trimmed.candidate.constants, (std::map<std::string, std::int64_t>{{"TILE", 32}}));
  EXPECT_EQ(trimmed.candidateHash, trimmed.candidate.contentHash());
  EXPECT_EQ(trimmed.verdict, Verdict::Faster);
  // Counters that are added later belong to its own record, not to that of the winner.
  EXPECT_EQ(trimmed.id, 2);
  EXPECT_THAT(judge_.compared, IsEmpty());
}

TEST_F(TrimTest, AResumedRunComparesNothingAgain) {
  winner_.constants = {{"TILE", 32}, {"UNROLL", 4}};
  judge_.gains = {{"TILE=32", 1.2}};
  ASSERT_TRUE(trim());
  judge_.compared.clear();
  ASSERT_TRUE(trim());
  EXPECT_THAT(judge_.compared, IsEmpty());
}

} // namespace
} // namespace kopt
