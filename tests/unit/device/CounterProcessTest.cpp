// SPDX-License-Identifier: Apache-2.0
// The process that counts, as a fake that answers line by line.
#include "driver/device/runner/CounterProcess.h"
#include "driver/device/profile/CounterNames.h"
#include "fakes/FakeProcessRunner.h"

#include <gtest/gtest.h>

namespace {

using namespace kopt;
using runtime::protocol::Message;

class CounterProcessTest : public testing::Test {
protected:
  CounterProcessTest() {
    processes.onStart([this](const std::string &line) -> std::optional<std::vector<std::string>> {
      const auto request = Message::parse(line);
      requests.push_back(*request);
      if (request->verb() == dieOn)
        return std::nullopt;
      Message reply("ok");
      reply.add("status", std::uint64_t(request->verb() == failOn ? int(RunStatus::Fault) : 0));
      reply.add("detail", request->verb() == failOn ? "illegal address" : "");
      if (request->verb() == "load")
        reply.add("module", std::uint64_t(7));
      if (request->verb() == "profile" && !why.empty())
        reply.add("no_counters", why);
      if (request->verb() == "profile" && why.empty())
        reply.addList("counter", {"smsp__inst_executed.sum", "4096"});
      reply.addList("stage", {"count", "0.25"});
      reply.add("id", request->text("id"));
      return std::vector{reply.format()};
    });
  }

  ProfileOutcome count() {
    Launch launch;
    launch.grid = {2, 1, 1};
    launch.block = {64, 1, 1};
    return counter.count({"/kernel.cubin", "copy", launch, {}}, Duration(1), {});
  }
  int asked(const std::string &verb) const {
    return int(std::count_if(requests.begin(), requests.end(),
                             [&](const Message &m) { return m.verb() == verb; }));
  }

  fakes::FakeProcessRunner processes;
  CounterProcess counter{processes,
                         {"/kopt-runner", "--device", "cuda"},
                         Sandbox(),
                         SandboxPolicy(),
                         "/opt/libcupti.so"};
  std::vector<Message> requests;
  std::string dieOn, failOn, why;
};

TEST_F(CounterProcessTest, NothingIsStartedBeforeTheFirstCount) {
  EXPECT_TRUE(processes.calls.empty());
}

TEST_F(CounterProcessTest, IsStartedAheadOnceAndUsed) {
  counter.prepare();
  counter.prepare();
  EXPECT_EQ(counter.running(), 1u);
  counter.awaitReady();
  EXPECT_EQ(requests.at(0).list("metrics"), hardwareCounters());
  EXPECT_EQ(count().source, "cupti");
  counter.prepare(); // it runs
  EXPECT_EQ(processes.calls.size(), 1u);
  EXPECT_EQ(counter.running(), 1u);
}

TEST_F(CounterProcessTest, AsksForAllHardwareCountersAndStaysWarm) {
  for (int i = 0; i < 2; ++i) {
    const ProfileOutcome outcome = count();
    EXPECT_EQ(outcome.source, "cupti");
    EXPECT_EQ(outcome.detail, "");
    EXPECT_EQ(outcome.counters, (Counters{{"smsp__inst_executed.sum", 4096}}));
    EXPECT_EQ(outcome.stages.at("count"), 0.25);
  }
  ASSERT_EQ(processes.calls.size(), 1u);
  EXPECT_EQ(processes.calls[0].env.at("KOPT_CUPTI"), "/opt/libcupti.so");
  EXPECT_EQ(asked("unload"), 2);
  for (const Message &request : requests)
    if (request.verb() == "profile") {
      EXPECT_EQ(request.list("metrics"), hardwareCounters());
    }
}

TEST_F(CounterProcessTest, WhatIsDeniedIsSaidOnceAndNotTriedAgain) {
  why =
      "cuptiRangeProfilerStart: denied; load the module with NVreg_RestrictProfilingToAdminUsers=0";
  ProfileOutcome outcome = count();
  EXPECT_TRUE(outcome.counters.empty());
  EXPECT_NE(outcome.detail.find("NVreg_RestrictProfilingToAdminUsers=0"), std::string::npos);
  outcome = count();
  EXPECT_TRUE(outcome.counters.empty());
  EXPECT_EQ(outcome.detail, "");
  EXPECT_EQ(asked("profile"), 1);
}

TEST_F(CounterProcessTest, AProcessThatIsLostIsReplacedThreeTimesAtMost) {
  dieOn = "profile";
  for (int i = 0; i < 5; ++i) {
    const ProfileOutcome outcome = count();
    EXPECT_TRUE(outcome.counters.empty());
    EXPECT_EQ(outcome.detail.empty(), i >= 3) << outcome.detail;
  }
  EXPECT_EQ(processes.calls.size(), 3u);
}

TEST_F(CounterProcessTest, ALossIsForgivenWhenTheNextCountSucceeds) {
  for (int i = 0; i < 5; ++i) {
    dieOn = "load";
    EXPECT_TRUE(count().counters.empty());
    dieOn = "";
    EXPECT_FALSE(count().counters.empty());
  }
}

TEST_F(CounterProcessTest, AKernelThatFailsHereHasNoCountersAndTheNextAFreshProcess) {
  failOn = "profile";
  const ProfileOutcome outcome = count();
  EXPECT_EQ(outcome.status, RunStatus::Ok); // it was judged where it was verified
  EXPECT_NE(outcome.detail.find("illegal address"), std::string::npos);
  failOn = "";
  EXPECT_FALSE(count().counters.empty());
  EXPECT_EQ(processes.calls.size(), 2u);
}

TEST(LineCosts, AreThoseOfAReplyThatCanBeRead) {
  Message reply("ok");
  reply.addList("line", {"my slice,1.cu", "7", "96", "12.5"});
  reply.addList("line", {"", "0", "32", "0"});
  reply.addList("line", {"a.cu", "-1", "1", "1"});
  reply.addList("line", {"a.cu", "1", "nan", "1"});
  reply.addList("line", {"a.cu", "1"});
  const auto lines = lineCostsOf(*Message::parse(reply.format()));
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].file, "my slice,1.cu");
  EXPECT_EQ(lines[0].line, 7u);
  EXPECT_EQ(lines[0].instructions, 96);
  EXPECT_EQ(lines[0].sectors, 12.5);
  EXPECT_EQ(lines[1].file, "");
}

} // namespace
