// SPDX-License-Identifier: Apache-2.0
// Where a cgroup for a child could be made, on trees like those of real machines.
#include "driver/sandbox/launcher/Cgroup.h"

#include "driver/support/FileSystem.h"

#include <gtest/gtest.h>

namespace {

using namespace kopt;
using sandbox::cgroupFolder;

class CgroupTest : public testing::Test {
protected:
  CgroupTest() : root(std::move(*TemporaryDirectory::create("kopt-cgroup"))) {}
  void write(const std::string &path, const std::string &text) {
    ASSERT_TRUE(writeFileAtomically(root.path() / path, text));
  }
  std::string folder(const std::string &own) {
    return cgroupFolder(root.path().string(), own, why);
  }

  TemporaryDirectory root;
  std::string why;
};

TEST_F(CgroupTest, IsBesideTheProcessOwnWhereTheParentLimitsMemory) {
  write("cgroup.controllers", "cpu memory pids\n");
  write("user/app/cgroup.subtree_control", "memory pids\n");
  write("user/app/cgroup.procs", "");
  EXPECT_EQ(folder("1:name=systemd:/x\n0::/user/app/kopt.scope\n"),
            (root.path() / "user/app").string());
}

TEST_F(CgroupTest, IsNowhereWhereMemoryIsNotDelegated) {
  write("cgroup.controllers", "cpu memory pids\n");
  write("user/app/cgroup.subtree_control", "pids\n");
  write("user/app/cgroup.procs", "");
  EXPECT_EQ(folder("0::/user/app/kopt.scope\n"), "");
  EXPECT_NE(why.find("memory controller is not on"), std::string::npos);
}

TEST_F(CgroupTest, IsNowhereWithoutTheSecondVersion) {
  EXPECT_EQ(folder("4:memory:/x\n"), "");
  EXPECT_NE(why.find("no cgroup v2"), std::string::npos);
}

} // namespace
