// SPDX-License-Identifier: Apache-2.0
#include "driver/model/Candidate.h"

#include "unit/model/EachChange.h"
#include "unit/model/SampleRecords.h"

#include <gmock/gmock.h>
#include <set>

namespace kopt {
namespace {

using testing::HasSubstr;

TEST(Candidate, IsAnotherTrialWithAnyOtherContent) {
  Candidate candidate = fullCandidate();
  const std::string before = candidate.contentHash();
  std::set<std::string> same;
  eachChange(candidate, "", [&](const std::string &path) {
    if (candidate.contentHash() == before)
      same.insert(path.substr(0, path.find('/', 1)));
  });
  EXPECT_THAT(same,
              testing::ElementsAre("/parents", "/proposer", "/rationale", "/technique", "/title"));
}

TEST(Candidate, NamesTheFormThatCannotBeBuiltYet) {
  EXPECT_TRUE(refuseUnbuiltForms(Candidate{}));
  Candidate candidate;
  candidate.declarations = fullCandidate().declarations;
  candidate.includes = fullCandidate().includes;
  EXPECT_TRUE(refuseUnbuiltForms(candidate));
  candidate.tunables = fullCandidate().tunables;
  EXPECT_THAT(refuseUnbuiltForms(candidate).error().what, HasSubstr("'W'"));
  LaunchOverride launch;
  launch.largeShared = true;
  launch.gridExpressions = {{"n", "1", "1"}};
  launch.blockExpressions = {{"128", "1", "1"}};
  EXPECT_TRUE(refuseUnbuiltForms(launch));
  launch.block = Dim3{64, 1, 1};
  EXPECT_THAT(refuseUnbuiltForms(launch).error().what, HasSubstr("block twice"));
  launch.blockExpressions.reset();
  launch.coverGrid = true;
  EXPECT_THAT(refuseUnbuiltForms(launch).error().what, HasSubstr("grid twice"));
}

TEST(Candidate, TheHashIsOfWhatRunsNotOfItsTitle) {
  Candidate a, b;
  a.constants["TILE"] = 16;
  b.constants["TILE"] = 16;
  b.title = "another title";
  EXPECT_EQ(a.contentHash(), b.contentHash());
  b.launch.sharedBytes = 1;
  EXPECT_NE(a.contentHash(), b.contentHash());
}

} // namespace
} // namespace kopt
