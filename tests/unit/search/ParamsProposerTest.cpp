// SPDX-License-Identifier: Apache-2.0
#include "driver/search/proposers/ParamsProposer.h"
#include "driver/source/Subjects.h"
#include "fakes/OffersOf.h"
#include "fakes/Results.h"
#include "fakes/ScaleKernel.h"

#include <gtest/gtest.h>
#include <numeric>

using namespace kopt;
using namespace kopt::fakes;

namespace {

class ParamsProposerTest : public ScaleKernel {
protected:
  std::vector<Candidate> propose(ParamsProposer &proposer, const std::vector<Trial> &history,
                                 std::size_t limit) {
    const Workload work = workload();
    const DeviceInfo device;
    const SearchProblem problem{kernel_, specialization_, work, slice_, device};
    return must(offersOf(proposer, problem, {}, history, limit));
  }
};

TEST_F(ParamsProposerTest, EveryOtherValueIsProposedOnceAndNothingTwice) {
  ParamsProposer proposer(declaration({"param TILE in {16, 32, 64}"}));
  const auto first = propose(proposer, {}, 10);
  ASSERT_EQ(first.size(), 2u); // 32 is the present value
  std::vector<Trial> history;
  for (const Candidate &candidate : first) {
    Trial trial;
    trial.candidate = candidate;
    trial.candidateHash = candidate.contentHash();
    history.push_back(trial);
  }
  EXPECT_TRUE(propose(proposer, history, 10).empty());
}

TEST_F(ParamsProposerTest, RequirementsAndImpossibleBlocksAreKeptOut) {
  ParamsProposer proposer(declaration({"param TILE in {8, 16, 64, 4096}", "require TILE >= 16"}));
  const auto proposed = propose(proposer, {}, 10);
  ASSERT_EQ(proposed.size(), 2u);
  EXPECT_EQ(proposed[0].constants.at("TILE"), 16);
  EXPECT_EQ(proposed[1].constants.at("TILE"), 64);
}

TEST_F(ParamsProposerTest, WithoutTunablesThoseThatTheTextProvesAreTried) {
  ParamsProposer proposer(declaration({}));
  EXPECT_TRUE(propose(proposer, {}, 10).empty());
  SizeUse use;
  use.name = "TILE";
  use.inKernel = true;
  kernel_.sizes = KernelSizes{};
  kernel_.sizes->guardsThreads = true;
  kernel_.sizes->uses = {use};
  kernel_.sizes->requirements = {"TILE % 64 == 0"};
  std::set<std::int64_t> values;
  for (const Candidate &candidate : propose(proposer, {}, 10))
    values.insert(candidate.constants.at("TILE"));
  EXPECT_EQ(values, (std::set<std::int64_t>{64, 128, 256, 512, 1024}));
  ParamsProposer declared(declaration({"param TILE in {32}"}));
  EXPECT_TRUE(propose(declared, {}, 10).empty());
}

TEST_F(ParamsProposerTest, TunablesOfTheParentsOwnAreTriedWithTheDeclaredOnes) {
  ParamsProposer proposer(declaration({"param TILE in {32, 64}"}));
  const Workload work = workload();
  const DeviceInfo device;
  const SearchProblem problem{kernel_, specialization_, work, slice_, device};
  Candidate parent;
  parent.tunables = {{"ROWS", {2, 4, 8}, {"ROWS * TILE <= 256"}, 4, 1}};
  const auto proposed = must(offersOf(proposer, problem, parent, {}, 10));
  std::set<std::pair<std::int64_t, std::int64_t>> points;
  for (const Candidate &candidate : proposed) {
    ASSERT_EQ(candidate.tunables.size(), 1u);
    EXPECT_FALSE(candidate.constants.contains("ROWS"));
    const auto tile = candidate.constants.find("TILE");
    points.emplace(tile == candidate.constants.end() ? 32 : tile->second,
                   candidate.tunables[0].value);
  }
  EXPECT_EQ(points,
            (std::set<std::pair<std::int64_t, std::int64_t>>{{32, 2}, {32, 8}, {64, 2}, {64, 4}}));
}

TEST_F(ParamsProposerTest, ASpaceOfBillionsIsSearchedByWhatTrialsOfItFound) {
  ParamsProposer proposer(declaration({"param TILE in {32}"}));
  const Workload work = workload();
  const DeviceInfo device;
  const SearchProblem problem{kernel_, specialization_, work, slice_, device};
  Candidate parent;
  std::vector<std::int64_t> values(1000);
  std::iota(values.begin(), values.end(), 1);
  for (const char *name : {"ROWS", "COLUMNS", "STAGES"})
    parent.tunables.push_back({name, values, {}, 500, 1});
  std::vector<Trial> history;
  const auto rowsAfter = [&](std::size_t trials) {
    double rows = 0;
    for (std::size_t round = 0; round < trials; ++round)
      for (const Candidate &candidate : must(offersOf(proposer, problem, parent, history, 1))) {
        Trial trial;
        trial.candidate = candidate;
        trial.candidateHash = candidate.contentHash();
        trial.verdict = Verdict::Faster;
        trial.speedup = Speedup{.estimate = 1 + double(candidate.tunables[0].value) / 1000};
        history.push_back(trial);
        rows += double(candidate.tunables[0].value) / double(trials);
      }
    return rows;
  };
  rowsAfter(20);
  EXPECT_GT(rowsAfter(10), 750) << "of 1 to 1000, and more is faster; chance gives 500 +- 91";
}

TEST_F(ParamsProposerTest, WhatIsLeftIsSaidSoThatSeveralAreAskedForAtOnce) {
  ParamsProposer proposer(declaration({"param TILE in {16, 32, 64, 128}"}));
  const Workload work = workload();
  const DeviceInfo device;
  const SearchProblem problem{kernel_, specialization_, work, slice_, device};
  Trial baseline;
  baseline.candidateHash = baseline.candidate.contentHash();
  baseline.verdict = Verdict::Same;
  baseline.speedup = Speedup{.estimate = 1};
  SearchHistory history;
  history.trials = {baseline};
  const Ask ask{
      .role = "params", .parents = {baseline.candidateHash}, .technique = "params", .limit = 1};
  const ProposalContext context{problem, history, ask};
  Offers offers(context);
  ASSERT_TRUE(proposer.propose(context, offers));
  EXPECT_EQ(offers.take().size(), 1u);
  EXPECT_EQ(offers.takeLeft(), (std::map<std::string, int>{{"params", 2}}));
}

TEST_F(ParamsProposerTest, WhatWasFastInOtherRunsIsTriedFirst) {
  ParamsProposer proposer(declaration({"param TILE in {32}"}));
  const Workload work = workload();
  const DeviceInfo device;
  SearchProblem problem{kernel_, specialization_, work, slice_, device};
  Candidate parent;
  std::vector<std::int64_t> values(100);
  std::iota(values.begin(), values.end(), 1);
  for (const char *name : {"ROWS", "COLUMNS"})
    parent.tunables.push_back({name, values, {}, 50, 1});
  for (std::int64_t rows = 5; rows < 100; rows += 10) {
    TriedNumbers &tried = problem.precedents.numbers.emplace_back();
    tried.candidate = parent;
    tried.candidate.tunables[0].value = rows;
    tried.gain = -std::abs(double(rows - 75)) / 100;
  }
  const auto first = must(offersOf(proposer, problem, parent, {}, 1));
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].tunables[0].value, 75);
  EXPECT_EQ(first[0].tunables[1].value, 50);
}

TEST_F(ParamsProposerTest, ATunableThatIsNoConstantIsAnErrorThatListsWhatThereIs) {
  const auto status =
      checkTunables(declaration({"param WIDTH in {1, 2}"}), kernel_, specialization_);
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().hint.find("TILE"), std::string::npos);
}

} // namespace
