// SPDX-License-Identifier: Apache-2.0
#include "driver/device/runner/OtherLoad.h"

#include "driver/support/FileSystem.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

namespace {

using namespace kopt;
using runtime::cuda::GpuLoad;
using runtime::cuda::GpuProcess;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct State {
  std::optional<std::vector<GpuProcess>> processes = std::vector<GpuProcess>();
  std::optional<std::vector<GpuLoad>> loads = std::vector<GpuLoad>();
};

class FakeActivity final : public GpuActivity {
public:
  explicit FakeActivity(const State &state) : state_(state) {}
  std::optional<std::vector<GpuProcess>> processes() const override { return state_.processes; }
  std::optional<std::vector<GpuLoad>> loads() const override { return state_.loads; }

private:
  const State &state_;
};

constexpr unsigned kRunner = 70001, kSandbox = 70000, kOther = 80000, kOtherKopt = 80001;
constexpr unsigned long long kNow = 900'000'000;

class OtherLoadTest : public testing::Test {
protected:
  OtherLoadTest() {
    addProcess(kSandbox, "kopt-sandbox", unsigned(getpid()));
    addProcess(kRunner, "kopt-runner", kSandbox);
    addProcess(kOther, "python3 :) (x", 1);
    addProcess(kOtherKopt, "kopt-runner", 1);
    state.processes = {{kRunner, ~0u}};
    state.loads = {{kRunner, kNow, 90}};
  }
  void addProcess(unsigned pid, const std::string &name, unsigned parent) {
    const auto at = proc.path() / std::to_string(pid);
    ASSERT_TRUE(createDirectories(at));
    ASSERT_TRUE(
        writeFileAtomically(at / "stat", fmt::format("{} ({}) S {} 1 2 3", pid, name, parent)));
    ASSERT_TRUE(writeFileAtomically(at / "comm", name + "\n"));
  }
  std::vector<std::string> watch(unsigned own = 1) {
    load.begin();
    return load.end(own);
  }

  State state;
  TemporaryDirectory proc = std::move(*TemporaryDirectory::create("proc"));
  OtherLoad load{std::make_unique<FakeActivity>(state), proc.path()};
};

TEST_F(OtherLoadTest, KoptAloneDisturbsNobody) {
  EXPECT_EQ(load.blindness(1), "");
  EXPECT_THAT(watch(), IsEmpty());
}

TEST_F(OtherLoadTest, AnotherProcessThatComputesIsNamed) {
  state.processes->push_back({kOther, ~0u});
  state.loads->push_back({kOther, kNow - 500'000, 1});
  EXPECT_THAT(watch(), ElementsAre("process 80000 (python3 :) (x)"));
}

TEST_F(OtherLoadTest, OneThatOnlyHoldsTheGpuDisturbsNothing) {
  state.processes->push_back({kOther, ~0u});
  EXPECT_THAT(watch(), IsEmpty());
  state.loads->push_back({kOther, kNow - 5'000'000, 100}); // it did, seconds ago
  EXPECT_THAT(watch(), IsEmpty());
  state.loads->push_back({kOther, kNow, 0});
  EXPECT_THAT(watch(), IsEmpty());
}

TEST_F(OtherLoadTest, WhoEndsMeanwhileWasThereToo) {
  state.processes->push_back({kOther, ~0u});
  state.loads->push_back({kOther, kNow, 50});
  load.begin();
  state.processes->pop_back();
  EXPECT_THAT(load.end(1), ElementsAre(HasSubstr("80000")))
      << "it lets go of the GPU, and lives on";
  state.processes->push_back({kOther, ~0u});
  load.begin();
  state.processes->pop_back();
  std::filesystem::remove_all(proc.path() / std::to_string(kOther));
  EXPECT_THAT(load.end(1), ElementsAre("process 80000"));
}

TEST_F(OtherLoadTest, ARunnerOfOursThatWasReplacedIsNobodyElse) {
  constexpr unsigned kBefore = 70009;
  addProcess(kBefore, "kopt-runner", kSandbox);
  state.processes = {{kBefore, ~0u}};
  load.begin();
  std::filesystem::remove_all(
      proc.path() / std::to_string(kBefore)); // it has ended, and the driver has not noticed yet
  state.processes = {{kBefore, ~0u}, {kRunner, ~0u}};
  state.loads->push_back({kBefore, kNow, 50});
  load.begin();
  state.processes = {{kRunner, ~0u}};
  EXPECT_THAT(load.end(1), IsEmpty());
}

TEST_F(OtherLoadTest, AnotherKoptWaitsForTheLock) {
  state.processes->push_back({kOtherKopt, ~0u});
  state.loads->push_back({kOtherKopt, kNow, 50});
  EXPECT_THAT(watch(), IsEmpty());
}

TEST_F(OtherLoadTest, WhereNobodySaysWhoComputesWhoHoldsTheGpuIsDoubtEnough) {
  state.loads.reset();
  EXPECT_THAT(watch(), IsEmpty());
  state.processes->push_back({kOther, ~0u});
  EXPECT_THAT(watch(), ElementsAre(HasSubstr("does not report")));
}

TEST_F(OtherLoadTest, OtherInstancesOfASplitGpuAreOtherGpus) {
  state.processes = {{kRunner, 3}, {kOther, 4}};
  state.loads.reset();
  EXPECT_THAT(watch(), IsEmpty());
  state.processes = {{kRunner, 3}, {kOther, 3}};
  EXPECT_THAT(watch(), ElementsAre(HasSubstr("80000")));
}

TEST_F(OtherLoadTest, WithTheHostsIdsInAContainerItCounts) {
  state.processes = {{500, ~0u}}; // the runner, as the host knows it
  state.loads = {{500, kNow, 90}};
  EXPECT_EQ(load.blindness(1), "");
  EXPECT_THAT(watch(), IsEmpty());
  state.processes->push_back({501, ~0u});
  EXPECT_THAT(watch(), IsEmpty()) << "it holds the GPU and does nothing";
  EXPECT_THAT(watch(2), IsEmpty());
  state.loads->push_back({501, kNow, 20});
  EXPECT_THAT(watch(), ElementsAre("2 processes hold the GPU, of which 1 are kopt's"));
  state.loads.reset();
  EXPECT_THAT(watch(), ElementsAre(HasSubstr("does not report")));
}

TEST_F(OtherLoadTest, WhatCannotBeKnownIsSaidAndNotGuessed) {
  state.processes = std::vector<GpuProcess>();
  EXPECT_THAT(load.blindness(1), HasSubstr("kopt's own process"));
  EXPECT_THAT(watch(), IsEmpty());
  state.processes.reset();
  EXPECT_THAT(load.blindness(1), HasSubstr("NVML does not report"));
  EXPECT_THAT(watch(), IsEmpty());
}

} // namespace
