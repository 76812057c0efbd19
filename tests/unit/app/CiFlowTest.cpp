// SPDX-License-Identifier: Apache-2.0
#include "driver/app/ci/CiFlow.h"

#include <gtest/gtest.h>

namespace {

using namespace kopt;

GateReport report(GateVerdict verdict) {
  GateReport made;
  made.kernels.resize(1);
  made.kernels[0].verdict = verdict;
  return made;
}

TEST(GateExitCode, IsWhatFailOnNames) {
  EXPECT_EQ(gateExitCode(report(GateVerdict::Slower), {"regression"}), 2);
  EXPECT_EQ(gateExitCode(report(GateVerdict::Slower), {"never"}), 0);
  EXPECT_EQ(gateExitCode(report(GateVerdict::Slower), {"win", "stale"}), 0);
  for (const GateVerdict verdict :
       {GateVerdict::Same, GateVerdict::Ambiguous, GateVerdict::NotMeasured, GateVerdict::Faster})
    EXPECT_EQ(gateExitCode(report(verdict), {"regression", "stale"}), 0);
  EXPECT_EQ(gateExitCode(report(GateVerdict::Faster), {"win"}), 2);
  GateReport broken = report(GateVerdict::NotMeasured);
  broken.kernels[0].broken = true;
  EXPECT_EQ(gateExitCode(broken, {"regression"}), 2);
  GateReport proposed = report(GateVerdict::Same);
  proposed.proposals.resize(1);
  EXPECT_EQ(gateExitCode(proposed, {"win"}), 2);
}

TEST(GateExitCode, StaleIsWhatThisChangeMadeStale) {
  GateReport stale = report(GateVerdict::Same);
  stale.variants.resize(1);
  EXPECT_EQ(gateExitCode(stale, {"regression", "stale"}), 5);
  EXPECT_EQ(gateExitCode(stale, {"regression"}), 0);
  stale.variants[0].isNew = false;
  EXPECT_EQ(gateExitCode(stale, {"stale"}), 0);
  stale.variants[0].isNew = true;
  stale.kernels[0].verdict = GateVerdict::Slower;
  EXPECT_EQ(gateExitCode(stale, {"stale", "regression"}), 2);
}

} // namespace
