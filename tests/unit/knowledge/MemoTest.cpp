// SPDX-License-Identifier: Apache-2.0
#include "driver/knowledge/Memo.h"

#include "tests/fakes/Results.h"

#include <cmath>
#include <gmock/gmock.h>

namespace kopt {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

Remembered row(const std::string &candidate, const std::string &parent,
               const std::string &technique, const std::string &variant, Verdict verdict,
               double overParent = 0, double overBaseline = 0) {
  Remembered made{.id = candidate, .isOwn = true};
  Experience &one = made.experience;
  one.kernel = {"scale<float>", "", "0123"};
  one.from = {"a-1", "app", "1.0", "2026-11-29T12:00:00Z"};
  one.arch = "sm_90";
  one.candidate = candidate;
  one.parent = parent;
  one.technique = technique;
  one.variant = variant;
  one.verdict = verdict;
  if (overParent > 0) {
    const double gain = std::log(overParent);
    one.overParent = LogGain{gain, gain - 0.01, gain + 0.01, 40};
    one.overBaseline = one.overParent;
    one.overBaseline->estimate = one.overBaseline->low = one.overBaseline->high =
        std::log(overBaseline);
  } else {
    one.decidedBy = "outputs";
  }
  return made;
}

TEST(Memo, SaysWhatIsResolvedPendingAndToBeAvoided) {
  std::vector<Remembered> rows = {
      row("a", "", "unroll", "unroll 4", Verdict::Faster, 1.5, 1.5),
      row("b", "a", "block-size", "launch 128", Verdict::Faster, 1.4, 2.1),
      row("c", "", "launch-bounds", "add 256 4", Verdict::Faster, 1.2, 1.2),
      row("d", "a", "vectorize", "", Verdict::Ambiguous, 1.0, 1.5),
      row("e", "", "loop-split", "split 32", Verdict::Slower, 0.2, 0.2),
      row("f", "a", "loop-split", "split 8", Verdict::WrongResult),
      row("g", "a", "loop-split", "split 4", Verdict::WrongResult),
      row("h", "b", "unroll", "unroll 2", Verdict::Slower, 0.9, 1.9),
  };
  rows.push_back(rows[1]); // recalled in another run, and confirmed
  rows.back().experience.purpose = Purpose::Confirmation;
  rows.back().experience.parent.clear();
  const std::vector<Memo> memos = memosOf(rows);
  ASSERT_THAT(memos, SizeIs(1));
  EXPECT_EQ(memos[0].kernel, "scale<float>");
  EXPECT_EQ(memos[0].trials, rows.size());
  EXPECT_THAT(memos[0].lines,
              ElementsAre("resolved: unroll (unroll 4), block-size (launch 128): 2.100x",
                          "pending: launch-bounds (add 256 4): 1.200x at best, in 1 trial",
                          "pending: vectorize: 1.000x at best, 1 not decided, in 1 trial",
                          "avoid: loop-split (split 32): 0.200x at best, 2 WrongResult "
                          "(outputs), in 3 trials"));
}

TEST(Memo, KernelsOfOtherProgramsAndModelledOnesAreApart) {
  std::vector<Remembered> rows(3, row("a", "", "unroll", "", Verdict::Faster, 2, 2));
  rows[1].experience.from.program = "other";
  rows[2].experience.arch = kEmulatedArch;
  EXPECT_THAT(memosOf(rows), SizeIs(3));
  EXPECT_THAT(memosOf({}), SizeIs(0));
  const auto failed = memosOf({row("a", "", "unroll", "", Verdict::BuildFailed)});
  EXPECT_THAT(failed.at(0).lines,
              ElementsAre("avoid: unroll: 1 BuildFailed (outputs), in 1 trial"));
}

TEST(Memo, PatternsCountTheKernelsOnWhichATechniqueHeld) {
  ExperienceBase base = must(ExperienceBase::open(":memory:"));
  std::vector<Lesson> lessons;
  const auto add = [&](const std::string &text, const std::string &state, Verdict verdict,
                       double gain) {
    Experience one =
        row(std::to_string(lessons.size()), "", "unroll", "", verdict, gain, gain).experience;
    one.kernel.text = text;
    one.state = state;
    lessons.push_back({one});
  };
  add("one", "latency", Verdict::Faster, 1.2);
  add("one", "latency", Verdict::Slower, 0.5);
  add("two", "latency", Verdict::Slower, 0.9);
  add("three", "latency", Verdict::WrongResult, 0);
  add("one", "memory", Verdict::Faster, 1.5);
  must(base.add(lessons));
  const auto found = must(base.patterns(false));
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].state, "memory") << "of two that held once, the greater gain";
  EXPECT_EQ(std::tuple(found[1].state, found[1].kernels, found[1].held),
            std::tuple("latency", 3, 1));
  EXPECT_NEAR(found[1].gain, (std::log(1.2) + std::log(0.9)) / 2, 1e-9);
  EXPECT_THAT(must(base.patterns(true)), SizeIs(0));
  EXPECT_THAT(must(base.ofKernels(must(base.last()), "SCALE")), SizeIs(5));
  EXPECT_THAT(must(base.ofKernels(must(base.last()), "other")), SizeIs(0));
}

} // namespace
} // namespace kopt
