// SPDX-License-Identifier: Apache-2.0
#include "driver/compare/versions/PairedWorkload.h"

#include "fakes/ScaleKernel.h"
#include "tests/fakes/Results.h"

#include <gmock/gmock.h>

namespace {

using namespace kopt;
using testing::HasSubstr;

class PairedWorkloadTest : public fakes::ScaleKernel {
protected:
  TuneSubject subject(const std::vector<std::string> &clauses) const {
    return {{kernel_, specialization_, slice_}, declaration(clauses), "scale"};
  }
};

TEST_F(PairedWorkloadTest, AChangedClauseIsNoChangeOfTheWork) {
  const auto pair =
      must(pairedWorkload(subject({"arg n = 1000", "extent x = n + 64"}),
                          subject({"arg n = 9000", "extent x = n + 64"}), DeviceKind::Emulated));
  EXPECT_EQ(pair.base.launches[0].buffers[0].bytes, 9064u * 4);
  EXPECT_TRUE(pair.sameBuffers);
  EXPECT_TRUE(sameGeometry(pair.base, pair.head));
}

TEST_F(PairedWorkloadTest, EachVersionKeepsItsOwnGeometry) {
  const TuneSubject base = subject({"arg n = 1024", "extent x = n"});
  kernel_.launches[0].block = {"64", "1", "1"};
  kernel_.launches[0].grid = {"n / 64", "1", "1"};
  const auto pair =
      must(pairedWorkload(base, subject({"arg n = 1024", "extent x = n"}), DeviceKind::Emulated));
  EXPECT_EQ(pair.base.launches[0].block.x, 32u);
  EXPECT_EQ(pair.head.launches[0].block.x, 64u);
  EXPECT_TRUE(pair.sameBuffers);
  EXPECT_FALSE(sameGeometry(pair.base, pair.head));
}

TEST_F(PairedWorkloadTest, VersionsWithOtherParametersHaveToDoTheSameWork) {
  const TuneSubject base = subject({"arg n = 1000", "extent x = n + 64"});
  specialization_.params[1].type = "long"; // another signature: each has its own clauses
  EXPECT_THAT(
      pairedWorkload(base, subject({"arg n = 2000", "extent x = n + 64"}), DeviceKind::Emulated),
      fails({.what = HasSubstr("'x' has 4.2 KiB in the base and 8.1 KiB in the head")}));
  EXPECT_TRUE(
      pairedWorkload(base, subject({"arg n = 1000", "extent x = n + 64"}), DeviceKind::Emulated));
  EXPECT_THAT(pairedWorkload(base,
                             subject({"extent x = n + 64", "launch a: n=1000", "launch b: n=1000"}),
                             DeviceKind::Emulated),
              fails({.what = HasSubstr("the head a, b")}));
}

TEST_F(PairedWorkloadTest, WhatIsMissingIsNamedWithItsVersion) {
  EXPECT_THAT(pairedWorkload(subject({"arg n = 1000", "extent x = n"}), subject({"arg n = 1000"}),
                             DeviceKind::Emulated),
              fails({.what = HasSubstr("the head's launches cannot be made"),
                     .hint = HasSubstr("extent x = ")}));
}

} // namespace
