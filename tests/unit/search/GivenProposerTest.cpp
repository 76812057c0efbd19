// SPDX-License-Identifier: Apache-2.0
#include "driver/search/proposers/GivenProposer.h"

#include "fakes/FakeInbox.h"
#include "fakes/ScaleKernel.h"

#include <gmock/gmock.h>

namespace kopt {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class GivenProposerTest : public fakes::ScaleKernel {
protected:
  GivenProposerTest() {
    history_.trials.resize(2);
    history_.trials[0].candidateHash = Candidate().contentHash();
    history_.trials[1].candidateHash = "parent";
  }

  static Candidate file(const std::string &title, const std::string &text) {
    Candidate candidate;
    candidate.proposer = candidate.technique = "person";
    candidate.title = title;
    candidate.chunks[1] = text;
    return candidate;
  }
  ProposerAnswer answer(std::size_t limit, std::size_t parent = 0) {
    GivenProposer proposer(given_, [this](const std::string &text) { told_.push_back(text); });
    const Ask ask{1, proposer.name(), {history_.trials[parent].candidateHash}, "", limit};
    fakes::FakeClock clock;
    fakes::FakeInbox inbox(clock);
    proposer.start({problem_, history_, ask}, inbox);
    return std::get<ProposerAnswer>(inbox.take().value().what);
  }

  GivenCandidates given_;
  SearchHistory history_;
  Workload workload_ = workload();
  DeviceInfo device_;
  SearchProblem problem_{kernel_, specialization_, workload_, slice_, device_};
  std::vector<std::string> told_;
};

TEST_F(GivenProposerTest, AllAreOfferedInTheUsersOrderForTheBaseline) {
  given_ = {{file("second", "__global__ void scale(float *x, int n) { x[0] = n; }"),
             file("first", "__global__ void scale(float *x, int n) { x[1] = n; }")},
            {},
            {"broken.cu:3:1: no"}};
  const ProposerAnswer all = answer(2);
  ASSERT_EQ(all.candidates->size(), 2u);
  EXPECT_EQ(all.candidates->at(0).title, "second");
  EXPECT_EQ(all.candidates->at(1).title, "first");
  EXPECT_EQ(all.candidates->at(0).proposer, "person");
  EXPECT_THAT(all.candidates->at(0).parents, ElementsAre(Candidate().contentHash()));
  EXPECT_THAT(all.notes, ElementsAre("broken.cu:3:1: no"));
  EXPECT_THAT(told_, IsEmpty()) << "it was told when the file was read";
  const ProposerAnswer ofAnother = answer(2, 1);
  EXPECT_THAT(*ofAnother.candidates, IsEmpty()) << "they are changes of the baseline";
  EXPECT_THAT(ofAnother.notes, IsEmpty());
}

TEST_F(GivenProposerTest, WhatIsNotTriedIsToldWithTheReason) {
  const Candidate good = file("good", "__global__ void scale(float *x, int n) { x[0] = n; }");
  Candidate again = good, launched = good, late = good;
  again.title = "again";
  launched.title = "launched";
  launched.launch.block = {{"missing", "1", "1"}};
  late.title = "late";
  late.chunks[1] = "__global__ void scale(float *x, int n) { x[3] = n; }";
  given_ = {{good, again, launched}, {}, {}};
  EXPECT_EQ(answer(3).candidates->size(), 1u);
  EXPECT_THAT(told_, ElementsAre(HasSubstr("again is not tried: this repeats an attempt"),
                                 HasSubstr("launched is not tried: launch ")));
  given_ = {{good, late}, {}, {}};
  const ProposerAnswer limited = answer(1);
  EXPECT_EQ(limited.candidates->size(), 1u);
  EXPECT_THAT(limited.notes, ElementsAre("late is not tried: the limit of trials is reached"));
}

TEST_F(GivenProposerTest, OfACandidateItsFileIsKnown) {
  given_.files["hash"] = "fast.cu";
  EXPECT_EQ(given_.fileOf("hash"), "fast.cu");
  EXPECT_EQ(given_.fileOf("another"), "");
}

} // namespace
} // namespace kopt
