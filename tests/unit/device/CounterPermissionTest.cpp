// SPDX-License-Identifier: Apache-2.0
#include "driver/device/profile/CounterPermission.h"

#include "driver/support/FileSystem.h"

#include <gtest/gtest.h>

namespace kopt {
namespace {

class CounterPermissionTest : public testing::Test {
protected:
  void params(const std::string &value) {
    ASSERT_TRUE(writeFileAtomically(proc.path() / "driver/nvidia/params",
                                    "ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: " + value +
                                        "\nRegistryDwords: \"\"\n"));
  }
  void capabilities(const std::string &hex) {
    ASSERT_TRUE(writeFileAtomically(proc.path() / "self/status",
                                    "Name:\tkopt\nCapPrm:\t0000000000000000\nCapEff:\t" + hex +
                                        "\nCapBnd:\t000001ffffffffff\n"));
  }
  TemporaryDirectory proc = std::move(*TemporaryDirectory::create("kopt-proc"));
};

TEST_F(CounterPermissionTest, WithoutADriverThereIsNothingToSay) {
  EXPECT_EQ(counterPermission(proc.path()), std::nullopt);
}

TEST_F(CounterPermissionTest, AParameterOfZeroIsForEveryone) {
  params("0");
  EXPECT_EQ(counterPermission(proc.path()), CounterPermission::Everyone);
}

TEST_F(CounterPermissionTest, OfOthersOnlyWhoeverHasTheCapabilityMay) {
  params("1");
  EXPECT_EQ(counterPermission(proc.path()), CounterPermission::Denied); // it is not known
  capabilities("0000000000000000");
  EXPECT_EQ(counterPermission(proc.path()), CounterPermission::Denied);
  capabilities("000001ffffdfffff"); // all but CAP_SYS_ADMIN, as root in a container
  EXPECT_EQ(counterPermission(proc.path()), CounterPermission::Denied);
  capabilities("000001ffffffffff");
  EXPECT_EQ(counterPermission(proc.path()), CounterPermission::Administrator);
}

} // namespace
} // namespace kopt
