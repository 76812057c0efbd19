// SPDX-License-Identifier: Apache-2.0
#include "driver/app/doctor/Doctor.h"

#include "driver/support/FileSystem.h"
#include "tests/fakes/FakeClock.h"
#include "tests/fakes/FakeProcessRunner.h"

#include <gmock/gmock.h>
#include <unistd.h>

namespace kopt {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

DeviceInfo device(bool modelled) {
  DeviceInfo info;
  info.kind = modelled ? DeviceKind::Emulated : DeviceKind::Cuda;
  info.name = modelled ? "H200" : "NVIDIA H200";
  info.arch = "sm_90";
  info.modelled = modelled;
  return info;
}

MachineReport concluded(std::vector<MachineCheck> checks, const std::optional<DeviceInfo> &device,
                        bool gpuMissing = false) {
  MachineReport report;
  report.checks = std::move(checks);
  report.device = device;
  conclude(report, gpuMissing);
  return report;
}

TEST(Doctor, TuningCanStartWhereNothingBlocksIt) {
  const std::vector<MachineCheck> checks = {
      passed("front end", "/bin/kopt-frontend"),
      failed("nvdisasm", CheckOutcome::Optional, "not found", "install it")};
  const MachineReport onGpu = concluded(checks, device(false));
  EXPECT_FALSE(onGpu.blocked);
  EXPECT_EQ(onGpu.conclusion, "tuning can start: on the GPU NVIDIA H200 sm_90");
  EXPECT_EQ(concluded(checks, device(true)).conclusion,
            "tuning can start: on the emulated device (H200 sm_90): times are modelled");
  EXPECT_EQ(concluded(checks, device(true), true).conclusion,
            "tuning can start: on the emulated device only (H200 sm_90): times are modelled");
}

TEST(Doctor, TheFirstCheckThatBlocksDecidesTheExitCodeAndTheRestIsItsContext) {
  const MachineReport report =
      concluded({failed("nvdisasm", CheckOutcome::Optional, "not found", "install it"),
                 failed("configuration", CheckOutcome::Blocking, "unknown key", "correct it",
                        ErrorCode::Usage),
                 failed("database", CheckOutcome::Blocking, "damaged", "move it")},
                device(false));
  ASSERT_TRUE(report.blocked);
  EXPECT_EQ(report.blocked->code, ErrorCode::Usage);
  EXPECT_EQ(report.blocked->what, "tuning cannot start: configuration: unknown key");
  EXPECT_EQ(report.blocked->hint, "correct it");
  EXPECT_THAT(report.blocked->context, ElementsAre("nor with this: database: damaged"));
  EXPECT_EQ(report.conclusion, "tuning cannot start: configuration: unknown key; correct it (and 1 "
                               "more, as above)");
}

TEST(Doctor, AnErrorNamesItsPlaceOnce) {
  EXPECT_EQ(
      failed("x", CheckOutcome::Blocking, {ErrorCode::Usage, "bad", "kopt.toml:2", "", {}}).detail,
      "kopt.toml:2: bad");
  EXPECT_EQ(
      failed("x", CheckOutcome::Blocking, {ErrorCode::Usage, "no /a/b", "/a/b", "", {}}).detail,
      "no /a/b");
}

class ExamineMachineTest : public testing::Test {
protected:
  /// With nothing installed.
  MachineReport examine() {
    const auto terminal = makeTerminal(STDERR_FILENO, ColourChoice::Never, true);
    DoctorRequest request;
    request.config.directory = folder.path();
    request.config.environment = [](const char *) -> const char * { return nullptr; };
    return examineMachine({processes, clock, *terminal, {}, nullptr}, request);
  }
  static CheckOutcome outcome(const MachineReport &report, const std::string &name) {
    for (const MachineCheck &check : report.checks)
      if (check.name == name)
        return check.outcome;
    ADD_FAILURE() << "there is no check " << name;
    return CheckOutcome::Ok;
  }

  TemporaryDirectory folder = std::move(*TemporaryDirectory::create("kopt-doctor"));
  fakes::FakeProcessRunner processes;
  fakes::FakeClock clock;
};

TEST_F(ExamineMachineTest, WhereNothingIsInstalledTuningCannotStart) {
  const MachineReport report = examine();
  ASSERT_TRUE(report.blocked);
  EXPECT_EQ(report.blocked->code, ErrorCode::Environment);
  EXPECT_FALSE(report.device);
  EXPECT_EQ(outcome(report, "front end"), CheckOutcome::Blocking);
  EXPECT_EQ(outcome(report, "nvcc"), CheckOutcome::Optional);
  EXPECT_EQ(outcome(report, "sandbox"), CheckOutcome::Blocking);
  EXPECT_EQ(outcome(report, "cuda device"), CheckOutcome::Optional);
  EXPECT_EQ(outcome(report, "emulated device"), CheckOutcome::Blocking);
  EXPECT_EQ(outcome(report, "language model"), CheckOutcome::Ok);
}

TEST_F(ExamineMachineTest, TheConfigurationSaysWhatIsNeeded) {
  ASSERT_TRUE(writeFileAtomically(folder.path() / "kopt.toml", "[tune]\ndevice = \"cuda\"\n"));
  const MachineReport report = examine();
  EXPECT_EQ(outcome(report, "configuration"), CheckOutcome::Ok);
  EXPECT_EQ(outcome(report, "nvcc"), CheckOutcome::Blocking);
  EXPECT_EQ(outcome(report, "cuda device"), CheckOutcome::Blocking);
  EXPECT_EQ(outcome(report, "emulated device"), CheckOutcome::Optional);
}

TEST_F(ExamineMachineTest, AConfigurationThatIsNotValidBlocksWithItsPlace) {
  ASSERT_TRUE(writeFileAtomically(folder.path() / "kopt.toml", "[tune]\nruonds = 3\n"));
  const MachineReport report = examine();
  for (const MachineCheck &check : report.checks)
    if (check.name == "configuration") {
      EXPECT_EQ(check.outcome, CheckOutcome::Blocking);
      EXPECT_EQ(check.code, ErrorCode::Usage);
      EXPECT_THAT(check.detail, HasSubstr("kopt.toml:2"));
      return;
    }
  FAIL() << "there is no check of the configuration";
}

} // namespace
} // namespace kopt
