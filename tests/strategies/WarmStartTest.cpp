// SPDX-License-Identifier: Apache-2.0
#include "strategies/WarmStart.h"
#include "tests/fakes/Results.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopt::fakes {
namespace {

using testing::IsEmpty;

constexpr std::size_t kKinds = 9;

/// Rewrites of the baseline, each of which gains 1 % but one, which gains 2x; that one pays for
/// another on top of it, 3x in all.
RecordedKernel kernel(const std::string &program, std::size_t good, const Counters &counters) {
  RecordedKernel made{program, "k", "H200", {{.title = "baseline", .seconds = 5}}};
  made.trials.front().speedup = Speedup{1, 1, 1};
  made.trials.front().counters = counters;
  const auto add = [&](std::size_t parent, std::size_t kind, double speedup) {
    RecordedTrial trial{.parent = parent, .proposer = "transform", .technique = "t"};
    trial.technique += std::to_string(kind);
    trial.title = (parent ? made.trials[parent].title + " + " : "") + "do " + std::to_string(kind);
    trial.verdict = Verdict::Faster;
    trial.speedup = Speedup{speedup, speedup * 0.99, speedup * 1.01};
    trial.seconds = 1;
    made.trials.push_back(trial);
  };
  for (std::size_t kind = 0; kind < kKinds; ++kind)
    add(0, kind, kind == good ? 2 : 1.01);
  add(good + 1, good ? 0 : 1, 3);
  return made;
}

const Counters kLoads = {{"sass__inst_global_load", 10}, {"sass__inst_fp32", 5}, {"x_pct", 1}},
               kSines = {{"sass__inst_special", 10}, {"sass__inst_fp64", 50}};
/// The features of a recording are counters alone; one more group of them is needed.
Counters with(Counters counters, double sectors) {
  counters["l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"] = sectors;
  return counters;
}

Course searched(const RecordedKernel &kernel, const Taught &taught = {}) {
  std::vector<std::string> proposers = kernel.proposers();
  if (!taught.edits.empty())
    proposers.insert(proposers.begin(), "recall");
  const auto strategy = makePortfolio(
      {.proposers = proposers, .priors = taught.priors, .precedents = taught.precedents});
  return must(courseOf(kernel, *strategy, 30, taught));
}

int trialsOf(const Course &course) {
  return int(std::ranges::find_if(course.fractions, [](double each) { return each > 0.95; }) -
             course.fractions.begin());
}

TEST(WarmStart, TheEditsOfTheSameTextComeFirst) {
  const RecordedKernel one = kernel("one", kKinds - 1, with(kLoads, 4));
  const Course cold = searched(one);
  ASSERT_GT(trialsOf(cold), 4);
  const Taught taught = must(taughtBy({{one, cold.judged}}, one));
  ASSERT_FALSE(taught.edits.empty());
  EXPECT_NEAR(taught.edits.front().experience.overBaseline->estimate, std::log(3), 1e-9);
  EXPECT_EQ(trialsOf(searched(one, taught)), 1);
}

TEST(WarmStart, TheRewritesOfTheSameTextAreGoneStepByStep) {
  const RecordedKernel one = kernel("one", kKinds - 1, with(kLoads, 4));
  Taught taught = must(taughtBy({{one, searched(one).judged}}, one));
  taught.edits.clear();
  EXPECT_EQ(trialsOf(searched(one, taught)), 2);
}

TEST(WarmStart, WhatGainedOnAKernelOfItsKindComesSooner) {
  const RecordedKernel one = kernel("one", 6, with(kLoads, 4)),
                       like = kernel("like", 6, with(kLoads, 5));
  const Taught taught = must(taughtBy({{one, searched(one).judged}}, like));
  EXPECT_THAT(taught.edits, IsEmpty()) << "they are of another text";
  EXPECT_LT(trialsOf(searched(like, taught)), trialsOf(searched(like)));
}

TEST(WarmStart, AKernelOfAnotherKindCostsALittleEvenIfItIsBelieved) {
  const RecordedKernel other = kernel("other", 2, with(kSines, 32)),
                       one = kernel("one", 6, with(kLoads, 4));
  const std::vector<RecordedRun> runs = {{other, searched(other).judged}};
  const Taught believed = must(taughtBy(runs, one, true));
  EXPECT_LE(trialsOf(searched(one, believed)), trialsOf(searched(one)) + 3);
}

} // namespace
} // namespace kopt::fakes
