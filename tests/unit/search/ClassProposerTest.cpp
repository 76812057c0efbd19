// SPDX-License-Identifier: Apache-2.0
// Candidates for some launches, from trials that were faster on some launches only.
#include "driver/search/proposers/ClassProposer.h"
#include "fakes/FakeBench.h"
#include "fakes/OffersOf.h"
#include "fakes/Results.h"
#include "fakes/ScaleKernel.h"

#include <gmock/gmock.h>

namespace kopt {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Writes both bodies one after the other.
class BothBodies : public fakes::FakeFrontend {
public:
  Result<ChunkReply> guard(const RenderedSlice &usual, const RenderedSlice &special,
                           std::size_t chunk, const KernelSpec &,
                           const BodyGuard &wanted) override {
    if (!refusal.empty())
      return ChunkReply{"", refusal};
    asked = wanted;
    const auto bodyIn = [&](const RenderedSlice &slice) {
      const auto [begin, end] = slice.chunks.at(chunk);
      const std::string text = slice.text.substr(begin, end - begin);
      const auto open = text.find("{ ") + 2;
      return text.substr(open, text.rfind(" }") - open);
    };
    return ChunkReply{guarded(wanted.condition, bodyIn(special), bodyIn(usual)), ""};
  }
  static std::string guarded(const std::string &condition, const std::string &special,
                             const std::string &usual) {
    return "__global__ void scale(float *x, int n) { if (" + condition + ") { " + special +
           " } else { " + usual + " } }";
  }

  BodyGuard asked;
  std::string refusal;
};

class ClassProposerTest : public fakes::ScaleKernel {
protected:
  ClassProposerTest() {
    // The constant is the body's alone: the launch has numbers of its own.
    kernel_.launches[0].grid[0] = "(n + 31) / 32";
    kernel_.launches[0].block[0] = "32";
    kernel_.constants[0].usedByLaunch = false;
    auto built =
        buildWorkload(kernel_, specialization_,
                      declaration({"launch small: n = 1000 weight 0.5",
                                   "launch large: n = 100000 weight 0.5", "extent x = n + 64"}),
                      DeviceKind::Emulated);
    EXPECT_TRUE(built) << (built ? "" : built.error().what);
    workload_ = *built;
    Trial baseline;
    baseline.candidateHash = Candidate().contentHash();
    baseline.verdict = Verdict::Same;
    baseline.timings.resize(2);
    history_ = {baseline};
  }

  static Candidate body(const std::string &text) {
    Candidate candidate;
    candidate.title = text;
    candidate.chunks[1] = "__global__ void scale(float *x, int n) { " + text + " }";
    return candidate;
  }
  /// A trial with these speedups on the small and on the large launch.
  Trial &add(const Candidate &candidate, double small, double large,
             Verdict verdict = Verdict::Slower) {
    Trial trial;
    trial.candidate = candidate;
    trial.candidateHash = candidate.contentHash();
    trial.verdict = verdict;
    for (const double speedup : {small, large})
      trial.timings.push_back({speedup == small ? "small" : "large",
                               {speedup, speedup - 0.01, speedup + 0.01},
                               0,
                               0,
                               {},
                               {}});
    trial.speedup = {2 / (1 / small + 1 / large), 0, 0};
    history_.push_back(trial);
    return history_.back();
  }
  std::vector<Candidate> propose(std::size_t parent = 0) {
    const DeviceInfo device;
    const SearchProblem problem{kernel_, specialization_, workload_, slice_, device};
    ClassProposer proposer(frontend_);
    return must(fakes::offersOf(proposer, problem, history_, parent, 6));
  }

  BothBodies frontend_;
  Workload workload_;
  std::vector<Trial> history_;
};

const std::string kGuarded = BothBodies::guarded("n >= 65536", "x[TILE] = 2 * n;", "x[TILE] = n;");

TEST_F(ClassProposerTest, ACandidateThatIsWrongElsewhereKeepsTheOriginalThere) {
  Trial &wrong = add(body("float4 v; x[TILE] = 2 * n;"), 1.5, 1.5, Verdict::WrongResult);
  wrong.assurance.counterexamples = {{"n = 999", {{"n", 999}}, {{"x", 256}}}};
  const auto proposed = propose();
  ASSERT_EQ(proposed.size(), 1u);
  EXPECT_EQ(proposed[0].chunks.at(1),
            BothBodies::guarded("n % 4 == 0", "float4 v; x[TILE] = 2 * n;", "x[TILE] = n;"));
  EXPECT_EQ(proposed[0].technique, "guard");
  EXPECT_FALSE(proposed[0].launch.grid);

  // The repair is refused as well: the condition becomes narrower.
  Trial &again = add(proposed[0], 1.5, 1.5, Verdict::WrongResult);
  again.assurance.counterexamples = {{"n = 1004", {{"n", 1004}}, {{"x", 256}}}};
  const auto narrower = propose();
  ASSERT_EQ(narrower.size(), 1u);
  EXPECT_EQ(narrower[0].chunks.at(1),
            BothBodies::guarded("n % 8 == 0", "float4 v; x[TILE] = 2 * n;", "x[TILE] = n;"));
  add(narrower[0], 1.5, 1.5, Verdict::Faster);
  EXPECT_THAT(propose(), IsEmpty()) << "it is repaired";
}

TEST_F(ClassProposerTest, ARepairedLaunchDependsOnTheConditionToo) {
  Candidate changed = body("float4 v; x[TILE] = 2 * n;");
  changed.launch.grid = {"n / 128", "1", "1"};
  Trial &wrong = add(changed, 1.5, 1.5, Verdict::RunFailed);
  wrong.assurance.counterexamples = {{"n = 999", {{"n", 999}}, {{"x", 256}}}};
  const auto proposed = propose();
  ASSERT_EQ(proposed.size(), 1u);
  ASSERT_TRUE(proposed[0].launch.grid);
  EXPECT_EQ((*proposed[0].launch.grid)[0], "(n % 4 == 0 ? n / 128 : (n + 31) / 32)");
  EXPECT_EQ((*proposed[0].launch.block)[0], "32");

  history_.back().assurance.counterexamples = {{"x further", {{"n", 1000}}, {{"x", 4}}}};
  EXPECT_THAT(propose(), IsEmpty()) << "host code cannot ask for the alignment";
}

TEST_F(ClassProposerTest, ACandidateThatIsFasterOnSomeLaunchesGetsACondition) {
  add(body("x[TILE] = 2 * n;"), 0.8, 1.5);
  const auto proposed = propose();
  ASSERT_EQ(proposed.size(), 1u);
  EXPECT_EQ(proposed[0].chunks.at(1), kGuarded);
  EXPECT_THAT(frontend_.asked.variables, ElementsAre("n"));
  EXPECT_THAT(frontend_.asked.constants, IsEmpty());
  EXPECT_FALSE(frontend_.asked.extendsChain);
  EXPECT_EQ(proposed[0].title, "x[TILE] = 2 * n; where n >= 65536");
  EXPECT_EQ(proposed[0].proposer, "classes");
  EXPECT_THAT(proposed[0].parents, ElementsAre(history_[1].candidateHash));
  EXPECT_EQ(proposed[0].rationale,
            "'x[TILE] = 2 * n;' is faster on large (1.500x), but not on small (0.800x)");
  add(proposed[0], 1, 1.4);
  EXPECT_THAT(propose(), IsEmpty()) << "it was judged";
}

TEST_F(ClassProposerTest, WhatGainsNothingIsNotProposed) {
  add(body("x[TILE] = 2 * n;"), 0.8, 0.9);   // nowhere
  add(body("x[TILE] = 3 * n;"), 1.2, 1.5);   // everywhere
  add(body("x[TILE] = 4 * n;"), 0.5, 1.005); // not for sure
  add(body("x[TILE] = 5 * n;"), 0.5, 1.5, Verdict::WrongResult);
  EXPECT_THAT(propose(), IsEmpty());
  workload_.launches.resize(1);
  history_.resize(1);
  add(body("x[TILE] = 2 * n;"), 0.8, 1.5);
  EXPECT_THAT(propose(), IsEmpty()) << "one launch";
}

TEST_F(ClassProposerTest, OnlyTheBodyMayDiffer) {
  Candidate candidate = body("x[TILE] = 2 * n;");
  candidate.launch.block = {{"64", "1", "1"}};
  add(candidate, 0.8, 1.5);
  candidate = body("x[TILE] = 2 * n;");
  candidate.chunks[0] = "constexpr int TILE = 31 + 1;";
  add(candidate, 0.8, 1.5);
  EXPECT_THAT(propose(), IsEmpty());
  frontend_.refusal = "more than the kernel's body differs";
  add(body("x[0] = n;"), 0.8, 1.5);
  EXPECT_THAT(propose(), IsEmpty());
  frontend_.refusal.clear();
  specialization_.chunks[1].users = {{"level", path_, 9, false}};
  add(body("x[TILE] = 2 * n;"), 0.8, 1.5);
  EXPECT_THAT(propose(), IsEmpty()) << "other code uses the text, too";
}

TEST_F(ClassProposerTest, AConstantOfTheFileBecomesOneOfTheBranch) {
  Candidate candidate;
  candidate.title = "TILE = 64";
  candidate.constants["TILE"] = 64;
  add(candidate, 0.8, 1.5);
  const auto proposed = propose();
  ASSERT_EQ(proposed.size(), 1u);
  EXPECT_EQ(proposed[0].chunks.at(1),
            BothBodies::guarded("n >= 65536", "x[TILE] = n;", "x[TILE] = n;"));
  EXPECT_THAT(frontend_.asked.constants, ElementsAre("TILE"));
  EXPECT_THAT(proposed[0].constants, IsEmpty());
  kernel_.constants[0].usedByLaunch = true;
  EXPECT_THAT(propose(), IsEmpty()) << "the launch would keep the old value";
  kernel_.constants[0].usedByLaunch = false;
  for (Launch &launch : workload_.launches)
    launch.geometry.block[0] = "TILE"; // as a clause says
  EXPECT_THAT(propose(), IsEmpty()) << "its launches differ";
}

TEST_F(ClassProposerTest, WhatEitherBodyAddsToTheFileIsThere) {
  Candidate usual = body("x[TILE] = once(n);");
  usual.declarations = {{"__device__ int once(int n) { return n; }", 1, ""}};
  usual.includes = {{"<cuda_fp16.h>", false}};
  add(usual, 1.2, 1.2, Verdict::Faster);
  Candidate special = body("x[TILE] = twice(n);");
  special.declarations = {{"__device__ int twice(int n) { return 2 * n; }", 1, ""}};
  special.includes = usual.includes;
  add(special, 0.8, 2);
  const auto proposed = propose(1);
  ASSERT_GE(proposed.size(), 1u);
  EXPECT_THAT(proposed[0].declarations,
              ElementsAre(usual.declarations[0], special.declarations[0]));
  EXPECT_THAT(proposed[0].includes, ElementsAre(usual.includes[0]));
}

TEST_F(ClassProposerTest, TheIncumbentLosesWhereTheOriginalIsFaster) {
  add(body("x[TILE] = 2 * n;"), 0.97, 1.5, Verdict::Faster);
  const auto proposed = propose(1);
  ASSERT_EQ(proposed.size(), 1u);
  EXPECT_EQ(proposed[0].chunks.at(1), kGuarded);
}

TEST_F(ClassProposerTest, AThirdClassIsAnElseIfAndThereIsNoFourth) {
  add(body("x[TILE] = 2 * n;"), 0.8, 1.5);
  auto proposed = propose();
  ASSERT_EQ(proposed.size(), 1u);
  add(proposed[0], 1.0, 1.5, Verdict::Faster);
  add(body("x[TILE] = 3 * n;"), 1.3, 0.9);
  proposed = propose(2);
  ASSERT_GE(proposed.size(), 1u);
  EXPECT_EQ(proposed[0].chunks.at(1),
            BothBodies::guarded("n <= 1024", "x[TILE] = 3 * n;",
                                "if (n >= 65536) { x[TILE] = 2 * n; } else { x[TILE] = n; }"));
  EXPECT_TRUE(frontend_.asked.extendsChain);
  EXPECT_THAT(proposed[0].parents,
              ElementsAre(history_[3].candidateHash, history_[2].candidateHash));
  add(proposed[0], 1.3, 1.5, Verdict::Faster);
  add(body("x[TILE] = 4 * n;"), 1.6, 0.9);
  EXPECT_THAT(propose(4), IsEmpty());
}

} // namespace
} // namespace kopt
