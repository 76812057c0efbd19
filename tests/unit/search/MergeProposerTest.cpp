// SPDX-License-Identifier: Apache-2.0
#include "driver/search/proposers/MergeProposer.h"
#include "fakes/OffersOf.h"
#include "fakes/Results.h"
#include "fakes/ScaleKernel.h"

#include <gmock/gmock.h>

namespace kopt {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class MergeProposerTest : public fakes::ScaleKernel {
protected:
  MergeProposerTest() {
    Trial baseline;
    baseline.candidateHash = Candidate().contentHash();
    trials_ = {baseline};
  }

  /// The kernel with this in place of a part of its text.
  Candidate text(const std::string &part, const std::string &other) const {
    std::string kernel = lineAt(1);
    kernel.replace(kernel.find(part), part.size(), other);
    Candidate candidate;
    candidate.title = other;
    candidate.chunks[1] = kernel;
    return candidate;
  }

  std::size_t add(Candidate candidate, double speedup, std::vector<std::size_t> parents = {0}) {
    candidate.parents.clear();
    for (const std::size_t parent : parents)
      candidate.parents.push_back(trials_.at(parent).candidateHash);
    Trial trial;
    trial.candidate = candidate;
    trial.candidateHash = candidate.contentHash();
    trial.verdict = speedup > 1 ? Verdict::Faster : Verdict::Slower;
    trial.speedup = {speedup, speedup - 0.01, speedup + 0.01};
    trials_.push_back(trial);
    return trials_.size() - 1;
  }
  std::vector<Candidate> propose(std::size_t parent) {
    const Workload work = workload();
    const DeviceInfo device;
    const SearchProblem problem{kernel_, specialization_, work, slice_, device};
    MergeProposer proposer;
    return must(fakes::offersOf(proposer, problem, trials_, parent, 6));
  }

  std::vector<Trial> trials_;
};

TEST_F(MergeProposerTest, ChangesOfTwoLineagesBecomeOneCandidate) {
  Candidate launch = text("float *x", "float *__restrict__ x");
  launch.launch.block = {{"64", "1", "1"}};
  launch.constants["TILE"] = 64;
  const std::size_t one = add(text("scale(", "__launch_bounds__(64) scale("), 1.2);
  const std::size_t other = add(launch, 1.1);
  const auto merged = propose(one);
  ASSERT_EQ(merged.size(), 1u);
  EXPECT_EQ(merged[0].chunks.at(1), "__global__ void __launch_bounds__(64) scale(float "
                                    "*__restrict__ x, int n) { x[TILE] = n; }");
  EXPECT_EQ(merged[0].launch, launch.launch);
  EXPECT_EQ(merged[0].constants, launch.constants);
  EXPECT_THAT(merged[0].parents,
              ElementsAre(trials_[one].candidateHash, trials_[other].candidateHash));
  EXPECT_EQ(merged[0].title, "__launch_bounds__(64) scale( with float *__restrict__ x");
  EXPECT_EQ(merged[0].technique, "combine");
}

TEST_F(MergeProposerTest, TheFastestPartnersComeFirst) {
  const std::size_t parent = add(text("x[TILE] = n", "x[TILE] = (n)"), 1.5);
  add(text("scale(", "__launch_bounds__(64) scale("), 1.1);
  add(text("float *x", "float *__restrict__ x"), 1.3);
  add(text("int n", "const int n"), 0.9);
  const auto merged = propose(parent);
  ASSERT_EQ(merged.size(), 2u);
  EXPECT_THAT(merged[0].title, HasSubstr("__restrict__"));
  EXPECT_THAT(merged[1].title, HasSubstr("__launch_bounds__"));
}

TEST_F(MergeProposerTest, ChangesThatMeetAreLeft) {
  Candidate launch = text("scale(", "__launch_bounds__(64) scale(");
  launch.launch.block = {{"64", "1", "1"}};
  const std::size_t one = add(launch, 1.2);
  launch = text("int n", "const int n");
  launch.launch.block = {{"128", "1", "1"}};
  add(launch, 1.1);
  add(text("scale(", "__launch_bounds__(32) scale("), 1.1);
  EXPECT_THAT(propose(one), IsEmpty());
}

TEST_F(MergeProposerTest, ATunableThatBothSetIsNotDropped) {
  const auto withFrames = [&](const char *part, const char *other, std::int64_t frames) {
    Candidate candidate = text(part, other);
    candidate.tunables = {{.name = "FRAMES", .values = {2, 4, 8}, .value = frames, .before = 1}};
    return candidate;
  };
  const std::size_t parent = add(withFrames("x[TILE]", "x[FRAMES]", 2), 1.1);
  const std::size_t one = add(withFrames("x[TILE]", "x[FRAMES]", 4), 1.3, {parent});
  add(withFrames("x[TILE]", "x[FRAMES]", 8), 1.2, {parent});
  EXPECT_THAT(propose(one), IsEmpty());
}

TEST_F(MergeProposerTest, ADeclarationThatBothReplaceIsNotThereTwice) {
  const auto withHelper = [&](const char *helper) {
    Candidate candidate = text("= n", "= help(n)");
    candidate.declarations = {{helper, 1, ""}};
    return candidate;
  };
  const std::size_t parent = add(withHelper("int help(int n) { return n; }"), 1.1);
  const std::size_t one = add(withHelper("int help(int n) { return 0 + n; }"), 1.3, {parent});
  add(withHelper("int help(int n) { return n * 1; }"), 1.2, {parent});
  EXPECT_THAT(propose(one), IsEmpty());
}

TEST_F(MergeProposerTest, ALineageIsNotMergedWithItself) {
  const std::size_t parent = add(text("float *x", "float *__restrict__ x"), 1.2);
  Candidate child = trials_[parent].candidate;
  child.constants["TILE"] = 64;
  add(child, 1.3, {parent});
  EXPECT_THAT(propose(parent), IsEmpty());
  EXPECT_THAT(propose(2), IsEmpty());
  EXPECT_THAT(propose(0), IsEmpty());
}

TEST_F(MergeProposerTest, TheNearestCommonAncestorIsTheBase) {
  Candidate base = text("float *x", "float *__restrict__ x");
  base.title = "restrict";
  const std::size_t common = add(base, 1.2);
  Candidate one = base, other = base;
  one.chunks[1].replace(one.chunks[1].find("scale("), 6, "__launch_bounds__(64) scale(");
  one.title = "restrict + bounds";
  other.constants["TILE"] = 64;
  other.title = "restrict + TILE = 64";
  const std::size_t first = add(one, 1.3, {common});
  add(other, 1.4, {common});
  const auto merged = propose(first);
  ASSERT_EQ(merged.size(), 1u);
  EXPECT_EQ(merged[0].chunks, one.chunks);
  EXPECT_EQ(merged[0].constants, other.constants);
  EXPECT_EQ(merged[0].title, "restrict + bounds with TILE = 64");
}

} // namespace
} // namespace kopt
