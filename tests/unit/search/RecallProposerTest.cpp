// SPDX-License-Identifier: Apache-2.0
#include "driver/search/proposers/RecallProposer.h"

#include "fakes/OffersOf.h"
#include "fakes/Results.h"
#include "fakes/ScaleKernel.h"

#include <cmath>
#include <gmock/gmock.h>

namespace kopt {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class RecallProposerTest : public fakes::ScaleKernel {
protected:
  RecallProposerTest() {
    baseline_.candidateHash = Candidate().contentHash();
    specialization_.chunks[0].editable = false;
    specialization_.chunks[1].editable = true;
  }
  static Remembered remembered(Candidate edits, const std::string &technique, bool isOwn = true) {
    Remembered row{.id = "0123456789abcdef", .isOwn = isOwn};
    row.sources = {"friend"};
    row.experience.technique = technique;
    row.experience.arch = "sm_80";
    row.experience.overBaseline = LogGain{std::log(2)};
    row.experience.from.run = "scale-1-0a1b2c3d";
    row.edits = std::move(edits);
    return row;
  }
  static Candidate withTile(int tile) {
    Candidate candidate;
    candidate.constants["TILE"] = tile;
    return candidate;
  }
  std::vector<Candidate> offers(std::vector<Remembered> known, std::size_t limit = 9,
                                std::string technique = {}, bool ofBaseline = true) {
    RecallProposer proposer(std::move(known));
    SearchHistory history;
    Trial parent;
    parent.candidateHash = "parent";
    history.trials = {baseline_, parent};
    const Ask ask{
        1, "recall", {history.trials[ofBaseline ? 0 : 1].candidateHash}, technique, limit};
    Offers offers({problem_, history, ask});
    EXPECT_TRUE(proposer.propose({problem_, history, ask}, offers));
    left_ = offers.takeLeft();
    return offers.take();
  }

  Trial baseline_;
  Workload workload_ = workload();
  DeviceInfo device_;
  SearchProblem problem_{kernel_, specialization_, workload_, slice_, device_};
  std::map<std::string, int> left_;
};

TEST_F(RecallProposerTest, StoredEditsAreOfferedAgainTheBestFirst) {
  const std::vector<Remembered> known = {remembered(withTile(64), "params"),
                                         remembered(withTile(128), "tile", false),
                                         remembered(withTile(16), "params")};
  const std::vector<Candidate> all = offers(known);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].constants.at("TILE"), 64);
  EXPECT_EQ(all[0].proposer, "recall");
  EXPECT_EQ(all[0].technique, "params");
  EXPECT_EQ(all[0].title, "params again, as in scale-1-0a1b2c3d");
  EXPECT_THAT(all[0].rationale, HasSubstr("on sm_80: 2.000x"));
  EXPECT_THAT(all[0].parents, ElementsAre(baseline_.candidateHash));
  EXPECT_THAT(all[1].title, HasSubstr("imported from friend"));
  EXPECT_EQ(offers(known, 1).size(), 1u);
  EXPECT_EQ(left_, (std::map<std::string, int>{{"params", 1}, {"tile", 1}}));
  EXPECT_EQ(offers(known, 9, "tile").size(), 1u);
  EXPECT_EQ(left_, (std::map<std::string, int>{{"params", 2}}));
  EXPECT_THAT(offers(known, 9, "", false), IsEmpty()) << "they are edits of the baseline";
}

TEST_F(RecallProposerTest, WhatKoptWouldNotWriteIsNotOffered) {
  Candidate good, chunk, outside, name, header, before, elsewhere, users;
  good.chunks[1] = chunk.chunks[0] = outside.chunks[9] =
      "__global__ void scale(float *x, int n) {}";
  name.tunables = {{"N = 1; int M", {1}, {}, 1, 1}};
  header.includes = {{"<a.h>\n#include \"/etc/passwd\""}};
  before.declarations = {{"int a;", 7}};
  elsewhere.declarations = {{"int a;", 1, "a.h"}};
  users.includes = {{"\"a.h\"", true}};
  EXPECT_TRUE(areEditsOf(specialization_, good));
  for (const Candidate &bad : {chunk, outside, name, header, before, elsewhere, users}) {
    EXPECT_FALSE(areEditsOf(specialization_, bad));
    EXPECT_THAT(offers({remembered(bad, "x", false)}), IsEmpty());
  }
  Candidate withoutEdits;
  Remembered row = remembered(withoutEdits, "x");
  row.edits.reset();
  EXPECT_THAT(offers({row}), IsEmpty());
}

} // namespace
} // namespace kopt
