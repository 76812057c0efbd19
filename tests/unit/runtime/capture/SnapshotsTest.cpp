// SPDX-License-Identifier: Apache-2.0
#include "runtime/capture/Snapshots.h"
#include "runtime/trace/Contents.h"
#include "unit/runtime/trace/TraceFile.h"

namespace {

using namespace kopt::runtime;
using namespace kopt::runtime::capture;
using trace::AllocationKind;

class HostMemoryOfTest final : public DeviceMemory {
public:
  bool wait(const LaunchFacts &, double, std::string &why) override {
    ++waits;
    why = "the stream never ends";
    return !hangs;
  }
  bool read(std::uint64_t address, std::size_t bytes, std::byte *to, std::string &why) override {
    if (address == unreadable) {
      why = "not readable";
      return false;
    }
    std::memcpy(to, reinterpret_cast<const void *>(address), bytes);
    return true;
  }
  std::vector<LiveAllocation> variables(const void *, const KernelEntry &) override {
    return known;
  }
  std::uint32_t stackBytes() override { return 4096; }
  std::vector<LiveAllocation> known;
  std::uint64_t unreadable = 0;
  bool hangs = false;
  int waits = 0;
};

class SnapshotsTest : public kopt::test::TraceFolder {
protected:
  void SetUp() override {
    TraceFolder::SetUp();
    config.trace = folder.string();
    log = create();
    recorder = std::make_unique<Recorder>(*log, config);
    snapshots = std::make_unique<Snapshots>(*recorder, memory);
    kernel.symbol = "k";
    kernel.layoutKnown = true;
  }
  template <class T>
  std::uint64_t live(std::vector<T> &data, AllocationKind kind = AllocationKind::Device) {
    const auto base = reinterpret_cast<std::uint64_t>(data.data());
    recorder->allocated({base, data.size() * sizeof(T), kind, {}});
    return base;
  }
  bool before(std::vector<std::uint64_t> words) {
    return snapshots->before(42, nullptr, kernel, {},
                             reinterpret_cast<const std::byte *>(words.data()), words.size() * 8);
  }
  std::vector<float> contents(const trace::SnapshotItem &item) {
    std::string why;
    const auto stored =
        trace::ContentsFile::open((folder / trace::contentsPath(item.hash)).string(), why);
    EXPECT_TRUE(stored) << why;
    std::vector<float> values(item.bytes / 4);
    if (stored)
      EXPECT_TRUE(stored->read(0, item.bytes, reinterpret_cast<std::byte *>(values.data()), why))
          << why;
    return values;
  }

  Config config;
  std::unique_ptr<trace::LogFile> log;
  std::unique_ptr<Recorder> recorder;
  HostMemoryOfTest memory;
  std::unique_ptr<Snapshots> snapshots;
  KernelEntry kernel;
};

TEST_F(SnapshotsTest, ReachableMemoryBeforeAndAfter) {
  std::vector<float> data(100, 1), other(50, 2), constants(4, 3);
  const std::uint64_t base = live(data);
  live(other);
  memory.known = {
      {reinterpret_cast<std::uint64_t>(constants.data()), 16, AllocationKind::Symbol, "coef"}};
  // The same allocation twice, an address in its middle, an integer that is no address.
  ASSERT_TRUE(before({base + 40, base, 12345}));
  data[7] = 9;
  snapshots->after({});
  const trace::Snapshot snapshot = read().snapshots.at(42);
  ASSERT_EQ(snapshot.before.size(), 2u) << "the allocation nobody points to is not there";
  EXPECT_EQ(snapshot.before[0].base, base);
  EXPECT_EQ(snapshot.before[0].bytes, 400u);
  EXPECT_EQ(snapshot.before[1].name, "coef");
  EXPECT_EQ(contents(snapshot.before[0])[7], 1);
  EXPECT_EQ(contents(snapshot.after[0])[7], 9);
  EXPECT_EQ(snapshot.before[1].hash, snapshot.after[1].hash);
  EXPECT_EQ(memory.waits, 2);
  EXPECT_EQ(snapshot.stackBytes, 4096u);
}

TEST_F(SnapshotsTest, AVariableWhosePlaceIsNotKnownIsSaid) {
  memory.known = {{0, 0, AllocationKind::Symbol, "coef"}, {0, 0, AllocationKind::Symbol, "other"}};
  ASSERT_TRUE(before({}));
  snapshots->after({});
  const trace::Snapshot snapshot = read().snapshots.at(42);
  ASSERT_EQ(snapshot.before.size(), 2u);
  EXPECT_FALSE(snapshot.before[0].stored);
  EXPECT_NE(snapshot.before[0].reason.find("coef"), std::string::npos);
}

TEST_F(SnapshotsTest, PointersWithinBuffersAreFollowedAsDeepAsAsked) {
  std::vector<float> leaf(8, 5);
  std::vector<std::uint64_t> rows{live(leaf) + 4, 7};
  std::vector<std::uint64_t> table{live(rows)};
  const std::uint64_t top = live(table);
  ASSERT_TRUE(before({top}));
  snapshots->after({});
  const trace::Snapshot shallow = read().snapshots.at(42);
  ASSERT_EQ(shallow.before.size(), 2u);
  EXPECT_EQ(shallow.before[1].depth, 1);
  config.depth = 2;
  ASSERT_TRUE(before({top}));
  snapshots->after({});
  const trace::Snapshot both = read().snapshots.at(42);
  ASSERT_EQ(both.before.size(), 5u); // the first one's two, and three
  EXPECT_EQ(both.before[4].depth, 2);
  EXPECT_EQ(contents(both.before[4])[0], 5);
}

TEST_F(SnapshotsTest, TheCapLeavesBuffersOutAndSaysSo) {
  config.maxSnapshotBytes = 500;
  std::vector<float> a(100, 1), b(100, 2);
  ASSERT_TRUE(before({live(a), live(b)}));
  a[0] = 2;
  snapshots->after({});
  const trace::ProcessTrace trace = read();
  const trace::Snapshot &snapshot = trace.snapshots.at(42);
  EXPECT_TRUE(snapshot.before[0].stored);
  EXPECT_FALSE(snapshot.before[1].stored);
  EXPECT_NE(snapshot.before[1].reason.find("limit of 500 bytes"), std::string::npos);
  ASSERT_EQ(trace.notes.size(), 1u) << "said once";
  EXPECT_NE(trace.notes[0].find("limit of 500 bytes"), std::string::npos);
}

TEST_F(SnapshotsTest, WhatCannotBeReadOrWaitedForSaysWhy) {
  std::vector<float> a(100, 1);
  memory.unreadable = live(a);
  ASSERT_TRUE(before({memory.unreadable}));
  snapshots->after({});
  EXPECT_EQ(read().snapshots.at(42).before[0].reason, "not readable");
  memory.hangs = true;
  EXPECT_FALSE(before({memory.unreadable}));
  EXPECT_NE(read().notSnapshotted.at(42).find("never ends"), std::string::npos);
  memory.hangs = false;
  kernel.layoutKnown = false;
  EXPECT_FALSE(before({}));
  EXPECT_NE(read().notSnapshotted.at(42).find("parameters of k"), std::string::npos);
  kernel.layoutKnown = true;
  ASSERT_TRUE(before({}));
  snapshots->abandon();
  EXPECT_NE(read().notSnapshotted.at(42).find("failed"), std::string::npos);
}

} // namespace
