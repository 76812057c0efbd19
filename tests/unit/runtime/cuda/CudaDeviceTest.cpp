// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/CudaDevice.h"
#include "unit/runtime/cuda/FakeDriver.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

namespace {

using namespace kopt::runtime;
using Calls = std::vector<std::string>;

class CudaDeviceTest : public testing::Test {
protected:
  CudaDeviceTest() {
    fakeDriver() = {};
    std::string why;
    device = openCudaDevice(0, why);
    EXPECT_TRUE(device) << why;
    char pattern[] = "/tmp/kopt-cuda-XXXXXX";
    folder = mkdtemp(pattern);
  }
  ~CudaDeviceTest() override { std::filesystem::remove_all(folder); }

  std::string cubin(const std::string &kernels) {
    std::ofstream file(folder + "/module", std::ios::binary);
    std::string head("\x7f"
                     "ELF");
    head.resize(64, ' ');
    file << head << kernels << '\0';
    return folder + "/module";
  }
  LaunchRequest request(const std::string &kernel = "scale") {
    ModuleProperties module;
    EXPECT_TRUE(device->load(cubin("scale\nother\n"), kernel, module).ok());
    LaunchRequest out;
    out.module = module.module;
    out.block = {256, 1, 1};
    out.arguments = {std::vector<std::byte>(8), std::vector<std::byte>(4)};
    return out;
  }

  std::unique_ptr<Device> device;
  std::string folder;
};

TEST(OpenCudaDevice, SaysWhatIsMissing) {
  fakeDriver() = {};
  std::string why;
  EXPECT_FALSE(openCudaDevice(1, why));
  EXPECT_NE(why.find("no CUDA device 1"), why.npos);
  fakeDriver().initResult = 803;
  EXPECT_FALSE(openCudaDevice(0, why));
  EXPECT_EQ(why, "cuInit failed: CUDA_ERROR_OTHER (803): words");
  fakeDriver() = {};
}

TEST_F(CudaDeviceTest, DescribesTheDevice) {
  const DeviceProperties &properties = device->properties();
  EXPECT_EQ(properties.kind, "cuda");
  EXPECT_EQ(properties.name, "NVIDIA Fake");
  EXPECT_EQ(properties.arch, "sm_90");
  EXPECT_EQ(properties.driver, "CUDA 13.0");
  EXPECT_EQ(properties.uuid, "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f");
  EXPECT_EQ(properties.l2Bytes, 100u << 20);
  EXPECT_FALSE(properties.modelled);
}

TEST_F(CudaDeviceTest, ReleasedMemoryIsKeptForTheNextAllocation) {
  Address first = 0, second = 0;
  ASSERT_TRUE(device->allocate(3'000'000, first).ok());
  ASSERT_TRUE(device->release(first).ok());
  EXPECT_EQ(fakeDriver().calls, Calls{"memset 4194304"}) << "nothing is left in it";
  ASSERT_TRUE(device->allocate(3'500'000, second).ok());
  EXPECT_EQ(second, first);
  EXPECT_FALSE(device->release(first + 4).ok());
}

TEST_F(CudaDeviceTest, KeptMemoryIsFreedWhereItIsWanted) {
  Address first = 0, second = 0;
  ASSERT_TRUE(device->allocate(64 << 20, first).ok());
  ASSERT_TRUE(device->release(first).ok());
  EXPECT_EQ(fakeDriver().frees, 0);
  fakeDriver().largestAllocation = 1 << 20;
  EXPECT_EQ(device->allocate(2 << 20, second).code, StatusCode::NoMemory);
  EXPECT_EQ(fakeDriver().frees, 1);
}

TEST(FreedMemory, GivesTheSmallestBlockThatIsNotFarTooLarge) {
  using cuda::FreedMemory;
  EXPECT_EQ(FreedMemory::rounded(1), FreedMemory::rounded(200'000));
  EXPECT_GE(FreedMemory::rounded(5'000'001), 5'000'001u);
  FreedMemory freed;
  for (const FreedMemory::Block block : {FreedMemory::Block{1, 100}, {2, 400}, {3, 100}, {4, 1000}})
    freed.keep(block);
  EXPECT_EQ(freed.take(60)->address, 1u);
  EXPECT_EQ(freed.take(60)->address, 3u);
  EXPECT_FALSE(freed.take(60)) << "400 bytes are too many";
  EXPECT_EQ(freed.take(300)->address, 2u);
  EXPECT_FALSE(freed.take(2000));
  freed.keep({5, 10});
  const auto out = freed.reduce(10);
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].address, 4u);
  EXPECT_TRUE(freed.take(10));
}

TEST_F(CudaDeviceTest, FindsVariablesOfTheModule) {
  fakeDriver().variables["_ZN2ns4coefE"] = std::string(64, '\1');
  ModuleProperties module;
  ASSERT_TRUE(device->load(cubin("one\n"), "", module).ok());
  Address at = 0;
  std::size_t bytes = 0;
  ASSERT_TRUE(device->variable(module.module, "_ZN2ns4coefE", at, bytes).ok());
  EXPECT_EQ(bytes, 64u);
  EXPECT_NE(at, 0u);
  const Status absent = device->variable(module.module, "coef", at, bytes);
  EXPECT_EQ(absent.code, StatusCode::LaunchFailed);
  EXPECT_NE(absent.detail.find("coef"), std::string::npos);
  EXPECT_TRUE(device->usable());
  EXPECT_EQ(device->variable(99, "coef", at, bytes).code, StatusCode::DeviceError);
}

TEST_F(CudaDeviceTest, FindsTheKernel) {
  ModuleProperties module;
  EXPECT_TRUE(device->load(cubin("one\n"), "", module).ok());
  EXPECT_EQ(module.symbol, "one");
  EXPECT_EQ(module.registers, 40u);
  EXPECT_EQ(module.sharedBytes, 1024u);
  EXPECT_EQ(device->load(cubin("one\ntwo\n"), "", module).code, StatusCode::LaunchFailed);
  EXPECT_EQ(device->load(cubin("one\n"), "two", module).code, StatusCode::LaunchFailed);
  EXPECT_EQ(device->load(folder + "/absent", "", module).code, StatusCode::DeviceError);
  std::ofstream(folder + "/text") << "this is no cubin";
  EXPECT_EQ(device->load(folder + "/text", "", module).code, StatusCode::LaunchFailed);
  fakeDriver().moduleLoadResult = 209;
  EXPECT_EQ(device->load(cubin("one\n"), "", module).code, StatusCode::LaunchFailed);
  EXPECT_TRUE(device->usable());
}

TEST_F(CudaDeviceTest, LaunchesWithItsArguments) {
  LaunchRequest launch = request();
  std::uint32_t count = 0;
  fakeDriver().kernel = [&](const std::string &, void **arguments) {
    std::memcpy(&count, arguments[1], 4);
  };
  const std::uint32_t sent = 12345;
  std::memcpy(launch.arguments[1].data(), &sent, 4);
  EXPECT_TRUE(device->launch(launch).ok());
  EXPECT_EQ(count, 12345u);
}

TEST_F(CudaDeviceTest, CooperativeLaunchesSaySoToTheDriver) {
  LaunchRequest launch = request();
  launch.cooperative = true;
  fakeDriver().calls.clear();
  EXPECT_TRUE(device->launch(launch).ok());
  EXPECT_TRUE(
      std::any_of(fakeDriver().calls.begin(), fakeDriver().calls.end(),
                  [](const std::string &call) { return call.starts_with("cooperative launch"); }));
  fakeDriver().nextLaunchResult = 720; // more blocks than fit
  EXPECT_EQ(device->launch(launch).code, StatusCode::LaunchFailed);
  EXPECT_TRUE(device->usable());
}

TEST_F(CudaDeviceTest, StacksAreAsDeepAsTheLaunchHadThem) {
  LaunchRequest usual = request(), deep = usual;
  deep.stackBytes = 8192;
  const auto limitsSet = [&](const LaunchRequest &launch) {
    fakeDriver().calls.clear();
    EXPECT_TRUE(device->launch(launch).ok());
    Calls set;
    for (const std::string &call : fakeDriver().calls)
      if (call.starts_with("stack"))
        set.push_back(call);
    return set;
  };
  EXPECT_EQ(limitsSet(usual), Calls{})
      << "what is so already is not set: it moves all local memory";
  EXPECT_EQ(limitsSet(deep), Calls{"stack 8192"});
  EXPECT_EQ(limitsSet(deep), Calls{});
  EXPECT_EQ(limitsSet(usual), Calls{"stack 1024"});
  deep.stackBytes = 1 << 20;
  const Status refused = device->launch(deep);
  EXPECT_EQ(refused.code, StatusCode::LaunchFailed);
  EXPECT_NE(refused.detail.find("1048576 bytes"), std::string::npos);
  EXPECT_TRUE(device->usable());
  EXPECT_EQ(limitsSet(usual), Calls{});
}

TEST_F(CudaDeviceTest, ArgumentsThatDoNotFitAreRefusedBeforeTheDriverReadsThem) {
  LaunchRequest launch = request();
  launch.arguments.pop_back();
  EXPECT_EQ(device->launch(launch).code, StatusCode::LaunchFailed);
  launch.arguments.push_back(std::vector<std::byte>(8));
  const Status status = device->launch(launch);
  EXPECT_EQ(status.code, StatusCode::LaunchFailed);
  EXPECT_NE(status.detail.find("parameter 1 has 4 bytes"), std::string::npos);
  EXPECT_EQ(fakeDriver().calls, Calls{});
}

TEST_F(CudaDeviceTest, LargeSharedMemoryIsOptedInto) {
  LaunchRequest launch = request();
  launch.sharedBytes = 40 * 1024;
  EXPECT_TRUE(device->launch(launch).ok());
  EXPECT_EQ(fakeDriver().dynamicSharedSet, 0);
  launch.sharedBytes = 100 * 1024;
  EXPECT_TRUE(device->launch(launch).ok());
  EXPECT_EQ(fakeDriver().dynamicSharedSet, 100 * 1024);
  launch.sharedBytes = 300 * 1024;
  EXPECT_EQ(device->launch(launch).code, StatusCode::LaunchFailed);
  EXPECT_TRUE(device->usable());
}

TEST_F(CudaDeviceTest, RefusalsAreNotFaults) {
  const LaunchRequest launch = request();
  for (const int result : {1, 701, 720, 2}) {
    fakeDriver().nextLaunchResult = result;
    EXPECT_EQ(device->launch(launch).code, StatusCode::LaunchFailed) << result;
    EXPECT_TRUE(device->usable());
  }
  EXPECT_TRUE(device->launch(launch).ok());
}

TEST_F(CudaDeviceTest, FaultsEndTheDevice) {
  const LaunchRequest launch = request();
  fakeDriver().nextSyncResult = 700;
  const Status status = device->launch(launch);
  EXPECT_EQ(status.code, StatusCode::Fault);
  EXPECT_EQ(status.detail, "the kernel failed: CUDA_ERROR_ILLEGAL_ADDRESS (700): words");
  EXPECT_FALSE(device->usable());
  device.reset();
  EXPECT_EQ(fakeDriver().contextsReleased, 0); // there is nothing left to release
}

TEST_F(CudaDeviceTest, EveryKindOfFaultIsTheCandidates) {
  const LaunchRequest launch = request();
  for (const int result : {710, 714, 715, 716, 717, 718, 719}) {
    fakeDriver().nextSyncResult = result;
    EXPECT_EQ(device->launch(launch).code, StatusCode::Fault) << result;
  }
  fakeDriver().nextSyncResult = 702;
  EXPECT_EQ(device->launch(launch).code, StatusCode::TimedOut);
  fakeDriver().nextSyncResult = 214; // uncorrectable ECC error
  EXPECT_EQ(device->launch(launch).code, StatusCode::DeviceError);
}

TEST_F(CudaDeviceTest, LackOfMemoryIsTheMachinesAndPasses) {
  Address address = 0;
  EXPECT_EQ(device->allocate(1ull << 33, address).code, StatusCode::NoMemory);
  EXPECT_TRUE(device->usable());
}

TEST_F(CudaDeviceTest, OnlyTheLaunchIsBetweenTheEvents) {
  const LaunchRequest launch = request();
  double seconds = 0;
  ASSERT_TRUE(device->time(launch, true, seconds).ok()); // finds what the events cost
  fakeDriver().calls.clear();
  ASSERT_TRUE(device->time(launch, true, seconds).ok());
  EXPECT_FLOAT_EQ(float(seconds), 0.5e-3f);
  EXPECT_EQ(fakeDriver().calls, (Calls{"memset " + std::to_string(200 << 20), "record",
                                       "launch scale", "record", "sync"}));
  fakeDriver().calls.clear();
  ASSERT_TRUE(device->time(launch, false, seconds).ok());
  EXPECT_EQ(fakeDriver().calls,
            (Calls{"launch kopt_wait", "record", "launch scale", "record", "sync"}));
}

TEST_F(CudaDeviceTest, WhatEventsCostIsTakenOff) {
  fakeDriver().milliseconds = [](const std::string &enclosed) {
    return enclosed == "graph 20"           ? 0.004f + 20 * 0.001f
           : enclosed == "launch kopt_wait" ? 0.005f
           : enclosed == "launch scale"     ? 0.034f
                                            : 0.254f;
  };
  const LaunchRequest launch = request();
  double seconds = 0;
  ASSERT_TRUE(device->time(launch, true, seconds).ok());
  EXPECT_NEAR(seconds, 30e-6, 1e-9);
  ASSERT_TRUE(device->timeBatch(std::vector<LaunchRequest>(50, launch), false, seconds).ok());
  EXPECT_NEAR(seconds, 5e-6, 1e-9);
}

TEST_F(CudaDeviceTest, ABatchIsOneGraph) {
  const LaunchRequest launch = request();
  double seconds = 0;
  ASSERT_TRUE(device->timeBatch({launch}, false, seconds).ok()); // finds what the events cost
  fakeDriver().calls.clear();
  ASSERT_TRUE(device->timeBatch(std::vector<LaunchRequest>(50, launch), false, seconds).ok());
  EXPECT_FLOAT_EQ(float(seconds), 0.5e-3f / 50);
  EXPECT_EQ(fakeDriver().calls,
            (Calls{"launch kopt_wait", "record", "graph 50", "record", "sync"}));
  fakeDriver().nextLaunchResult = 701;
  EXPECT_EQ(device->timeBatch({launch}, false, seconds).code, StatusCode::LaunchFailed);
  EXPECT_EQ(device->timeBatch({}, false, seconds).code, StatusCode::LaunchFailed);
  EXPECT_TRUE(device->timeBatch({launch}, false, seconds).ok());
}

// A launch takes 0.5 ms here.
TEST_F(CudaDeviceTest, MeasuresWhatItReaches) {
  std::map<std::string, std::uint32_t> rounds, steps;
  fakeDriver().kernel = [&](const std::string &kernel, void **arguments) {
    const bool streams = kernel == "kopt_rate_read" || kernel == "kopt_rate_copy";
    if (kernel != "kopt_wait")
      std::memcpy(&rounds[kernel], arguments[streams ? 3 : 1], 4);
    if (streams)
      std::memcpy(&steps[kernel], arguments[2], 4);
  };
  MeasuredRates rates;
  const Status status = device->measureRates(rates);
  ASSERT_TRUE(status.ok()) << status.detail;
  EXPECT_EQ(rates.missing, "");
  // 8 blocks of 256 threads on each of 132 multiprocessors, 256 instructions of each a round.
  const double threads = 8 * 132 * 256;
  EXPECT_EQ(rounds["kopt_rate_fp32"], 16u) << "as many as take 2 ms";
  EXPECT_FLOAT_EQ(float(rates.fp32), float(2 * threads * 256 * 16 / 0.5e-3));
  EXPECT_FLOAT_EQ(float(rates.fp64), float(rates.fp32)); // all launches take as long here
  EXPECT_FLOAT_EQ(float(rates.instructions), float(threads / 32 * 256 * 16 / 0.5e-3));
  // Four times the L2 cache at most, in pieces of four accesses of 16 bytes of each thread.
  const std::size_t piece = std::size_t(threads) * 64;
  EXPECT_EQ(steps["kopt_rate_copy"], (200u << 20) / piece);
  EXPECT_EQ(steps["kopt_rate_read"], 2 * steps["kopt_rate_copy"]);
  EXPECT_FLOAT_EQ(float(rates.dramBytes),
                  float(double(steps["kopt_rate_read"]) * double(piece) * 4 / 0.5e-3));
  EXPECT_GE(
      std::count(fakeDriver().calls.begin(), fakeDriver().calls.end(), "launch kopt_rate_fp32"), 40)
      << "20 ms, until the clocks have risen";
  EXPECT_LT(fakeDriver().calls.size(), 500u);
  Address address = 0;
  EXPECT_TRUE(device->allocate(16, address).ok());
  EXPECT_TRUE(device->release(address).ok());
}

TEST_F(CudaDeviceTest, RatesThatCannotBeMeasuredAreMissingWithTheReason) {
  fakeDriver().largestAllocation = 100 << 20;
  MeasuredRates rates;
  ASSERT_TRUE(device->measureRates(rates).ok());
  EXPECT_GT(rates.fp32, 0);
  EXPECT_EQ(rates.dramBytes, 0);
  EXPECT_NE(rates.missing.find("bandwidth of the DRAM"), std::string::npos) << rates.missing;
  fakeDriver().moduleLoadResult = 222; // PTX of a version that the driver does not know
  ASSERT_TRUE(device->measureRates(rates).ok());
  EXPECT_EQ(rates.fp32, 0);
  EXPECT_NE(rates.missing.find("(222)"), std::string::npos) << rates.missing;
  EXPECT_TRUE(device->usable());
}

TEST_F(CudaDeviceTest, AFaultWhileRatesAreMeasuredEndsTheDevice) {
  fakeDriver().nextSyncResult = 700;
  MeasuredRates rates;
  EXPECT_EQ(device->measureRates(rates).code, StatusCode::Fault);
  EXPECT_FALSE(device->usable());
}

TEST_F(CudaDeviceTest, FactsOfALaunch) {
  LaunchRequest launch = request();
  launch.grid = {1056, 1, 1};
  launch.sharedBytes = 512;
  Counters counters;
  ASSERT_TRUE(device->profile(launch, counters).ok());
  EXPECT_EQ(counters.at("launch__registers_per_thread"), 40);
  EXPECT_EQ(counters.at("launch__block_size"), 256);
  EXPECT_EQ(counters.at("launch__shared_mem_per_block_dynamic"), 512);
  EXPECT_DOUBLE_EQ(counters.at("launch__waves_per_multiprocessor"), 2);
  EXPECT_DOUBLE_EQ(counters.at("sm__maximum_warps_per_active_cycle_pct"), 50);
  // 8 warps of 40 registers each, and 1024 static, 512 dynamic, 1024 reserved bytes of shared
  // memory.
  EXPECT_EQ(counters.at("launch__occupancy_limit_blocks"), 32);
  EXPECT_EQ(counters.at("launch__occupancy_limit_warps"), 8);
  EXPECT_EQ(counters.at("launch__occupancy_limit_registers"), 6);
  EXPECT_EQ(counters.at("launch__occupancy_limit_shared_mem"), 91);
  launch.block = {2048, 1, 1};
  EXPECT_EQ(device->profile(launch, counters).code, StatusCode::LaunchFailed);
}

TEST_F(CudaDeviceTest, CopiesStayInOrderWithLaunches) {
  Address a = 0, b = 0;
  ASSERT_TRUE(device->allocate(16, a).ok());
  ASSERT_TRUE(device->allocate(16, b).ok());
  const char text[16] = "fifteen letters";
  char back[16] = "";
  ASSERT_TRUE(device->write(a, text, 16).ok());
  ASSERT_TRUE(device->copy(b, a, 16).ok());
  ASSERT_TRUE(device->read(back, b, 16).ok());
  EXPECT_STREQ(back, text);
  EXPECT_EQ(fakeDriver().calls, Calls{"copy"});
  EXPECT_TRUE(device->release(a).ok());
  EXPECT_TRUE(device->release(b).ok());
}

std::size_t count(const std::string &prefix) {
  std::size_t found = 0;
  for (const std::string &call : fakeDriver().calls)
    found += call.rfind(prefix, 0) == 0;
  return found;
}

TEST_F(CudaDeviceTest, LargeCopiesGoThroughPageLockedPieces) {
  constexpr std::size_t kBytes =
      (70u << 20) + 12; // more pieces than there are stages, the last one short
  std::vector<unsigned char> text(kBytes), back(kBytes);
  for (std::size_t i = 0; i < kBytes; ++i)
    text[i] = static_cast<unsigned char>(i * 2654435761u >> 13);
  for (const std::size_t pageLocked : {std::size_t(1) << 30, std::size_t(20) << 20}) {
    SCOPED_TRACE(pageLocked);
    device.reset();
    fakeDriver() = {};
    fakeDriver().pageLockedLeft = pageLocked;
    std::string why;
    device = openCudaDevice(0, why);
    Address address = 0;
    ASSERT_TRUE(device->allocate(kBytes, address).ok());
    ASSERT_TRUE(device->write(address, text.data(), kBytes).ok());
    std::fill(back.begin(), back.end(), 0);
    ASSERT_TRUE(device->read(back.data(), address, kBytes).ok());
    EXPECT_TRUE(back == text);
    // Where there is not enough page-locked memory the driver copies by itself.
    const std::size_t pieces = pageLocked == std::size_t(1) << 30 ? 9 : 0;
    EXPECT_EQ(count("write "), pieces);
    EXPECT_EQ(count("read "), pieces);
    EXPECT_TRUE(device->release(address).ok());
  }
}

TEST_F(CudaDeviceTest, WhatWasReadIsOutOfReachOfTheNextLaunch) {
  const LaunchRequest launch = request();
  constexpr std::size_t kBytes = 20u << 20;
  std::vector<char> results(kBytes, 'r');
  Address address = 0;
  ASSERT_TRUE(device->allocate(kBytes, address).ok());
  ASSERT_TRUE(device->write(address, results.data(), kBytes).ok());
  ASSERT_TRUE(device->read(results.data(), address, kBytes).ok());
  bool seen = false;
  const auto search = [&](const std::string &, void **) {
    for (const auto &[memory, bytes] : fakeDriver().pageLocked)
      seen |= std::memchr(memory, 'r', bytes) != nullptr;
  };
  search("", nullptr);
  EXPECT_TRUE(seen); // the search finds it before
  seen = false;
  fakeDriver().kernel = search;
  ASSERT_TRUE(device->launch(launch).ok());
  EXPECT_FALSE(seen);
  EXPECT_TRUE(device->release(address).ok());
}

TEST_F(CudaDeviceTest, WhatIsWrittenMeanwhileIsNotWiped) {
  constexpr std::size_t kLong = 20u << 20, kShort = (1u << 20) + 32768;
  std::vector<char> results(kLong, 'r'), input(kShort, 'i'), back(kShort);
  Address longer = 0, shorter = 0;
  ASSERT_TRUE(device->allocate(kLong, longer).ok());
  ASSERT_TRUE(device->allocate(kShort, shorter).ok());
  ASSERT_TRUE(device->read(results.data(), longer, kLong).ok());
  ASSERT_TRUE(device->write(shorter, input.data(), kShort)
                  .ok()); // from where results still are, and less than they
  ASSERT_TRUE(device->launch(request()).ok());
  ASSERT_TRUE(device->read(back.data(), shorter, kShort).ok());
  EXPECT_TRUE(back == input);
  EXPECT_TRUE(device->release(longer).ok());
  EXPECT_TRUE(device->release(shorter).ok());
}

TEST_F(CudaDeviceTest, AFaultDuringALargeCopyIsAFault) {
  std::vector<char> bytes(2u << 20);
  Address address = 0;
  ASSERT_TRUE(device->allocate(bytes.size(), address).ok());
  fakeDriver().sticky = true;
  EXPECT_EQ(device->read(bytes.data(), address, bytes.size()).code, StatusCode::Fault);
  EXPECT_FALSE(device->usable());
  std::free(reinterpret_cast<void *>(address));
}

/// What the probe's PTX says that it does.
void probeKernel(const std::string &kernel, void **arguments) {
  ASSERT_EQ(kernel, "kopt_probe");
  const auto *in = reinterpret_cast<const std::uint32_t *>(*static_cast<Address *>(arguments[0]));
  auto *out = reinterpret_cast<std::uint32_t *>(*static_cast<Address *>(arguments[1]));
  for (std::uint32_t i = 0; i < *static_cast<std::uint32_t *>(arguments[2]); ++i)
    out[i] = i * 2654435761u ^ in[i];
}

TEST_F(CudaDeviceTest, TheProbePassesWhereItsKernelDoesWhatItSays) {
  fakeDriver().kernel = probeKernel;
  const Status status = device->probe();
  EXPECT_TRUE(status.ok()) << status.detail;
  EXPECT_TRUE(device->usable());
}

TEST_F(CudaDeviceTest, TheProbeFailsWhereOneWordIsWrongOrTheContextIsLost) {
  fakeDriver().kernel = [](const std::string &kernel, void **arguments) {
    probeKernel(kernel, arguments);
    reinterpret_cast<std::uint32_t *>(*static_cast<Address *>(arguments[1]))[4711] ^= 1;
  };
  Status status = device->probe();
  EXPECT_EQ(status.code, StatusCode::DeviceError);
  EXPECT_NE(status.detail.find("4711"), std::string::npos);
  fakeDriver().kernel = probeKernel;
  fakeDriver().nextSyncResult = 700;
  status = device->probe();
  EXPECT_EQ(status.code, StatusCode::Fault);
  EXPECT_FALSE(device->usable());
}

} // namespace
