// SPDX-License-Identifier: Apache-2.0
#include "driver/app/tune/Lessons.h"

#include "driver/model/Json.h"
#include "driver/support/Hash.h"

#include <cmath>
#include <gmock/gmock.h>

namespace kopt {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class LessonsTest : public testing::Test {
protected:
  LessonsTest() {
    subject_.label = "scale<float>";
    subject_.sliceText = "__global__ void scale(float *secret);";
    subject_.specialization.symbol = "_Z5scalePf";
    subject_.specialization.params = {
        {.name = "secret", .kind = ParamKind::Pointer, .scalar = "f32"}};
    run_.name = "scale-1";
    run_.startedUtc = "2026-11-29T12:00:00Z";
    device_.arch = "sm_90";
    Trial baseline = trial("baseline", Verdict::Same, {});
    baseline.counters = {{"launch__block_size", 256}, {"dram__bytes_read.sum", 1e9}};
    trials_ = {baseline};
  }

  static Trial trial(const std::string &hash, Verdict verdict, std::optional<Speedup> speedup,
                     std::vector<std::string> parents = {}) {
    Trial made;
    made.candidateHash = hash;
    made.candidate.proposer = "transform";
    made.candidate.technique = "unroll";
    made.candidate.parents = std::move(parents);
    made.verdict = verdict;
    made.speedup = speedup;
    made.seconds = 2;
    if (speedup)
      made.checks = {{CheckId::Outputs, CheckState::Passed, ""}};
    return made;
  }
  std::vector<Lesson> lessons() const {
    return lessonsOf({subject_, run_, device_, "nvcc 13.0.88", "app", {}}, trials_);
  }

  TuneSubject subject_;
  RunRecord run_;
  DeviceInfo device_;
  std::vector<Trial> trials_;
};

TEST_F(LessonsTest, AGainIsOverTheParentAndOverTheBaseline) {
  trials_.push_back(trial("a", Verdict::Faster, Speedup{2, 1.8, 2.2, 0.95, 40}, {"baseline"}));
  trials_.push_back(trial("b", Verdict::Faster, Speedup{3, 2.9, 3.1, 0.95, 30}, {"a"}));
  const std::vector<Lesson> found = lessons();
  ASSERT_THAT(found, SizeIs(2));
  const Experience &first = found[0].experience, &second = found[1].experience;
  EXPECT_EQ(first.parent, "");
  EXPECT_DOUBLE_EQ(first.overParent->low, std::log(1.8));
  EXPECT_EQ(second.parent, "a");
  EXPECT_DOUBLE_EQ(second.overBaseline->estimate, std::log(3));
  EXPECT_DOUBLE_EQ(second.overParent->estimate, std::log(1.5));
  EXPECT_LT(second.overParent->low, std::log(2.9 / 2.0))
      << "the parent is not known exactly either";
  EXPECT_GT(second.overParent->low, std::log(2.9 / 2.2));
  EXPECT_EQ(second.overParent->pairs, 30u);
  EXPECT_EQ(problemOf(second), "");
}

TEST_F(LessonsTest, TheStateIsThatOfWhatWasChanged) {
  trials_.front().diagnosis.state = "uncoalesced";
  for (const auto &[hash, parent] : {std::pair("a", "baseline"), {"b", "a"}, {"c", "b"}})
    trials_.push_back(trial(hash, Verdict::Faster, Speedup{2, 1.8, 2.2}, {parent}));
  trials_[1].diagnosis.state = "dram-bound"; // "b" has no counters
  std::vector<std::string> states;
  for (const Lesson &each : lessons())
    states.push_back(each.experience.state);
  EXPECT_THAT(states, ElementsAre("uncoalesced", "dram-bound", "uncoalesced"));
}

TEST_F(LessonsTest, WhatIsNotVerifiedTeachesNothing) {
  Trial unverified = trial("a", Verdict::Slower, Speedup{0.5, 0.4, 0.6});
  unverified.checks.clear();
  trials_.push_back(unverified);
  trials_.push_back(trial("b", Verdict::Suspect, Speedup{9, 8, 10}));
  trials_.push_back(trial("c", Verdict::Faster, Speedup{2, 1.8, 2.2}, {"a"}));
  EXPECT_THAT(lessons(), IsEmpty()) << "nor what was made from it";
}

TEST_F(LessonsTest, AFailureTeachesValidityAlone) {
  trials_.push_back(trial("a", Verdict::WrongResult, Speedup{2, 1.8, 2.2}));
  trials_.push_back(trial("b", Verdict::BuildFailed, {}));
  const std::vector<Lesson> found = lessons();
  ASSERT_THAT(found, SizeIs(2));
  for (const Lesson &each : found)
    EXPECT_FALSE(each.experience.overParent || each.experience.overBaseline);
}

TEST_F(LessonsTest, ARewritesParameterAndWhatDecidedAreKept) {
  trials_.push_back(trial("a", Verdict::Faster, Speedup{2, 1.8, 2.2}));
  trials_.back().candidate.title = "unroll by 4, line 9: for (secret = 2;;)";
  trials_.push_back(trial("b", Verdict::WrongResult, {}, {"a"}));
  trials_.back().candidate.title = trials_[1].candidate.title + " + launch in blocks of 64";
  trials_.back().check = CheckId::Outputs;
  trials_.push_back(trial("c", Verdict::BuildFailed, {}));
  trials_.back().stage = Stage::Build;
  trials_.back().candidate.proposer = "llm";
  trials_.back().candidate.title = "secret = 4";
  const std::vector<Lesson> found = lessons();
  ASSERT_THAT(found, SizeIs(3));
  EXPECT_EQ(found[0].experience.variant, "unroll 4");
  EXPECT_EQ(found[0].experience.decidedBy, std::nullopt);
  EXPECT_EQ(found[1].experience.variant, "launch 64");
  EXPECT_EQ(found[1].experience.decidedBy, toString(CheckId::Outputs));
  EXPECT_EQ(found[2].experience.variant, std::nullopt) << "a model's words may be the user's";
  EXPECT_EQ(found[2].experience.decidedBy, "build");
}

TEST_F(LessonsTest, ADuplicateIsAsFastAsItsTwin) {
  trials_.push_back(trial("a", Verdict::Faster, Speedup{2, 1.8, 2.2}));
  trials_.push_back(trial("b", Verdict::Duplicate, {}, {"a"}));
  trials_.back().duplicateOf = "a";
  trials_.push_back(trial("c", Verdict::Duplicate, {}));
  trials_.back().duplicateOf = "baseline";
  const std::vector<Lesson> found = lessons();
  ASSERT_THAT(found, SizeIs(3));
  EXPECT_DOUBLE_EQ(found[1].experience.overBaseline->estimate, std::log(2));
  EXPECT_DOUBLE_EQ(found[1].experience.overParent->estimate, 0);
  EXPECT_DOUBLE_EQ(found[2].experience.overBaseline->estimate, 0);
}

TEST_F(LessonsTest, ModelledTimesAreOfNoGpu) {
  device_.modelled = true;
  trials_.push_back(trial("a", Verdict::Faster, Speedup{2, 2, 2}));
  EXPECT_EQ(lessons().at(0).experience.arch, kEmulatedArch);
}

TEST_F(LessonsTest, TheSameRunTeachesTheSame) {
  trials_.push_back(trial("a", Verdict::Faster, Speedup{2, 1.8, 2.2}));
  const std::string id = idOf(lessons().at(0).experience);
  EXPECT_EQ(id, idOf(lessons().at(0).experience));
  run_.startedUtc = "2026-11-29T12:00:01Z";
  EXPECT_NE(id, idOf(lessons().at(0).experience)) << "another run is another measurement";
}

TEST_F(LessonsTest, ARowHasNoSource) {
  trials_.push_back(trial("a", Verdict::Faster, Speedup{2, 1.8, 2.2}));
  trials_.back().candidate.chunks[1] = "secret";
  trials_.back().candidate.title = trials_.back().candidate.rationale = "secret";
  subject_.kernel.file = subject_.kernel.directory = "/secret/file.cu";
  const Experience row = lessons().at(0).experience;
  EXPECT_THAT(canonicalJson(row), testing::Not(testing::HasSubstr("secret")));
  EXPECT_EQ(row.kernel.text, hashHex(subject_.sliceText));
  EXPECT_EQ(row.kernel.features,
            (std::map<std::string, double>{
                {"launch__block_size", 256}, {"pointer parameters", 1}, {"f32 parameters", 1}}));
  subject_.specialization.fileLocal = true;
  EXPECT_EQ(lessons().at(0).experience.kernel.symbol, "") << "it has the file's name in it";
}

} // namespace
} // namespace kopt
