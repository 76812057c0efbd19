// SPDX-License-Identifier: Apache-2.0
#include "driver/config/ExecutorChoice.h"
#include "fakes/Results.h"

#include <gmock/gmock.h>

namespace kopt {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ExecutorChoice, Kinds) {
  EXPECT_EQ(must(parseExecutor("local")).kind, ExecutorKind::Local);
  const ExecutorChoice ssh = must(parseExecutor("ssh:gpu1, me@gpu2"));
  EXPECT_EQ(ssh.kind, ExecutorKind::Ssh);
  EXPECT_THAT(ssh.hosts, ElementsAre("gpu1", "me@gpu2"));
  EXPECT_THAT(must(parseExecutor("slurm")).options, IsEmpty());
  const ExecutorChoice slurm = must(parseExecutor("slurm:--ntasks=4 --comment='two words'"));
  EXPECT_EQ(slurm.kind, ExecutorKind::Slurm);
  EXPECT_THAT(slurm.options, ElementsAre("--ntasks=4", "--comment=two words"));
  EXPECT_THAT(slurm.hosts, IsEmpty());
  const ExecutorChoice through = must(parseExecutor("slurm@me@login:--mail-user=me@home"));
  EXPECT_THAT(through.hosts, ElementsAre("me@login"));
  EXPECT_THAT(through.options, ElementsAre("--mail-user=me@home"));
  EXPECT_THAT(must(parseExecutor("slurm@login")).hosts, ElementsAre("login"));
}

TEST(ExecutorChoice, WhatSshWouldTakeForAnOptionIsNoHost) {
  for (const char *text :
       {"", "cluster", "local:1", "ssh", "ssh:", "ssh:a,", "ssh:-oProxyCommand=x", "ssh:a b",
        "ssh@a:b", "local@a", "slurm@a,b", "slurm@", "slurm@-oX:--ntasks=1"}) {
    const auto choice = parseExecutor(text);
    ASSERT_FALSE(choice) << text;
    EXPECT_EQ(choice.error().code, ErrorCode::Usage);
  }
}

} // namespace
} // namespace kopt
