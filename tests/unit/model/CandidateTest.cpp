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
  EXPECT_TRUE(refuseUnbuiltForms(LaunchOverride{Dim3{64, 1, 1}, true, 128}));
  Candidate candidate;
  candidate.declarations = {"struct Pair { int a, b; };"};
  EXPECT_THAT(refuseUnbuiltForms(candidate).error().what, HasSubstr("new declaration"));
  candidate.includes = {"<cuda/barrier>"};
  EXPECT_THAT(refuseUnbuiltForms(candidate).error().what, HasSubstr("<cuda/barrier>"));
  candidate.tunables = fullCandidate().tunables;
  EXPECT_THAT(refuseUnbuiltForms(candidate).error().what, HasSubstr("'W'"));
  LaunchOverride launch;
  launch.largeShared = true;
  EXPECT_THAT(refuseUnbuiltForms(launch).error().what, HasSubstr("large shared memory"));
  launch.gridExpressions = {{"n", "1", "1"}};
  EXPECT_THAT(refuseUnbuiltForms(launch).error().what, HasSubstr("grid as expressions"));
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
