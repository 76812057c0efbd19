// SPDX-License-Identifier: Apache-2.0
#include "unit/runtime/trace/TraceFile.h"

#include <csignal>
#include <sys/wait.h>
#include <thread>

using namespace kopt::runtime::trace;
using kopt::test::putLaunch;
using kopt::test::TraceFolder;

namespace {

using Payload = std::unique_ptr<RecordPayload>;
Payload payload() { return std::make_unique<RecordPayload>(); }

class LogReaderTest : public TraceFolder {
protected:
  void function(Appender &to, LogFile &log, std::uint32_t id, const std::string &symbol,
                std::vector<Parameter> parameters = {}) {
    const Payload p = payload();
    p->put(id);
    p->put(std::uint32_t(1));
    p->put(symbol);
    p->put(std::uint32_t(parameters.size()));
    for (const Parameter &parameter : parameters) {
      p->put(parameter.offset);
      p->put(parameter.bytes);
    }
    ASSERT_TRUE(to.append(RecordKind::Function, 0, log.nextSequence(), *p));
  }
  void launch(Appender &to, LogFile &log, std::uint32_t id, std::uint32_t gridX,
              std::uint32_t correlation, const std::string &arguments = {}) {
    const Payload p = payload();
    putLaunch(*p, id, gridX, correlation, arguments);
    ASSERT_TRUE(to.append(RecordKind::Launch, 0, log.nextSequence(), *p));
  }
  void duration(Appender &to, LogFile &log, std::uint32_t correlation, std::uint64_t nanoseconds,
                std::uint64_t node = 0, std::uint32_t id = UINT32_MAX) {
    const Payload p = payload();
    p->put(correlation);
    p->put(id);
    p->put(node);
    p->put(std::uint64_t(1000));
    p->put(std::uint64_t(1000 + nanoseconds));
    ASSERT_TRUE(to.append(RecordKind::Duration, 0, log.nextSequence(), *p));
  }
  void allocation(Appender &to, LogFile &log, std::uint64_t base, std::uint64_t size,
                  const std::string &name = {}) {
    const Payload p = payload();
    p->put(base);
    p->put(size);
    p->put(std::uint32_t(name.empty() ? AllocationKind::Device : AllocationKind::Symbol));
    p->put(name);
    ASSERT_TRUE(to.append(RecordKind::Allocation, 0, log.nextSequence(), *p));
  }
  void release(Appender &to, LogFile &log, std::uint64_t base) {
    const Payload p = payload();
    p->put(base);
    ASSERT_TRUE(to.append(RecordKind::Free, 0, log.nextSequence(), *p));
  }
};

TEST_F(LogReaderTest, WhatIsWrittenIsRead) {
  {
    const auto log = create();
    Appender to(*log);
    function(to, *log, 0, "_Z5scalePf", {{0, 8}, {8, 4}});
    allocation(to, *log, 0x1000, 256);
    launch(to, *log, 0, 12, 77, "abcdefghijkl");
    duration(to, *log, 77, 2500);
    release(to, *log, 0x1000);
    log->header().ended = 1;
  }
  const ProcessTrace trace = read();
  ASSERT_EQ(trace.functions.size(), 1u);
  EXPECT_EQ(trace.functions[0].symbol, "_Z5scalePf");
  ASSERT_EQ(trace.functions[0].parameters.size(), 2u);
  EXPECT_EQ(trace.functions[0].parameters[1].offset, 8u);
  ASSERT_EQ(trace.launches.size(), 1u);
  EXPECT_EQ(trace.launches[0].grid[0], 12u);
  EXPECT_EQ(trace.launches[0].arguments.size(), 12u);
  EXPECT_DOUBLE_EQ(trace.launches[0].seconds, 2.5e-6);
  EXPECT_TRUE(trace.ended);
  EXPECT_FALSE(trace.truncated);
  ASSERT_NE(trace.allocationAt(0x10ff, trace.launches[0].sequence), nullptr);
  EXPECT_EQ(trace.allocationAt(0x1100, trace.launches[0].sequence), nullptr);
  EXPECT_EQ(trace.allocationAt(0x1000, 1000), nullptr) << "it was released";
}

TEST_F(LogReaderTest, ThreadsAppendAtTheSameTime) {
  const auto log = create();
  constexpr int kThreads = 4, kEach = 20000;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      Appender to(*log);
      const Payload p = payload();
      for (int i = 0; i < kEach; ++i) {
        p->clear();
        putLaunch(*p, std::uint32_t(t), std::uint32_t(i + 1), std::uint32_t(t * kEach + i),
                  "0123456789");
        to.append(RecordKind::Launch, 0, log->nextSequence(), *p);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  const ProcessTrace trace = read();
  ASSERT_EQ(trace.launches.size(), std::size_t(kThreads * kEach));
  std::vector<std::uint32_t> last(kThreads);
  for (std::size_t i = 0; i < trace.launches.size(); ++i) {
    if (i > 0)
      ASSERT_LT(trace.launches[i - 1].sequence, trace.launches[i].sequence);
    ASSERT_EQ(trace.launches[i].grid[0], last[trace.launches[i].function] + 1)
        << "each thread's launches are in order";
    ++last[trace.launches[i].function];
  }
}

TEST_F(LogReaderTest, AKilledProcessLeavesWhatItAppended) {
  const pid_t child = fork();
  if (child == 0) {
    std::string why;
    const auto log = LogFile::create(file, 1u << 30, why);
    Appender to(*log);
    for (std::uint32_t i = 0; i < 30000; ++i)
      launch(to, *log, 0, i + 1, i, "0123456789012345678901234567890123456789");
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  const ProcessTrace trace = read();
  EXPECT_EQ(trace.launches.size(), 30000u);
  EXPECT_FALSE(trace.ended);
}

TEST_F(LogReaderTest, AFullLogSaysSoAndKeepsWhatItHas) {
  {
    const auto log = create(kHeaderBytes + 2 * kSegmentBytes);
    Appender to(*log);
    const Payload p = payload();
    bool room = true;
    for (std::uint32_t i = 0; i < 60000; ++i) {
      p->clear();
      putLaunch(*p, 0, 1, i);
      room &= to.append(RecordKind::Launch, 0, log->nextSequence(), *p);
    }
    EXPECT_FALSE(room);
  }
  const ProcessTrace trace = read();
  EXPECT_TRUE(trace.full);
  EXPECT_GT(trace.launches.size(), 10000u);
  EXPECT_EQ(trace.launches.size() + trace.lostRecords, 60000u);
}

TEST_F(LogReaderTest, EveryTruncationIsReadUpToIt) {
  {
    const auto log = create();
    Appender to(*log);
    function(to, *log, 0, "k");
    for (std::uint32_t i = 0; i < 20; ++i)
      launch(to, *log, 0, i + 1, i, "abcdefgh");
  }
  const std::string whole = bytes();
  std::size_t most = 0;
  for (std::size_t size = kHeaderBytes; size < kHeaderBytes + 3000; ++size) {
    ProcessTrace trace;
    std::string why;
    ASSERT_TRUE(readLog(std::string_view(whole).substr(0, size), "cut", trace, why)) << why;
    EXPECT_GE(trace.launches.size(), most);
    most = trace.launches.size();
  }
  EXPECT_EQ(most, 20u);
}

TEST_F(LogReaderTest, ErrorsNameTheFileAndTheOffset) {
  {
    const auto log = create();
    Appender to(*log);
    launch(to, *log, 0, 1, 1);
  }
  std::string broken = bytes();
  const std::size_t record = kHeaderBytes + kSegmentHeaderBytes;
  broken[record] = 13; // no multiple of 8
  ProcessTrace trace;
  std::string why;
  EXPECT_FALSE(readLog(broken, "a.klog", trace, why));
  EXPECT_NE(why.find("a.klog: byte " + std::to_string(record)), std::string::npos) << why;

  std::string short_ = bytes();
  short_[record] = 24; // too little for a launch
  EXPECT_FALSE(readLog(short_, "a.klog", trace, why));
  EXPECT_NE(why.find("kind 6"), std::string::npos) << why;

  std::string newer = bytes();
  newer[8] = 9;
  EXPECT_FALSE(readLog(newer, "a.klog", trace, why));
  EXPECT_NE(why.find("version 9"), std::string::npos) << why;
  EXPECT_FALSE(readLog("text", "a.klog", trace, why));
}

TEST_F(LogReaderTest, GraphLaunchesBecomeLaunchesOfTheirNodes) {
  {
    const auto log = create();
    Appender to(*log);
    function(to, *log, 0, "a");
    function(to, *log, 1, "b");
    for (const std::uint32_t id : {0u, 1u}) {
      const Payload p = payload();
      p->put(std::uint64_t(5));        // graph
      p->put(std::uint64_t(100 + id)); // node
      putLaunch(*p, id, 3 + id, 0);
      to.append(RecordKind::GraphNode, 0, log->nextSequence(), *p);
    }
    for (const std::uint32_t correlation : {40u, 41u}) {
      const Payload p = payload();
      p->put(std::uint64_t(5));
      p->put(std::uint64_t(9));
      p->put(std::uint64_t(1));
      p->put(correlation);
      to.append(RecordKind::GraphLaunch, 0, log->nextSequence(), *p);
      duration(to, *log, correlation, 1000 + correlation, 101, 1);
      duration(to, *log, correlation, 2000 + correlation, 100, 0);
    }
  }
  const ProcessTrace trace = read();
  ASSERT_EQ(trace.launches.size(), 4u);
  EXPECT_TRUE(trace.launches[0].fromGraph);
  EXPECT_EQ(trace.launches[0].stream, 9u);
  EXPECT_DOUBLE_EQ(trace.launches[0].seconds, 2040e-9);
  EXPECT_DOUBLE_EQ(trace.launches[1].seconds, 1040e-9);
  EXPECT_DOUBLE_EQ(trace.launches[3].seconds, 1041e-9);
}

TEST_F(LogReaderTest, AllocationsOfOneAddressFollowEachOther) {
  {
    const auto log = create();
    Appender to(*log);
    function(to, *log, 0, "k");
    for (int i = 1; i <= 3; ++i) {
      allocation(to, *log, 0x4000, std::uint64_t(100 * i));
      launch(to, *log, 0, 1, std::uint32_t(i));
      release(to, *log, 0x4000);
    }
    launch(to, *log, 0, 1, 9);
  }
  const ProcessTrace trace = read();
  LiveAllocations live(trace);
  for (std::size_t i = 0; i < 3; ++i) {
    live.advance(trace.launches[i].sequence);
    ASSERT_NE(live.find(0x4000), nullptr);
    EXPECT_EQ(live.find(0x4000)->bytes, 100 * (i + 1));
    EXPECT_EQ(live.find(0x4000), trace.allocationAt(0x4000, trace.launches[i].sequence));
  }
  live.advance(trace.launches[3].sequence);
  EXPECT_EQ(live.find(0x4000), nullptr);
}

TEST_F(LogReaderTest, ADurationOfNothingIsUnknown) {
  {
    const auto log = create();
    Appender to(*log);
    launch(to, *log, 0, 1, 1);
    duration(to, *log, 1, 0);
  }
  const ProcessTrace trace = read();
  ASSERT_EQ(trace.launches.size(), 1u);
  EXPECT_LT(trace.launches[0].seconds, 0);
  EXPECT_NE(trace.functions.at(0).symbol.find("lost"), std::string::npos);
}

} // namespace
