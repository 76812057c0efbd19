// SPDX-License-Identifier: Apache-2.0
#include "driver/app/doctor/GpuChecks.h"

#include "driver/support/FileSystem.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/file.h>
#include <unistd.h>

namespace kopt {
namespace {

using runtime::cuda::GpuLoad;
using runtime::cuda::GpuProcess;
using testing::HasSubstr;

TEST(GpuChecks, CountersThatAreDeniedAreOptionalAndHaveARemedy) {
  EXPECT_FALSE(checkCounters(std::nullopt));
  EXPECT_TRUE(checkCounters(CounterPermission::Everyone)->ok());
  EXPECT_TRUE(checkCounters(CounterPermission::Administrator)->ok());
  const MachineCheck denied = *checkCounters(CounterPermission::Denied);
  EXPECT_EQ(denied.outcome, CheckOutcome::Optional);
  EXPECT_THAT(denied.detail, HasSubstr("RmProfilingAdminOnly"));
  EXPECT_THAT(denied.remedy, HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
}

/// Kopt's own process and another one, which may compute.
class Activity final : public GpuActivity {
public:
  Activity(bool known, unsigned percent) : known_(known), percent_(percent) {}
  std::optional<std::vector<GpuProcess>> processes() const override {
    if (!known_)
      return std::nullopt;
    return std::vector<GpuProcess>{{unsigned(getpid()), ~0u}, {1, ~0u}};
  }
  std::optional<std::vector<GpuLoad>> loads() const override {
    return std::vector<GpuLoad>{{1, 9'000'000, percent_}};
  }

private:
  bool known_;
  unsigned percent_;
};

MachineCheck otherPrograms(bool known, unsigned percent) {
  OtherLoad others(std::make_unique<Activity>(known, percent));
  return checkOtherPrograms(others, 1);
}

TEST(GpuChecks, AProgramThatComputesIsNamed) {
  EXPECT_TRUE(otherPrograms(true, 0).ok());
  const MachineCheck busy = otherPrograms(true, 80);
  EXPECT_EQ(busy.outcome, CheckOutcome::Optional);
  EXPECT_THAT(busy.detail, HasSubstr("process 1 "));
  EXPECT_THAT(busy.remedy, HasSubstr("wait"));
}

TEST(GpuChecks, WhatCannotBeSeenIsNotCalledFree) {
  const MachineCheck blind = otherPrograms(false, 0);
  EXPECT_EQ(blind.outcome, CheckOutcome::Optional);
  EXPECT_THAT(blind.detail, HasSubstr("NVML does not report"));
}

TEST(GpuChecks, AnotherKoptIsFoundByItsLock) {
  const auto folder = std::move(*TemporaryDirectory::create("kopt-lock"));
  const std::filesystem::path file = folder.path() / "kopt-GPU-1.lock";
  DeviceLock lock(file, "Fake GPU", {});
  EXPECT_TRUE(checkOtherKopt(lock).ok());
  ASSERT_TRUE(writeFileAtomically(file, "4711\n"));
  EXPECT_TRUE(checkOtherKopt(lock).ok());
  // A lock belongs to the open file, so this one is another kopt's.
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::flock(descriptor, LOCK_EX), 0);
  const MachineCheck held = checkOtherKopt(lock);
  EXPECT_EQ(held.outcome, CheckOutcome::Optional);
  EXPECT_THAT(held.detail, HasSubstr("another kopt (process 4711)"));
  ::close(descriptor);
}

TEST(GpuChecks, ALockThatCannotBeOpenedBlocks) {
  const auto folder = std::move(*TemporaryDirectory::create("kopt-lock"));
  DeviceLock lock(folder.path(), "Fake GPU", {}); // a folder is no lock file
  EXPECT_EQ(checkOtherKopt(lock).outcome, CheckOutcome::Blocking);
}

} // namespace
} // namespace kopt
