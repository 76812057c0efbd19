// SPDX-License-Identifier: Apache-2.0
#include "unit/judge/derive/DerivedLaunchesFixture.h"

using namespace kopt;

namespace {

using DerivedContentsTest = test::DerivedLaunchesFixture;

TEST_F(DerivedContentsTest, TheWholeProblemHasOtherContentsToo) {
  declaration_.arguments["n"] = "300000";
  std::set<std::int32_t> sizes;
  for (const DerivedLaunch &derived : only(derive(), Derivation::Contents))
    sizes.insert(integer(derived.launch, 4));
  EXPECT_EQ(sizes.size(), 2u);
  EXPECT_EQ(*sizes.rbegin(), 300000);
  declaration_.arguments["n"] = "4000000";
  for (const DerivedLaunch &derived : only(derive(), Derivation::Contents))
    EXPECT_NE(integer(derived.launch, 4), 4000000) << "it would take seconds";
}

} // namespace
