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
  EXPECT_THAT(same, testing::ElementsAre("/expects", "/parents", "/proposer", "/rationale",
                                         "/technique", "/title"));
}

TEST(Candidate, ATunableIsAConstantThatItDeclares) {
  const auto declarations = declarationsOf(fullCandidate());
  ASSERT_EQ(declarations.size(), 2u);
  EXPECT_EQ(declarations[0].text, "struct Pair { int a, b; };");
  EXPECT_EQ(declarations[1].text, "constexpr int W = 64;");
  EXPECT_EQ(declarations[1].before, 2u);
}

TEST(Candidate, TheHashIsOfWhatRunsNotOfItsTitle) {
  Candidate a, b;
  a.constants["TILE"] = 16;
  b.constants["TILE"] = 16;
  b.title = "another title";
  EXPECT_EQ(a.contentHash(), b.contentHash());
  b.launch.sharedBytes = "1";
  EXPECT_NE(a.contentHash(), b.contentHash());
}

} // namespace
} // namespace kopt
