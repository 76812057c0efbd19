// SPDX-License-Identifier: Apache-2.0
#include "driver/knowledge/ExperienceBase.h"

#include "driver/diagnose/Techniques.h"
#include "driver/knowledge/Exchange.h"
#include "driver/model/Json.h"
#include "driver/support/FileSystem.h"
#include "tests/fakes/Results.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <random>
#include <set>
#include <tuple>

namespace kopt {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using What = Revocation::What;

Candidate candidateOf(int number) {
  Candidate candidate;
  candidate.title = "secret title";
  candidate.chunks[1] = "secret_text(" + std::to_string(number) + ");";
  return candidate;
}

Lesson lesson(const std::string &run, int number, std::optional<double> gain,
              const std::string &technique = "unroll", const std::string &arch = "sm_90") {
  Lesson made;
  made.edits = candidateOf(number);
  Experience &one = made.experience;
  one.kernel = {"scale<float>", "_Z5scalePf", "0123"};
  one.technique = technique;
  one.arch = arch;
  one.toolchain = "nvcc 13.0.88";
  one.verdict = gain ? *gain > 0.01 ? Verdict::Faster : Verdict::Slower : Verdict::WrongResult;
  if (gain)
    one.overParent = one.overBaseline = LogGain{*gain, *gain - 0.01, *gain + 0.01, 40};
  one.seconds = 1.5;
  one.candidate = made.edits->contentHash();
  one.from = {run, "app", "1.0", "2026-11-29T12:00:00Z"};
  return made;
}

Lesson confirmation(Lesson made, double gain) {
  made.experience.purpose = Purpose::Confirmation;
  made.experience.overParent->estimate = made.experience.overParent->high = gain;
  return made;
}

class ExperienceBaseTest : public testing::Test {
protected:
  static ExperienceBase open() { return must(ExperienceBase::open(":memory:")); }
  static std::vector<std::string> ids(ExperienceBase &base) {
    std::vector<std::string> all;
    for (const Remembered &row : must(base.find({}, 1'000'000)))
      all.push_back(row.id);
    std::ranges::sort(all);
    return all;
  }
  static std::vector<TechniqueOutcomes> outcomes(ExperienceBase &base, bool isEmulated = false) {
    return must(base.outcomes(must(base.last()), isEmulated));
  }
};

TEST_F(ExperienceBaseTest, ATrialIsAddedOnce) {
  const TemporaryDirectory folder = must(TemporaryDirectory::create("kopt-experience-"));
  const auto openFile = [&] { return must(ExperienceBase::open(folder.path() / "own.db")); };
  ExperienceBase base = openFile();
  EXPECT_EQ(must(base.add({lesson("a-1", 1, 0.2), lesson("a-1", 2, {})})), 2u);
  EXPECT_EQ(must(base.add({lesson("a-1", 1, 0.2), lesson("a-1", 3, 0.1)})), 1u);
  EXPECT_THAT(ids(base), SizeIs(3));
  ExperienceBase again = openFile();
  EXPECT_EQ(ids(again), ids(base)) << "it lasts";
}

TEST_F(ExperienceBaseTest, WhatNoTrialTaughtIsRefused) {
  ExperienceBase base = open();
  Lesson wrong = lesson("a-1", 1, std::nan(""));
  Lesson controls = lesson("a-1", 1, 0.1, "\x1b[2J");
  Lesson others = lesson("a-1", 1, 0.1);
  others.edits->chunks[1] += "// another";
  Lesson suspect = lesson("a-1", 1, 0.1);
  suspect.experience.verdict = Verdict::Suspect;
  for (const Lesson &bad : {wrong, controls, others, suspect})
    EXPECT_THAT(base.add({lesson("a-1", 7, 0.1), bad}), isErrorWith(ErrorParts{ErrorCode::Usage}));
  EXPECT_THAT(ids(base), IsEmpty()) << "all or nothing";
}

// Every database that saw the same rows and revocations knows the same, in whatever order, however
// often and in whatever groups they came.
TEST_F(ExperienceBaseTest, MergingIsAUnionInAnyOrder) {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    std::mt19937 random(seed);
    const auto draw = [&](int below) { return int(random() % unsigned(below)); };
    struct Change {
      std::vector<Lesson> lessons;
      std::string source;
      std::optional<Revocation> revocation;
    };
    std::vector<Change> changes;
    for (int i = 0; i < 12; ++i) {
      Change change;
      const std::string run = "run-" + std::to_string(draw(3));
      if (draw(4) == 0) {
        const What what = What(draw(3));
        change.revocation =
            Revocation{what, what == What::Trial ? idOf(lesson(run, draw(6), 0.1).experience)
                             : what == What::Run ? run
                                                 : "s" + std::to_string(draw(2))};
      } else {
        change.source = draw(2) ? "s" + std::to_string(draw(2)) : "";
        for (int n = draw(5); n >= 0; --n)
          change.lessons.push_back(lesson(run, draw(6), 0.1));
        if (draw(2))
          for (Lesson &each : change.lessons)
            each.edits.reset();
      }
      changes.push_back(std::move(change));
    }
    std::set<std::string> states;
    for (int order = 0; order < 3; ++order) {
      ExperienceBase base = open();
      for (int times = 0; times <= order; ++times) { // more than once, too
        std::ranges::shuffle(changes, random);
        for (const Change &change : changes)
          if (change.revocation)
            must(base.revoke(*change.revocation));
          else
            must(base.add(change.lessons, change.source));
      }
      std::string state;
      std::vector<Remembered> rows = must(base.find({}, 1'000));
      for (Remembered &row : rows) {
        std::ranges::sort(row.sources);
        state += row.id + (row.isOwn ? " own" : "") + (row.edits ? " edits " : " ") +
                 testing::PrintToString(row.sources) + "\n";
      }
      states.insert(state);
    }
    EXPECT_THAT(states, SizeIs(1)) << "seed " << seed;
  }
}

TEST_F(ExperienceBaseTest, MergingFilesIsAssociative) {
  ExperienceBase a = open(), b = open(), c = open(), left = open(), right = open();
  must(a.add({lesson("a-1", 1, 0.1), lesson("a-1", 2, 0.2)}));
  must(b.add({lesson("b-1", 2, 0.2), lesson("b-1", 3, 0.3)}));
  must(c.add({lesson("c-1", 4, {}), lesson("b-1", 3, 0.3)}));
  const auto give = [](ExperienceBase &from, ExperienceBase &to) {
    must(importExperience(to, must(exportExperience(from, false)).text, "file", "friend"));
  };
  ExperienceBase ab = open(), bc = open();
  give(a, ab), give(b, ab), give(ab, left), give(c, left);
  give(b, bc), give(c, bc), give(a, right), give(bc, right);
  EXPECT_EQ(ids(left), ids(right));
  EXPECT_THAT(ids(left), SizeIs(5));
}

TEST_F(ExperienceBaseTest, WhatIsRevokedStaysSo) {
  ExperienceBase base = open();
  const std::vector<Lesson> theirs = {lesson("x-1", 1, 0.1), lesson("x-1", 2, 0.2)};
  must(base.add(theirs, "mallory"));
  must(base.add({lesson("a-1", 3, 0.3), lesson("a-2", 4, 0.4), theirs[1]}));
  EXPECT_EQ(must(base.revoke({What::Source, "mallory"})), 1u) << "one is the user's own, too";
  EXPECT_EQ(must(base.revoke({What::Run, "a-1"})), 1u);
  EXPECT_EQ(must(base.revoke({What::Trial, idOf(theirs[1].experience)})), 1u);
  EXPECT_EQ(must(base.revoke({What::Run, "a-1"})), 0u);
  must(base.add(theirs, "mallory"));
  must(base.add({lesson("a-1", 5, 0.5)}));
  EXPECT_THAT(ids(base), ElementsAre(idOf(lesson("a-2", 4, 0.4).experience)));
}

TEST_F(ExperienceBaseTest, TheViewsAreSumsOverRows) {
  std::mt19937 random(7);
  std::normal_distribution<double> gains(0, 1.5);
  ExperienceBase base = open();
  std::map<std::tuple<std::string, std::string, std::string>, Outcomes> expected;
  std::vector<Lesson> lessons;
  for (int i = 0; i < 300; ++i) {
    const std::optional<double> gain = random() % 4 ? std::optional(gains(random)) : std::nullopt;
    Lesson one = lesson("run-" + std::to_string(i % 7), i, gain, i % 2 ? "unroll" : "pad",
                        i % 3 ? "sm_90" : "sm_80");
    one.experience.state = i % 5 ? "memory bound" : "";
    std::optional<double> last = gain;
    if (gain && *gain > 0 && i % 4 == 0) {
      last = *gain + 0.1;
      lessons.push_back(confirmation(one, *last));
    }
    expected[{one.experience.state, one.experience.technique, one.experience.arch}].add(last, 1.5);
    lessons.push_back(std::move(one));
  }
  must(base.add(lessons));
  const std::vector<TechniqueOutcomes> found = outcomes(base);
  ASSERT_EQ(found.size(), expected.size());
  for (const TechniqueOutcomes &each : found) {
    const Outcomes &sums = expected.at({each.state, each.technique, each.arch});
    EXPECT_EQ(each.sums.trials, sums.trials);
    EXPECT_EQ(each.sums.right, sums.right);
    EXPECT_EQ(each.sums.gained, sums.gained);
    EXPECT_NEAR(each.sums.gain, sums.gain, 1e-9);
    EXPECT_NEAR(each.sums.square, sums.square, 1e-9);
    EXPECT_NEAR(each.sums.seconds, sums.seconds, 1e-9);
  }
}

TEST_F(ExperienceBaseTest, ModelledTrialsTeachNothingAboutGpus) {
  ExperienceBase base = open();
  must(base.add({lesson("a-1", 1, 0.1), lesson("a-2", 2, 0.9, "unroll", kEmulatedArch)}));
  ASSERT_THAT(outcomes(base), SizeIs(1));
  EXPECT_EQ(outcomes(base)[0].arch, "sm_90");
  ASSERT_THAT(outcomes(base, true), SizeIs(1));
  EXPECT_DOUBLE_EQ(outcomes(base, true)[0].sums.gain, 0.9);
}

TEST_F(ExperienceBaseTest, ASnapshotStaysAsItWas) {
  ExperienceBase base = open();
  must(base.add({lesson("a-1", 1, 0.1), lesson("a-2", 2, 0.3)}));
  const std::int64_t snapshot = must(base.last());
  const auto recalled = must(base.recall(snapshot, "0123", "sm_90", 9));
  EXPECT_THAT(recalled, SizeIs(2));
  must(base.add({lesson("a-3", 3, 0.5), confirmation(lesson("a-1", 1, 0.1), 0.2)}));
  must(base.revoke({What::Run, "a-2"}));
  EXPECT_DOUBLE_EQ(must(base.outcomes(snapshot, false)).at(0).sums.gain, 0.1 + 0.3);
  EXPECT_THAT(must(base.recall(snapshot, "0123", "sm_90", 9)), SizeIs(2));
  EXPECT_THAT(must(base.ofKernels(snapshot, "scale")), SizeIs(2));
  EXPECT_DOUBLE_EQ(outcomes(base).at(0).sums.gain, 0.5 + 0.2);
  EXPECT_THAT(must(base.outcomes(0, false)), IsEmpty());
}

TEST_F(ExperienceBaseTest, TheFastestEditsOfTheSameTextAreRecalled) {
  ExperienceBase base = open();
  Lesson elsewhere = lesson("a-1", 5, 0.9);
  elsewhere.experience.kernel.text = "4567";
  must(base.add({lesson("a-1", 1, 0.1), lesson("a-1", 2, 0.3), lesson("a-1", 3, -0.3),
                 lesson("a-1", 4, 0.8, "pad", "sm_80"), elsewhere,
                 lesson("a-1", 6, 0.7, "pad", kEmulatedArch)}));
  must(base.add({lesson("b-1", 2, 0.25)})); // once more, in another run
  std::vector<std::string> texts;
  for (const Remembered &row : must(base.recall(must(base.last()), "0123", "sm_90", 9)))
    texts.push_back(row.edits->chunks.at(1));
  EXPECT_THAT(texts, ElementsAre("secret_text(2);", "secret_text(1);", "secret_text(4);"));
}

TEST_F(ExperienceBaseTest, KernelsOfAKindCountWhateverTheirTextsAndGpus) {
  ExperienceBase base = open();
  const auto of = [](Lesson made, const std::string &text, double loads, const char *variant) {
    made.experience.kernel.text = text;
    made.experience.kernel.features = {{"sass__inst_global_load", loads},
                                       {"sass__inst_special", 10 - loads},
                                       {"f32 parameters", 2}};
    made.experience.variant = variant;
    return made;
  };
  must(base.add({of(lesson("a-1", 1, 0.4), "one", 9, "unroll 4"),
                 of(lesson("a-1", 2, 0.2, "unroll", "sm_80"), "like", 8, "unroll 4"),
                 of(lesson("a-1", 3, std::nullopt), "like", 8, "unroll 2"),
                 of(lesson("a-1", 4, 0.9), "unlike", 0, "unroll 8"),
                 of(lesson("a-1", 5, 0.9, "unroll", kEmulatedArch), "one", 9, "unroll 4")}));
  const std::int64_t snapshot = must(base.last());
  must(base.add({of(lesson("b-1", 6, 0.8), "one", 9, "unroll 4")}));
  const auto found = must(base.ofAKind(
      snapshot, {{"sass__inst_global_load", 9}, {"sass__inst_special", 1}, {"f32 parameters", 2}},
      false, 9));
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found.at({"unroll", "unroll 2"}).right, 0);
  const Outcomes &sums = found.at({"unroll", "unroll 4"});
  EXPECT_EQ(sums.trials, 2);
  EXPECT_EQ(sums.right, 2);
  EXPECT_EQ(sums.gained, 2);
  EXPECT_DOUBLE_EQ(sums.gain, 0.4 + 0.2) << "what came later is not in the snapshot";
  EXPECT_THAT(must(base.ofAKind(snapshot, {}, false, 9)), IsEmpty());
}

TEST_F(ExperienceBaseTest, RowsAreFoundByTheirWords) {
  ExperienceBase base = open();
  must(base.add({lesson("a-1", 1, 0.1), lesson("a-1", 2, 0.3), lesson("b-1", 3, 0.2, "pad")}));
  EXPECT_EQ(must(base.find({}, 1)).at(0).experience.overParent->estimate, 0.3);
  EXPECT_THAT(must(base.find({"UNROLL", "scale"}, 9)), SizeIs(2));
  EXPECT_THAT(must(base.find({"pad", "a-1"}, 9)), IsEmpty());
  EXPECT_EQ(must(base.find({idOf(lesson("b-1", 3, 0.2, "pad").experience).substr(0, 9)}, 9)).size(),
            1u);
}

TEST_F(ExperienceBaseTest, AnExportHasNoSourceUnlessAskedFor) {
  ExperienceBase base = open(), other = open();
  must(base.add({lesson("a-1", 1, 0.1), lesson("a-1", 2, {})}));
  const Exported without = must(exportExperience(base, false));
  EXPECT_EQ(without.rows, 2u);
  EXPECT_THAT(without.text, Not(HasSubstr("secret")));
  EXPECT_THAT(without.text, Not(HasSubstr("edits")));
  EXPECT_THAT(without.text, Not(HasSubstr("/")));
  const Exported with = must(exportExperience(base, true));
  EXPECT_THAT(with.text, HasSubstr("secret_text(1);"));
  EXPECT_THAT(with.text, Not(HasSubstr("secret title")));

  Imported imported = must(importExperience(other, without.text, "file", "friend"));
  EXPECT_EQ(imported.added, 2u);
  EXPECT_THAT(must(other.recall(must(other.last()), "0123", "sm_90", 9)), IsEmpty());
  imported = must(importExperience(other, with.text, "file", "friend"));
  EXPECT_EQ(imported.known, 2u);
  const Remembered row = must(other.recall(must(other.last()), "0123", "sm_90", 9)).at(0);
  EXPECT_FALSE(row.isOwn) << "its edits are code of strangers";
  EXPECT_THAT(row.sources, ElementsAre("friend"));
  EXPECT_EQ(must(exportExperience(other, true)).text, with.text) << "nothing is lost on the way";
}

TEST_F(ExperienceBaseTest, AChangedFileIsRefusedByItsLine) {
  ExperienceBase base = open(), other = open();
  must(base.add({lesson("a-1", 1, 0.1), lesson("a-1", 2, 0.2)}));
  const std::string text = must(exportExperience(base, true)).text;
  for (const auto &[from, to, what] :
       {std::tuple("\"estimate\":0.2", "\"estimate\":0.205", "its id is another"),
        {"secret_text(2)", "other_text(2)", "edits were changed"},
        {"\"format\":2", "\"format\":1", "format is 1"},
        {"{\"edits\"", "[{\"edits\"", "no JSON object"}}) {
    std::string changed = text;
    const std::size_t at = changed.rfind(from);
    ASSERT_NE(at, changed.npos) << from;
    changed.replace(at, std::string(from).size(), to);
    EXPECT_THAT(importExperience(other, changed, "x.jsonl", "x"),
                isErrorWith(ErrorParts{.code = ErrorCode::Usage,
                                       .what = HasSubstr(what),
                                       .where = testing::StartsWith("x.jsonl:")}));
  }
  EXPECT_THAT(ids(other), IsEmpty());
}

TEST(Seed, IsOfTechniquesThatKoptKnows) {
  const Techniques techniques = must(Techniques::load());
  std::int64_t trials = 0;
  for (const TechniqueOutcomes &each : must(seedOutcomes())) {
    EXPECT_TRUE(techniques.has(each.technique)) << each.technique;
    EXPECT_NE(each.arch, kEmulatedArch);
    EXPECT_LE(each.sums.right, each.sums.trials);
    trials += each.sums.trials;
  }
  EXPECT_GT(trials, 1000);
}

} // namespace
} // namespace kopt
