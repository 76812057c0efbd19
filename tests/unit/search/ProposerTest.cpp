// SPDX-License-Identifier: Apache-2.0
// Which candidates of an answer are worth a trial.
#include "driver/search/Proposer.h"
#include "fakes/ScaleKernel.h"

#include <gmock/gmock.h>

namespace kopt {
namespace {

using testing::HasSubstr;

class OffersTest : public fakes::ScaleKernel {
protected:
  OffersTest() {
    Trial baseline, parent;
    baseline.candidateHash = Candidate().contentHash();
    parent.candidate = withTile(16);
    parent.candidateHash = parent.candidate.contentHash();
    history_.trials = {baseline, parent};
    ask_ = {1, "params", {parent.candidateHash}, "", 2};
  }
  static Candidate withTile(int tile) {
    Candidate candidate;
    candidate.title = "TILE = " + std::to_string(tile);
    candidate.constants["TILE"] = tile;
    return candidate;
  }
  std::string refusal(Candidate candidate) {
    return Offers(context_).add(std::move(candidate)).value_or("");
  }

  Workload workload_ = workload();
  DeviceInfo device_;
  SearchProblem problem_{kernel_, specialization_, workload_, slice_, device_};
  SearchHistory history_;
  Ask ask_;
  ProposalContext context_{problem_, history_, ask_};
};

TEST_F(OffersTest, TheyTakeWhatIsNewUntilTheyAreFull) {
  Offers offers(context_);
  EXPECT_FALSE(offers.add(withTile(64)));
  EXPECT_THAT(offers.add(withTile(64)).value_or(""), HasSubstr("not judged yet"));
  EXPECT_FALSE(offers.isFull());
  EXPECT_FALSE(offers.add(withTile(128)));
  EXPECT_TRUE(offers.isFull());
  EXPECT_EQ(offers.take().at(1).title, "TILE = 128");
}

TEST_F(OffersTest, WhatIsNotWorthATrialIsRefusedWithTheReason) {
  EXPECT_EQ(refusal(withTile(64)), "");
  EXPECT_THAT(refusal(withTile(16)), HasSubstr("repeats attempt \"TILE = 16\""));
  EXPECT_THAT(refusal(withTile(4096)), HasSubstr("is not possible"));
  Candidate candidate = withTile(64);
  candidate.launch.block = {"64", "1", "1"};
  EXPECT_EQ(refusal(candidate), "");
  kernel_.launches[0].blockRange.reset();
  EXPECT_THAT(refusal(candidate), HasSubstr("cannot be written back to the user's source: the "
                                            "launch comes from a macro"));
  ask_.technique = "tile";
  EXPECT_THAT(refusal(withTile(64)), HasSubstr("\"tile\" was asked for"));
  ask_.technique = "";
  history_.waiting = {{1, withTile(64).contentHash(), withTile(64)}};
  EXPECT_THAT(refusal(withTile(64)), HasSubstr("not judged yet"));
}

TEST_F(OffersTest, ACandidateIsNamedByWhatItKeepsOfItsParentAsWell) {
  Offers offers(context_);
  Candidate candidate = withTile(64);
  candidate.parents = ask_.parents;
  EXPECT_FALSE(offers.add(candidate));
  candidate = withTile(128);
  candidate.parents = {ask_.parents[0], history_.trials[0].candidateHash};
  EXPECT_FALSE(offers.add(candidate));
  const std::vector<Candidate> taken = offers.take();
  EXPECT_EQ(taken.at(0).title, "TILE = 16 + TILE = 64");
  EXPECT_EQ(taken.at(1).title, "TILE = 128") << "a combination names its parts itself";
}

} // namespace
} // namespace kopt
