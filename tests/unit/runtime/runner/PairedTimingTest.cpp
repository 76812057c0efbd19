// SPDX-License-Identifier: Apache-2.0
#include "runtime/runner/PairedTiming.h"
#include "fakes/FakeDevice.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>

namespace {

using namespace kopt::runtime;
using kopt::fakes::FakeDevice;

class PairedTimingTest : public testing::Test {
protected:
  PairedTimingTest() {
    for (const char *name : {"a", "b"}) {
      device.add(name, [this, name](const LaunchRequest &request) {
        order += name;
        auto *data = FakeDevice::argument<int *>(request, 0);
        contents.push_back(data[0]);
        data[0] = 77;
        return Status{};
      });
      ModuleProperties module;
      EXPECT_TRUE(device.load(name, "", module).ok());
      LaunchSpec &launch = name[0] == 'a' ? a : b;
      launch.module = module.module;
      BufferSpec buffer;
      buffer.name = "data";
      buffer.bytes = 4096;
      buffer.scalar = "i32";
      buffer.fill = FillKind::Constant;
      buffer.low = 5;
      launch.buffers = {buffer};
      launch.arguments.resize(1);
      launch.arguments[0].value.resize(8);
      launch.arguments[0].pointers = {{0, 0, 0}};
    }
    device.seconds = [this](const std::string &name) { return name == "a" ? timeA : timeB; };
    // A little of the time passes outside of launches.
    clock = [this] { return device.elapsed * 1.25; };
    plan.budgetSeconds = 1;
  }
  void setRole(bool readOnly, bool output) {
    for (LaunchSpec *launch : {&a, &b}) {
      launch->buffers[0].readOnly = readOnly;
      launch->buffers[0].output = output;
    }
  }
  Status time() { return timePairs({device, memory, stages}, a, b, plan, clock, result); }

  FakeDevice device;
  LaunchSpec a, b;
  TimingPlan plan;
  SecondsClock clock;
  SecondsClock wall = [] { return 0.0; };
  HostMemory memory;
  Stages stages{wall};
  TimingResult result;
  double timeA = 1e-3, timeB = 1e-3;
  std::string order;
  std::vector<int> contents;
};

TEST_F(PairedTimingTest, PairsCarryEachModulesTime) {
  timeB = 2e-3;
  ASSERT_TRUE(time().ok());
  ASSERT_GE(result.samples.size(), plan.minSamples);
  for (const auto &[first, second] : result.samples) {
    EXPECT_EQ(first, 1e-3);
    EXPECT_EQ(second, 2e-3);
  }
  EXPECT_TRUE(result.cold);
  EXPECT_EQ(result.batch, 1u);
  EXPECT_EQ(result.smClockMHz, 1980);
}

TEST_F(PairedTimingTest, SaysThatClocksWereHeldDownMeanwhile) {
  device.throttled = {"hw-thermal"};
  ASSERT_TRUE(time().ok());
  EXPECT_TRUE(result.throttled.empty()) << "that was before";
  device.seconds = [this](const std::string &) {
    device.throttled = {"power-brake"};
    return 1e-3;
  };
  ASSERT_TRUE(time().ok());
  EXPECT_EQ(result.throttled, std::vector<std::string>{"power-brake"});
}

TEST_F(PairedTimingTest, TheOrderWithinPairsVaries) {
  ASSERT_TRUE(time().ok());
  const std::string timed = order.substr(order.size() - 2 * result.samples.size());
  std::size_t aFirst = 0;
  for (std::size_t i = 0; i < timed.size(); i += 2) {
    ASSERT_NE(timed[i], timed[i + 1]) << "pair " << i / 2;
    aFirst += timed[i] == 'a';
  }
  EXPECT_GT(aFirst, 0u);
  EXPECT_LT(aFirst, result.samples.size());
}

TEST_F(PairedTimingTest, EveryTimedLaunchFindsTheFirstContents) {
  ASSERT_TRUE(time().ok());
  ASSERT_GT(contents.size(), 20u);
  for (const int value : contents)
    ASSERT_EQ(value, 5); // never the 77 of the launch before
}

TEST_F(PairedTimingTest, ABufferThatStaysAsItWasIsNotRestored) {
  for (const char *name : {"a", "b"})
    device.add(name, [](const LaunchRequest &request) {
      FakeDevice::argument<int *>(request, 0)[0] = 5; // what it was
      return Status{};
    });
  timeA = timeB = 4e-6; // in batches, which need no copy for each launch then
  ASSERT_TRUE(time().ok());
  ASSERT_FALSE(device.batches.empty());
  std::set<Address> copies;
  for (const LaunchRequest &request : device.batches[0])
    copies.insert(FakeDevice::argument<Address>(request, 0));
  EXPECT_EQ(copies.size(), 1u);
}

TEST_F(PairedTimingTest, ABufferThatChangesLaterIsRestoredAfterAll) {
  std::size_t launches = 0;
  std::vector<int> timed;
  for (const char *name : {"a", "b"})
    device.add(name, [&](const LaunchRequest &request) {
      int *data = FakeDevice::argument<int *>(request, 0);
      timed.push_back(data[0]);
      data[0] = ++launches > 20 ? 77 : 5; // not in the first launches
      return Status{};
    });
  ASSERT_TRUE(time().ok());
  ASSERT_GE(result.samples.size(), plan.minSamples);
  for (std::size_t i = timed.size() - 2 * result.samples.size(); i < timed.size(); ++i)
    ASSERT_EQ(timed[i], 5);
  EXPECT_NE(std::find(timed.begin(), timed.end(), 77), timed.end()) << "those pairs do not count";
}

TEST_F(PairedTimingTest, WarmIsWarm) {
  ASSERT_TRUE(time().ok());
  const std::size_t launches = std::exchange(device.launches, 0), pairs = result.samples.size();
  device.coldCalls = 0;
  result = {};
  plan.coldCache = false;
  ASSERT_TRUE(time().ok());
  ASSERT_EQ(result.samples.size(), pairs);
  EXPECT_FALSE(result.cold);
  EXPECT_EQ(device.coldCalls, 0u);
  // Another launch goes before each timed one, except the two whose results are checked.
  EXPECT_EQ(device.launches, launches + 2 * pairs - 2);
}

TEST_F(PairedTimingTest, ATimedWarmLaunchFindsTheFirstContentsToo) {
  plan.coldCache = false;
  std::vector<int> timed;
  device.seconds = [&](const std::string &) {
    timed.push_back(contents.back());
    return 1e-3;
  };
  ASSERT_TRUE(time().ok());
  ASSERT_GT(timed.size(), 20u);
  for (const int value : timed)
    ASSERT_EQ(value, 5);
}

TEST_F(PairedTimingTest, ClearEvidenceEndsEarly) {
  plan.budgetSeconds = 100;
  ASSERT_TRUE(time().ok());
  EXPECT_EQ(result.samples.size(), 30u);
}

TEST_F(PairedTimingTest, NoiseIsSampledToTheBudget) {
  int call = 0;
  device.seconds = [&](const std::string &) { return 1e-3 * (1 + 0.3 * (call++ % 7)); };
  plan.budgetSeconds = 0.5;
  ASSERT_TRUE(time().ok());
  EXPECT_GT(result.samples.size(), 30u);
  EXPECT_LT(result.samples.size(), plan.maxSamples);
}

TEST_F(PairedTimingTest, MinimumComesBeforeBudget) {
  timeA = timeB = 0.2;
  plan.budgetSeconds = 0.1;
  plan.deadlineSeconds = 1000;
  ASSERT_TRUE(time().ok());
  EXPECT_EQ(result.samples.size(), plan.minSamples);
}

TEST_F(PairedTimingTest, DeadlineComesBeforeMinimum) {
  timeA = timeB = 2;
  plan.deadlineSeconds = 40;
  ASSERT_TRUE(time().ok());
  EXPECT_GE(result.samples.size(), 1u);
  EXPECT_LT(result.samples.size(), plan.minSamples);
  EXPECT_LT(device.elapsed * 1.25, 60);
}

TEST_F(PairedTimingTest, ModelledTimesAreTakenOnce) {
  device.info.modelled = true;
  ASSERT_TRUE(time().ok());
  EXPECT_TRUE(result.modelled);
  EXPECT_EQ(result.samples.size(), 1u);
  EXPECT_EQ(result.counters.count("launch__block_size"), 1u)
      << "the second module's, beside its time";
  EXPECT_EQ(device.launches, 3u) << "this device launches to count: others know it from timing";
}

TEST_F(PairedTimingTest, ShortKernelsRunInBatches) {
  setRole(false, true);
  timeA = timeB = 4e-6;
  ASSERT_TRUE(time().ok());
  EXPECT_EQ(result.batch, 62u); // 250 us
  ASSERT_FALSE(device.batches.empty());
  EXPECT_EQ(device.batches[0].size(), 62u);
  EXPECT_FALSE(result.cold); // 4 KiB a copy: L2 would hold them all
  EXPECT_EQ(device.batchesCold, 0u);
  EXPECT_NEAR(result.samples[0].first, 4e-6, 1e-12);
}

TEST_F(PairedTimingTest, AColdBatchRotatesOverMoreThanL2Holds) {
  setRole(true, false);
  for (LaunchSpec *launch : {&a, &b})
    launch->buffers[0].bytes = 256 << 10;
  device.add("a", [](const LaunchRequest &) { return Status{}; });
  device.add("b", [](const LaunchRequest &) { return Status{}; });
  timeA = timeB = 4e-6;
  ASSERT_TRUE(time().ok());
  EXPECT_TRUE(result.cold);
  std::set<Address> copies;
  for (const LaunchRequest &request : device.batches[0])
    copies.insert(FakeDevice::argument<Address>(request, 0));
  EXPECT_GE(copies.size() * (256 << 10), 2 * device.info.l2Bytes);
  EXPECT_EQ(device.batchesCold, device.batches.size());
}

TEST_F(PairedTimingTest, AnInPlaceBatchHasACopyForEachLaunch) {
  timeA = timeB = 20e-6 / 4;
  ASSERT_TRUE(time().ok());
  ASSERT_FALSE(device.batches.empty());
  std::set<Address> copies;
  for (const LaunchRequest &request : device.batches[0])
    copies.insert(FakeDevice::argument<Address>(request, 0));
  EXPECT_EQ(copies.size(), device.batches[0].size());
  for (const int value : contents)
    ASSERT_EQ(value, 5);
}

TEST_F(PairedTimingTest, TheHostWritesOneOfTheCopiesOfABatch) {
  constexpr std::uint64_t kBytes = 2u << 20;
  device.hasMemoryKernels = true;
  device.info.memoryBytes = std::uint64_t(4) << 30;
  for (LaunchSpec *launch : {&a, &b})
    launch->buffers[0].bytes = kBytes;
  timeA = timeB = 9e-6;
  ASSERT_TRUE(time().ok());
  ASSERT_GE(device.batches.at(0).size(), 20u);
  for (const int value : contents)
    ASSERT_EQ(value, 5);
  // One for single launches, one for the batch, and one for each module's sample that is checked;
  // guard zones.
  EXPECT_LT(device.bytesWritten, 4 * kBytes + 40 * (128u << 10));
  device.add("b", [](const LaunchRequest &request) {
    FakeDevice::argument<int *>(request, 0)[-1] = 7;
    return Status{};
  });
  EXPECT_EQ(time().code, StatusCode::GuardTouched);
}

TEST_F(PairedTimingTest, EqualBuffersAreShared) {
  std::set<Address> addresses;
  for (const char *name : {"a", "b"})
    device.add(name, [&](const LaunchRequest &request) {
      addresses.insert(FakeDevice::argument<Address>(request, 0));
      return Status{};
    });
  ASSERT_TRUE(time().ok());
  EXPECT_EQ(addresses.size(), 1u);
}

TEST_F(PairedTimingTest, AKernelThatOnlyMisbehavesLaterIsFound) {
  int launches = 0;
  device.add("b", [&](const LaunchRequest &request) {
    if (++launches == 40)
      FakeDevice::argument<int *>(request, 0)[1024] = 1; // past the end
    return Status{};
  });
  plan.minSamples = 60;
  const Status status = time();
  EXPECT_EQ(status.code, StatusCode::GuardTouched);
}

TEST_F(PairedTimingTest, AFaultNamesItsModule) {
  device.add("b",
             [](const LaunchRequest &) { return Status{StatusCode::Fault, "illegal address"}; });
  const Status status = time();
  EXPECT_EQ(status.code, StatusCode::Fault);
  EXPECT_EQ(status.detail, "second module: illegal address");
}

TEST_F(PairedTimingTest, NoTimeIsNoSample) {
  timeB = 0;
  EXPECT_EQ(time().code, StatusCode::DeviceError);
  EXPECT_TRUE(result.samples.empty());
}

TEST_F(PairedTimingTest, TimedOutputsAreKept) {
  char pattern[] = "/tmp/kopt-timing-XXXXXX";
  const std::string folder = mkdtemp(pattern);
  plan.outputsA = {folder + "/a"};
  plan.outputsB = {folder + "/b"};
  ASSERT_TRUE(time().ok());
  for (const char *file : {"/a", "/b"}) {
    std::ifstream stream(folder + file, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
    ASSERT_EQ(bytes.size(), 4096u);
    EXPECT_EQ(bytes[0], 77); // what the kernels write
    EXPECT_EQ(bytes[4], 5);  // what the buffer began with
  }
  std::filesystem::remove_all(folder);
}

// A launch that reaches the copy from which in-place buffers are restored would choose the later
// launches' inputs.
TEST_F(PairedTimingTest, TheCopyForRestoringIsCheckedToo) {
  std::vector<Address> copies;
  device.allocated = [&](Address address, std::size_t bytes) {
    if (bytes == 4096) // the buffer itself has guard zones around it
      copies.push_back(address);
  };
  device.add("b", [&](const LaunchRequest &) {
    reinterpret_cast<int *>(copies.at(0))[3] = 1;
    return Status{};
  });
  const Status status = time();
  EXPECT_EQ(status.code, StatusCode::InputChanged);
  EXPECT_NE(status.detail.find("the copy kopt keeps of data: element 3"), std::string::npos)
      << status.detail;
}

TEST_F(PairedTimingTest, InputsAreDrawnOnceForAllRequests) {
  setRole(true, false);
  for (const char *name : {"a", "b"})
    device.add(name, [](const LaunchRequest &) { return Status{}; });
  ASSERT_TRUE(time().ok());
  ASSERT_TRUE(time().ok());
  EXPECT_EQ(memory.drawn(), 1u);
  plan.inputSeed = 2;
  ASSERT_TRUE(time().ok());
  EXPECT_EQ(memory.drawn(), 2u);
}

TEST(IsTight, WantsPairsAndAgreement) {
  std::vector<std::pair<double, double>> samples(29, {1.0, 1.0});
  EXPECT_FALSE(isTight(samples));
  samples.push_back({1.0, 1.0});
  EXPECT_TRUE(isTight(samples));
  for (std::size_t i = 0; i < samples.size(); ++i)
    samples[i].second = 1 + 0.01 * double(i % 5); // up to 4 % apart around 2 %
  EXPECT_FALSE(isTight(samples));
  for (auto &[first, second] : samples)
    first *= 2; // the same noise around a factor of two is clear
  EXPECT_TRUE(isTight(samples));
}

TEST(IsTight, NeedsFewPairsOfALaunchThatIsMuchSlower) {
  std::vector<std::pair<double, double>> samples(10, {1.0, 1.5});
  EXPECT_TRUE(isTight(samples));
  samples[3].second = 1.05;
  EXPECT_FALSE(isTight(samples));
  EXPECT_FALSE(isTight(std::vector<std::pair<double, double>>(9, {1.0, 1.5})));
  EXPECT_FALSE(isTight(std::vector<std::pair<double, double>>(10, {1.5, 1.0})))
      << "a gain is claimed from more";
}

} // namespace
