// SPDX-License-Identifier: Apache-2.0
#include "driver/app/tune/RunIdentity.h"

#include "unit/model/EachChange.h"
#include "unit/model/SampleRecords.h"

#include <gmock/gmock.h>
#include <set>

namespace kopt {

/// What a walk over JudgeOptions does with the checks that are left out.
static void walk(CheckSwitches &checks, const std::string &path, const OnChange &on) {
  each_change::one(checks, CheckSwitches::without({"guards"}).value(), path, on);
}

namespace {

TEST(RunIdentity, AnyOtherInputIsAnotherRun) {
  RunIdentity identity;
  identity.koptVersion = "1.2.3";
  identity.workload = fullWorkload();
  identity.heldOut = fullWorkload().launches;
  identity.declaration = fullDeclaration();
  identity.search.proposers = {"params"};
  const std::string before = hashOf(identity);
  std::set<std::string> same;
  std::size_t changes = 0;
  eachChange(identity, "", [&](const std::string &path) {
    ++changes;
    if (hashOf(identity) == before)
      same.insert(path);
  });
  EXPECT_GT(changes, 150u);
  EXPECT_THAT(same, testing::ElementsAre("/declaration/launches/0/clause/file",
                                         "/declaration/launches/0/clause/line",
                                         "/declaration/params/0/clause/file",
                                         "/declaration/params/0/clause/line", "/judge/buildThreads",
                                         "/judge/cache", "/judge/scratch"));
  EXPECT_EQ(hashOf(identity), before);
}

TEST(RunIdentity, AFloatingPointArgumentCounts) {
  RunIdentity identity;
  identity.workload = fullWorkload();
  const auto hashWith = [&](float factor) {
    identity.workload.launches[0].arguments[1] =
        ValueArg{std::string(reinterpret_cast<const char *>(&factor), sizeof factor)};
    return hashOf(identity);
  };
  EXPECT_NE(hashWith(3.5f), hashWith(3.25f));
}

} // namespace
} // namespace kopt
