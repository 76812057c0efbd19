// SPDX-License-Identifier: Apache-2.0
#include "driver/device/runner/RunnerClient.h"
#include "driver/device/runner/DeviceLock.h"
#include "tests/fakes/Results.h"
#include "unit/device/RunnerClientFixture.h"
#include "unit/runtime/cuda/FakeNvml.h"

#include <algorithm>
#include <unistd.h>

namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

using namespace kopt;
using namespace kopt::test;
using runtime::protocol::Message;

class RunnerClientTest : public RunnerClientFixture {};

TEST_F(RunnerClientTest, KnowsItsDevice) {
  const auto runner = start();
  EXPECT_EQ(runner->device().kind, DeviceKind::Cuda);
  EXPECT_EQ(runner->device().name, "Fake GPU");
  EXPECT_EQ(runner->device().arch, "sm_90");
  EXPECT_EQ(runner->device().l2Bytes, 1u << 20);
  EXPECT_FALSE(runner->device().modelled);
  EXPECT_EQ(processes.calls[0].argv,
            (std::vector<std::string>{"kopt-runner", "--device", "cuda", "--ordinal", "0"}));
}

TEST_F(RunnerClientTest, SecretsStayOut) {
  setenv("SOME_API_KEY", "x", 1);
  setenv("A_TOKEN_OF_MINE", "x", 1);
  start();
  unsetenv("SOME_API_KEY");
  unsetenv("A_TOKEN_OF_MINE");
  // Only what is named gets in, whatever else a key may be called.
  ASSERT_TRUE(processes.calls[0].keepEnv);
  const auto &kept = *processes.calls[0].keepEnv;
  for (const char *variable : {"SOME_API_KEY", "A_TOKEN_OF_MINE", "LD_PRELOAD", "HOME"})
    EXPECT_EQ(std::find(kept.begin(), kept.end(), variable), kept.end()) << variable;
  EXPECT_NE(std::find(kept.begin(), kept.end(), "CUDA_VISIBLE_DEVICES"), kept.end());
}

TEST_F(RunnerClientTest, RunsAndReturnsFiles) {
  const auto runner = start();
  const auto module = must(runner->load("copy", ""));
  EXPECT_EQ(module.symbol, "copy");
  EXPECT_EQ(module.registers, 32u);
  const auto outcome = must(runner->run(module.id, launch(), {}));
  EXPECT_EQ(outcome.status, RunStatus::Ok) << outcome.detail;
  ASSERT_EQ(outcome.buffers.size(), 2u);
  EXPECT_EQ(outcome.buffers[0], ""); // read-only, and found unchanged
  EXPECT_EQ(*readFile(outcome.buffers[1]), input(1));
  EXPECT_EQ(outcome.unwritten, (std::vector<std::uint64_t>{0, 0}));
  EXPECT_TRUE(outcome.stages.contains("launch"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path() / "buffers")); // it travelled through memory
}

TEST_F(RunnerClientTest, WhereTheRunnerCannotReachMemoryThereAreFiles) {
  memoryHidden = true;
  const auto runner = start();
  const ModuleId module = runner->load("copy", "")->id;
  const auto outcome = must(runner->run(module, launch(), {}));
  EXPECT_EQ(outcome.buffers[1], folder.path() / "buffers/run/buffer1.bin");
  EXPECT_EQ(*readFile(outcome.buffers[1]), input(1));
}

TEST_F(RunnerClientTest, ASlotKeepsItsContentsWhileOthersAreUsed) {
  const auto runner = start();
  const ModuleId module = runner->load("copy", "")->id;
  RunOptions options;
  options.slot = "kept";
  const auto kept = runner->run(module, launch(), options);
  options.slot = "other";
  options.inputSeed = 2;
  const auto other = runner->run(module, launch(), options);
  EXPECT_EQ(*readFile(kept->buffers[1]), input(1));
  EXPECT_EQ(*readFile(other->buffers[1]), input(2));
}

TEST_F(RunnerClientTest, TheRunnerCannotMakeTheMemoryShorter) {
  const auto runner = start();
  const auto outcome = must(runner->run(runner->load("copy", "")->id, launch(), {}));
  EXPECT_NE(truncate(outcome.buffers[1].c_str(), 0), 0);
  EXPECT_EQ(*readFile(outcome.buffers[1]), input(1));
}

TEST_F(RunnerClientTest, CountsTheUnwritten) {
  const auto runner = start();
  const auto outcome = must(runner->run(runner->load("copy", "")->id, launch(300), {}));
  EXPECT_EQ(outcome.unwritten, (std::vector<std::uint64_t>{0, 25}));
}

TEST_F(RunnerClientTest, ResultsThatAreKnownAreNotReadAgain) {
  hasMemoryKernels = true;
  const auto runner = start();
  const auto module = must(runner->load("copy", ""));
  Launch large = launch(4u << 20);
  for (Buffer &buffer : large.buffers)
    buffer.bytes = 4u << 20;
  RunOptions options;
  const auto first = must(runner->run(module.id, large, options));
  EXPECT_FALSE(first.digest.empty());
  options.known = first.digest;
  options.poisonSeed = 9;
  const auto again = must(runner->run(module.id, large, options));
  EXPECT_TRUE(again.isKnown);
  EXPECT_TRUE(again.buffers.empty());
  EXPECT_EQ(again.unwritten, first.unwritten);
  options.inputSeed = 9;
  const auto other = must(runner->run(module.id, large, options));
  EXPECT_FALSE(other.isKnown);
  EXPECT_NE(other.digest, first.digest);
  ASSERT_EQ(other.buffers.size(), 2u);
  EXPECT_EQ(*readFile(other.buffers[1]), input(9, 4u << 20));
}

TEST_F(RunnerClientTest, SeedsReachTheRunner) {
  const auto runner = start();
  const ModuleId module = runner->load("copy", "")->id;
  RunOptions options;
  for (const std::uint64_t seed : {1, 1, 2}) {
    options.inputSeed = seed;
    EXPECT_EQ(*readFile(runner->run(module, launch(), options)->buffers[1]), input(seed));
  }
  EXPECT_NE(input(1), input(2));
}

TEST_F(RunnerClientTest, LaunchesFindSharedMemoryThatNobodyKnows) {
  const auto runner = start();
  RunOptions options;
  options.poisonSeed = 77;
  ASSERT_TRUE(runner->run(runner->load("copy", "")->id, launch(), options));
  const auto asked = std::find_if(lines.begin(), lines.end(),
                                  [](const std::string &line) { return line.starts_with("run "); });
  ASSERT_NE(asked, lines.end());
  EXPECT_EQ(Message::parse(*asked)->text("scratch"), "77");
}

TEST_F(RunnerClientTest, AModuleThatDoesNotLoadIsNotTheMachines) {
  const auto runner = start();
  EXPECT_THAT(runner->load("unheard", ""),
              fails({.code = ErrorCode::BaselineFailed, .what = HasSubstr("no module unheard")}));
}

TEST_F(RunnerClientTest, AfterAFaultAFreshProcessLoadsWhatIsUsed) {
  const auto runner = start();
  const ModuleId copy = runner->load("copy", "")->id, fault = runner->load("fault", "")->id;
  const auto failed = must(runner->run(fault, launch(), {}));
  EXPECT_EQ(failed.status, RunStatus::Fault);
  EXPECT_EQ(failed.detail, "illegal address");
  EXPECT_EQ(starts, 2); // the device had to pass a probe before the fault was the candidate's
  const auto outcome = must(runner->run(copy, launch(), {}));
  EXPECT_EQ(outcome.status, RunStatus::Ok);
  EXPECT_EQ(starts, 2);
  EXPECT_EQ(device->loads, 1u); // the faulting module is not loaded again unless it is used
}

TEST_F(RunnerClientTest, EveryEndOfALaunchIsToldApart) {
  for (const StatusCode code :
       {StatusCode::LaunchFailed, StatusCode::Race, StatusCode::Uninitialised,
        StatusCode::Divergence, StatusCode::UnsetShared}) {
    kernels["fault"] = [code](const LaunchRequest &) { return DeviceStatus{code, "so it ends"}; };
    const auto runner = start();
    const auto outcome = must(runner->run(runner->load("fault", "")->id, launch(), {}));
    EXPECT_EQ(int(outcome.status), int(code));
    EXPECT_EQ(outcome.detail, "so it ends");
  }
}

TEST_F(RunnerClientTest, AHangIsTimedOutAndForgotten) {
  const auto runner = start();
  const ModuleId module = runner->load("copy", "")->id;
  hangOn = "run";
  const auto hung = must(runner->run(module, launch(), {}));
  EXPECT_EQ(hung.status, RunStatus::TimedOut);
  hangOn.clear();
  EXPECT_EQ(runner->run(module, launch(), {})->status, RunStatus::Ok);
  EXPECT_EQ(starts, 2);
}

TEST_F(RunnerClientTest, ACrashIsAStatusOfRunAndOfTime) {
  const auto runner = start();
  const ModuleId module = runner->load("copy", "")->id;
  dieOn = "run";
  EXPECT_EQ(runner->run(module, launch(), {})->status, RunStatus::Crashed);
  dieOn = "time";
  EXPECT_EQ(runner->time(module, launch(), module, launch(), {})->status, RunStatus::Crashed);
  dieOn.clear();
  EXPECT_EQ(runner->run(module, launch(), {})->status, RunStatus::Ok);
}

TEST_F(RunnerClientTest, ADeathThatDoesNotComeAgainIsNobodysFault) {
  const auto runner = start();
  const ModuleId module = runner->load("copy", "")->id;
  dieOnceOn = "run";
  const auto outcome = must(runner->run(module, launch(), {}));
  EXPECT_EQ(outcome.status, RunStatus::Ok) << outcome.detail;
  EXPECT_EQ(*readFile(outcome.buffers[1]), input(1));
  EXPECT_EQ(starts, 2);
  const auto incidents = runner->takeIncidents();
  ASSERT_EQ(incidents.size(), 1u);
  EXPECT_EQ(incidents[0].fault, FaultClass::Ambiguous);
  EXPECT_TRUE(runner->takeIncidents().empty());
}

TEST_F(RunnerClientTest, ADeathThatComesAgainIsTheCandidatesAfterTwoAttempts) {
  const auto runner = start();
  const ModuleId module = runner->load("copy", "")->id;
  dieOn = "run";
  const auto outcome = runner->run(module, launch(), {});
  EXPECT_EQ(outcome->status, RunStatus::Crashed);
  EXPECT_THAT(outcome->detail, HasSubstr("also in a fresh process"));
  EXPECT_EQ(std::count_if(lines.begin(), lines.end(),
                          [](const auto &line) { return line.starts_with("run"); }),
            2);
}

TEST_F(RunnerClientTest, WhatNobodyAskedForCostsTheProcessNotTheNextCandidate) {
  const auto runner = start();
  const ModuleId module = runner->load("copy", "")->id;
  twiceOn = "run";
  EXPECT_EQ(runner->run(module, launch(), {})->status, RunStatus::Ok);
  const auto next = must(runner->load("copy", ""));
  EXPECT_EQ(starts, 2);
  EXPECT_EQ(runner->run(next.id, launch(), {})->status, RunStatus::Ok);
  EXPECT_EQ(runner->takeIncidents().at(0).fault, FaultClass::Infrastructure);
}

TEST_F(RunnerClientTest, NoRoomInAFreshProcessEitherIsTheCandidates) {
  const auto runner = start();
  const ModuleId module = runner->load("copy", "")->id;
  fullOn = "run";
  timesFull = 1;
  EXPECT_EQ(runner->run(module, launch(), {})->status, RunStatus::Ok);
  timesFull = 2;
  const auto outcome = must(runner->run(module, launch(), {}));
  EXPECT_EQ(outcome.status, RunStatus::LaunchFailed);
  EXPECT_THAT(outcome.detail, HasSubstr("full"));
}

TEST_F(RunnerClientTest, ADeviceThatFailsItsProbeOnceIsSuspectAndTwiceIsUsedNoMore) {
  const auto runner = start();
  const ModuleId fault = runner->load("fault", "")->id, copy = runner->load("copy", "")->id;
  probesThatFail = 1;
  EXPECT_EQ(runner->run(fault, launch(), {})->status, RunStatus::Fault);
  EXPECT_EQ(runner->run(copy, launch(), {})->status, RunStatus::Ok);
  probesThatFail = 2;
  const auto lost = runner->run(fault, launch(), {});
  ASSERT_THAT(lost, fails({.code = ErrorCode::Environment,
                           .what = HasSubstr("Fake GPU failed the probe")}));
  const int before = starts;
  EXPECT_FALSE(runner->run(copy, launch(), {}));
  EXPECT_FALSE(runner->load("copy", ""));
  EXPECT_EQ(starts, before); // nothing is tried on it
  EXPECT_THAT(runner->lost(), HasSubstr("failed the probe"));
}

TEST_F(RunnerClientTest, ADeviceWithoutAProcessIsLostUntilThereIsOne) {
  const auto runner = start();
  const ModuleId copy = runner->load("copy", "")->id;
  EXPECT_EQ(runner->lost(), "");
  runner->renew();
  deviceMissing = true;
  EXPECT_FALSE(runner->run(copy, launch(), {}));
  EXPECT_THAT(runner->lost(), HasSubstr("no driver here"));
  deviceMissing = false;
  EXPECT_EQ(runner->run(copy, launch(), {})->status, RunStatus::Ok);
  EXPECT_EQ(runner->lost(), "");
}

TEST_F(RunnerClientTest, ProcessesThatWereStartedAheadAreReadyBeforeAnythingIsTimed) {
  const auto runner = start();
  const ModuleId copy = runner->load("copy", "")->id;
  const int before = starts;
  runner->prepareRenewals(1);
  runner->prepareRenewals(2);
  EXPECT_EQ(starts, before + 2);
  for (int process = 0; process < 2; ++process) {
    runner->renew();
    ASSERT_EQ(runner->time(copy, launch(), copy, launch(), {})->status, RunStatus::Ok);
    EXPECT_EQ(starts, before + 2) << "the next one had been started";
  }
  EXPECT_TRUE(runner->takeIncidents().empty());
}

TEST_F(RunnerClientTest, WhereMemoryIsShortNoProcessWaits) {
  const auto runner = start();
  const ModuleId copy = runner->load("copy", "")->id;
  runner->prepareRenewals(2);
  fullOn = "run";
  timesFull = 1;
  const int before = starts;
  EXPECT_EQ(runner->run(copy, launch(), {})->status, RunStatus::Ok);
  EXPECT_EQ(starts, before + 1) << "none of those that waited";
  runner->prepareRenewals(2);
  runner->prepareProfile();
  EXPECT_EQ(starts, before + 1);
  runner->renew();
  EXPECT_EQ(runner->time(copy, launch(), copy, launch(), {})->status, RunStatus::Ok);
}

TEST_F(RunnerClientTest, RenewedTheNextCallFindsAFreshProcessAndNobodyIsBlamed) {
  const auto runner = start();
  const ModuleId copy = runner->load("copy", "")->id;
  const int before = starts;
  runner->renew();
  runner->renew();
  const std::size_t said = lines.size();
  ASSERT_EQ(runner->time(copy, launch(), copy, launch(), {})->status, RunStatus::Ok);
  EXPECT_EQ(starts, before + 1);
  EXPECT_TRUE(runner->takeIncidents().empty());
  for (std::size_t i = said; i < lines.size(); ++i)
    EXPECT_NE(lines[i].rfind("probe", 0), 0u)
        << "a process that was ended on purpose casts no doubt on the device";
}

TEST_F(RunnerClientTest, AReplyToAnotherRequestIsNotBelieved) {
  const auto runner = start();
  const ModuleId module = runner->load("copy", "")->id;
  forgeOn = "run";
  EXPECT_EQ(runner->run(module, launch(), {})->status, RunStatus::Crashed);
}

TEST_F(RunnerClientTest, TimesTwoModules) {
  kernels["slow"] = kernels["copy"];
  const auto runner = start();
  const ModuleId a = runner->load("slow", "")->id, b = runner->load("copy", "")->id;
  device->seconds = [](const std::string &name) { return name == "slow" ? 3e-3 : 1e-3; };
  const auto outcome = must(runner->time(a, launch(), b, launch(), {}));
  EXPECT_EQ(outcome.cacheMode, CacheMode::Cold);
  EXPECT_FALSE(outcome.modelled);
  EXPECT_EQ(outcome.batch, 1u);
  EXPECT_EQ(outcome.smClockMHz, 1980);
  ASSERT_GE(outcome.samples.size(), 10u);
  EXPECT_EQ(outcome.samples[0].a, 3e-3);
  EXPECT_EQ(outcome.samples[0].b, 1e-3);
  ASSERT_EQ(outcome.buffersB.size(), 2u);
  EXPECT_EQ(*readFile(outcome.buffersA[1]), *readFile(outcome.buffersB[1]));
}

TEST_F(RunnerClientTest, SaysWhoElseComputedWhileItWasTimed) {
  fakeNvml() = {};
  fakeNvml().processes = {unsigned(getpid())}; // where the fake runner lives
  fakeNvml().loads = {{unsigned(getpid()), 5'000'000, 80}};
  const auto runner = start();
  EXPECT_EQ(runner->device().facts.at(kOtherLoadFact), "watched");
  const ModuleId copy = runner->load("copy", "")->id;
  EXPECT_TRUE(runner->time(copy, launch(), copy, launch(), {})->otherLoad.empty());
  fakeNvml().processes.push_back(unsigned(getppid()));
  fakeNvml().loads.push_back({unsigned(getppid()), 5'000'000, 80});
  const auto outcome = must(runner->time(copy, launch(), copy, launch(), {}));
  ASSERT_EQ(outcome.otherLoad.size(), 1u);
  EXPECT_THAT(outcome.otherLoad[0], HasSubstr(std::to_string(getppid())));
  EXPECT_EQ(outcome.status, RunStatus::Ok) << "it is for the verdict to doubt";
  fakeNvml() = {};
  fakeNvml().initResult = 9;
  EXPECT_NE(start()->device().facts.at(kOtherLoadFact), "watched");
  fakeNvml() = {};
}

TEST_F(RunnerClientTest, LaunchesWaitForAnotherKoptOnTheSameDevice) {
  DeviceLock other(deviceLockFile("GPU-fake"), "Fake GPU", {});
  std::optional<DeviceLock::Hold> hold(std::move(*other.take()));
  std::vector<std::string> told;
  const auto runner = start({[&](const std::string &text) {
                               told.push_back(text);
                               EXPECT_EQ(lines.back().rfind("load", 0), 0u); // nothing was launched
                               hold.reset();
                             },
                             {}});
  const ModuleId module = runner->load("copy", "")->id;
  const auto outcome = must(runner->run(module, launch(), {}));
  EXPECT_EQ(outcome.status, RunStatus::Ok);
  EXPECT_EQ(told.size(), 1u);
  EXPECT_GT(outcome.stages.at("lock"), 0);
  EXPECT_TRUE(other.take()); // given up with the reply
}

TEST_F(RunnerClientTest, AfterAFaultTheDeviceIsFreeForOthers) {
  const auto runner = start();
  runner->run(runner->load("fault", "")->id, launch(), {});
  DeviceLock other(deviceLockFile("GPU-fake"), "Fake GPU", {{}, [] { return true; }});
  EXPECT_TRUE(other.take());
}

TEST_F(RunnerClientTest, UnloadFreesAndAnUnknownModuleIsABug) {
  const auto runner = start();
  const ModuleId module = runner->load("copy", "")->id;
  runner->unload(module);
  EXPECT_EQ(lines.back().rfind("unload module=1", 0), 0u);
  EXPECT_THAT(runner->run(module, launch(), {}), fails({.code = ErrorCode::Internal}));
}

TEST_F(RunnerClientTest, AFileThatCannotBeWrittenIsTheMachines) {
  memoryHidden = true;
  const auto runner = start();
  const ModuleId module = runner->load("copy", "")->id;
  const std::filesystem::path file = folder.path() / "buffers/run/buffer1.bin";
  std::filesystem::create_directories(file);
  EXPECT_THAT(runner->run(module, launch(), {}),
              fails({.code = ErrorCode::Environment,
                     .what = HasSubstr(file.string() + ": Is a directory")}));
}

TEST_F(RunnerClientTest, CountersAreThoseOfAProcessThatOnlyCounts) {
  const auto runner = start();
  const ModuleId module = runner->load("copy", "")->id;
  const auto outcome = must(runner->profile(module, launch(), {}));
  EXPECT_EQ(outcome.source, "cupti");
  EXPECT_EQ(outcome.counters.at("launch__block_size"), 64); // the driver's
  EXPECT_TRUE(outcome.counters.contains("smsp__inst_executed.sum"));
  EXPECT_EQ(starts, 2);
}

TEST_F(RunnerClientTest, ProfileWithoutCountersHasTheDriversFacts) {
  noCounters = "libcupti.so was not found";
  const auto runner = start();
  const ModuleId module = runner->load("copy", "")->id;
  const auto outcome = must(runner->profile(module, launch(), {}));
  EXPECT_EQ(outcome.status, RunStatus::Ok);
  EXPECT_EQ(outcome.counters.at("launch__block_size"), 64);
  EXPECT_EQ(outcome.source, "ptxas");
  EXPECT_THAT(outcome.detail, HasSubstr("libcupti.so"));
  EXPECT_THAT(outcome.detail, HasSubstr("no CUDA toolkit was looked for"));
}

TEST_F(RunnerClientTest, NoDeviceSaysWhyAndWhatToDo) {
  deviceMissing = true;
  EXPECT_THAT(startRunner(processes, "kopt-runner", {DeviceKind::Cuda, 0, ""}, folder.path(), ""),
              fails({.code = ErrorCode::Environment,
                     .what = "no driver here",
                     .hint = HasSubstr("--device emulated")}));
}

TEST_F(RunnerClientTest, UnknownGpusAreNamedWithTheKnownOnes) {
  ASSERT_TRUE(writeFileAtomically(folder.path() / "H200.txt", "name H200\n"));
  EXPECT_THAT(startRunner(processes, "kopt-runner", {DeviceKind::Emulated, 0, "H2OO"},
                          folder.path(), folder.path()),
              fails({.code = ErrorCode::Usage, .hint = HasSubstr("H200")}));
  EXPECT_TRUE(processes.calls.empty());
}

TEST_F(RunnerClientTest, ARunnerThatDoesNotSayWhatItDrivesIsRefused) {
  kind = "opencl";
  EXPECT_THAT(startRunner(processes, "kopt-runner", {DeviceKind::Cuda, 0, ""}, folder.path(), ""),
              fails({.code = ErrorCode::Internal, .what = HasSubstr("unknown device")}));
}

TEST(RunnerProcess, MissingProgramIsNamed) {
  const auto processes = makeProcessRunner();
  auto folder = TemporaryDirectory::create("kopt-client");
  EXPECT_THAT(
      startRunner(*processes, "/nonexistent/kopt-runner", {DeviceKind::Cuda, 0, ""}, folder->path(),
                  ""),
      fails({.code = ErrorCode::Environment, .what = HasSubstr("/nonexistent/kopt-runner")}));
}

TEST(RunnerProcess, ADeviceThatIsNotThereIsAnEnvironmentError) {
  const auto processes = makeProcessRunner();
  auto folder = TemporaryDirectory::create("kopt-client");
  // No machine has a thousand devices.
  EXPECT_THAT(startRunner(*processes, KOPT_BINARY_DIR "/bin/kopt-runner",
                          {DeviceKind::Cuda, 999, ""}, folder->path(), ""),
              fails({.code = ErrorCode::Environment, .what = Not(IsEmpty())}));
}

TEST(RunnerProcess, AHangingProcessIsKilledWithItsChildren) {
  const auto processes = makeProcessRunner();
  auto folder = TemporaryDirectory::create("kopt-client");
  const std::filesystem::path program = folder->path() / "runner", child = folder->path() / "child";
  ASSERT_TRUE(writeFileAtomically(program, "#!/bin/sh\n"
                                           "reply() { echo \"ok $2 id=${1##*id=}\"; }\n"
                                           "read -r line; reply \"$line\" 'version=3 kind=cuda'\n"
                                           "read -r line; reply \"$line\" 'status=0 module=1'\n"
                                           "read -r line; sleep 1000 & echo $! > '" +
                                               child.string() + "'; wait\n"));
  std::filesystem::permissions(program, std::filesystem::perms::all);
  auto runner =
      must(startRunner(*processes, program, {DeviceKind::Cuda, 0, ""}, folder->path() / "b", ""));
  const auto module = must(runner->load("x", ""));
  RunOptions options;
  options.deadline = Duration(0.1);
  const auto outcome = must(runner->run(module.id, Launch{}, options));
  EXPECT_EQ(outcome.status, RunStatus::TimedOut);
  const int pid = std::stoi(*readFile(child));
  // Killed with the group; a zombie that its new parent has yet to reap counts as gone.
  bool alive = true;
  for (int i = 0; i < 100 && alive; ++i) {
    const auto stat = readFile("/proc/" + std::to_string(pid) + "/stat");
    alive = stat && stat->find(") Z ") == stat->npos;
    if (alive)
      usleep(20000);
  }
  EXPECT_FALSE(alive);
}

} // namespace
