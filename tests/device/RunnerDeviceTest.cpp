// SPDX-License-Identifier: Apache-2.0
// kopt-runner on a real GPU, with cubins that nvcc builds here. Usage: device_tests
// PATH/TO/kopt-runner. Exits with 77 where there is no GPU or no nvcc.
#include "driver/device/Runner.h"
#include "driver/device/Toolchain.h"
#include "driver/device/build/Toolchains.h"
#include "driver/device/runner/RunnerClient.h"
#include "driver/support/FileSystem.h"
#include "runtime/runner/Fill.h"
#include "tests/fakes/Results.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using testing::HasSubstr;

using namespace kopt;
namespace fs = std::filesystem;

constexpr int kSkip = 77;

constexpr const char *kKernels = R"(
#include <cstdio>
#include <cooperative_groups.h>
extern "C" __global__ void twice(const float *in, float *out, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * in[i];
}
extern "C" __global__ void increment(float *data, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += 1;
}
extern "C" __global__ void work(const float *in, float *out, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i];
  for (unsigned k = 0; k < n; ++k) x = x * 0.999f + 0.001f;
  out[i] = x;
}
extern "C" __global__ void shared(const float *in, float *out, unsigned n) {
  extern __shared__ float tile[];
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x) tile[n - 1 - i] = in[i];
  __syncthreads();
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x) out[i] = tile[i];
}
extern "C" __global__ void unset(const float *in, float *out, unsigned n) {
  __shared__ volatile float tile[256];
  if (n == 0) tile[threadIdx.x] = in[threadIdx.x];
  out[blockIdx.x * blockDim.x + threadIdx.x] = tile[threadIdx.x];
}
extern "C" __global__ void wild(const float *in, float *out, unsigned n) {
  *reinterpret_cast<volatile float *>(16ull + n * 0) = 1;
}
extern "C" __global__ void endless(const float *in, float *out, unsigned n) {
  volatile float *sink = out;
  for (unsigned k = 0; n != 0; ++k) sink[0] = k;
}
extern "C" __global__ void beside(const float *in, float *out, unsigned n) {
  if (threadIdx.x == 0 && blockIdx.x == 0) out[n + 3] = 1;
}
extern "C" __global__ void spoil(const float *in, float *out, unsigned n) {
  if (threadIdx.x == 0 && blockIdx.x == 0) const_cast<float *>(in)[n - 1] = 9;
}
extern "C" __global__ void turned(const float *in, float *out, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = 2 * in[i];
  cooperative_groups::this_grid().sync();
  float other = out[n - 1 - i];
  cooperative_groups::this_grid().sync();
  out[i] = other;
}
// Without the attribute nvcc makes a loop of it.
__device__ __noinline__ float descend(const float *in, unsigned depth) {
  volatile float kept[64];
  for (unsigned k = 0; k < 64; ++k) kept[k] = in[depth] + k;
  const float below = depth == 0 ? 0 : descend(in, depth - 1);
  return below + kept[depth & 63] - (depth & 63);
}
extern "C" __global__ void deep(const float *in, float *out, unsigned n) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = descend(in, n - 1);
}
extern "C" __global__ void talk(const float *in, float *out, unsigned n) {
  printf("ok status=0 detail= files= unwritten= id=%d\n", blockIdx.x);
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}
)";

std::string runnerProgram;

class DeviceTest : public testing::Test {
protected:
  static void SetUpTestSuite() {
    processes = makeProcessRunner();
    folder = new TemporaryDirectory(std::move(*TemporaryDirectory::create("kopt-device")));
    ASSERT_TRUE(
        createDirectories(folder->path() / "built")); // there before the runner, which is shown it
    // Held in as kopt holds it in: what CUDA needs of the machine has to be in sight.
    auto opened = must(Sandbox::open(
        *processes, fs::path(runnerProgram).parent_path() / "kopt-sandbox", SandboxMode::Auto));
    for (const SandboxLayer &layer : opened.layers())
      std::printf("sandbox: %s %s: %s\n", layer.active ? "with" : "without", layer.name.c_str(),
                  layer.detail.c_str());
    const CudaToolkit cuda = CudaToolkit::find();
    auto started = must(startRunner(*processes, runnerProgram, {DeviceKind::Cuda, 0, ""},
                                    folder->path() / "buffers", "", {},
                                    {opened, {folder->path() / "built"}, cuda}));
    runner = std::move(started);
    BuildRequest request;
    request.sliceText = kKernels;
    request.symbol = "twice";
    request.arch = runner->device().arch;
    request.output = folder->path() / "built" / "kernels.cubin";
    auto toolchain = must(makeNvccToolchain(*processes, cuda, CompilerSandbox(opened)));
    const auto built = must(toolchain->build(request));
    ASSERT_TRUE(built.ok) << built.log;
    cubin = built.module;
  }
  static void TearDownTestSuite() {
    runner.reset();
    delete folder;
    folder = nullptr;
  }

  static ModuleId load(const std::string &symbol) {
    const auto module = runner->load(cubin, symbol);
    EXPECT_TRUE(module) << module.error().what;
    return module ? module->id : 0;
  }
  static Launch launch(std::uint32_t count, std::uint32_t n, std::uint32_t block = 256) {
    Launch out;
    out.grid = {(count + block - 1) / block, 1, 1};
    out.block = {block, 1, 1};
    out.buffers = {Buffer{"in", 4ull * count, "f32", {}, true, false},
                   Buffer{"out", 4ull * count, "f32", {}, false, true}};
    out.arguments = {BufferArg{0, 0}, BufferArg{1, 0},
                     ValueArg{std::string(reinterpret_cast<const char *>(&n), 4)}};
    return out;
  }
  /// What the runner draws for the first buffer of a launch.
  static std::vector<float> input(std::size_t count, std::uint64_t seed = 1) {
    runtime::BufferSpec spec;
    spec.scalar = "f32";
    std::vector<float> out(count);
    runtime::drawContents(spec, seed, 0, 0, 4 * count, reinterpret_cast<std::byte *>(out.data()));
    return out;
  }
  static std::vector<float> floats(const fs::path &path) {
    const std::string bytes = *readFile(path);
    std::vector<float> out(bytes.size() / 4);
    std::memcpy(out.data(), bytes.data(), out.size() * 4);
    return out;
  }
  static RunOutcome run(const std::string &symbol, const Launch &launched, double deadline = 10) {
    RunOptions options;
    options.deadline = Duration(deadline);
    const auto outcome = runner->run(load(symbol), launched, options);
    EXPECT_TRUE(outcome) << outcome.error().what;
    return outcome.value_or(
        RunOutcome{RunStatus::Crashed, "an error instead of an outcome", {}, {}, {}, false, {}});
  }
  static void expectHealthy() {
    const RunOutcome outcome = run("twice", launch(1000, 1000));
    EXPECT_EQ(outcome.status, RunStatus::Ok) << outcome.detail;
  }
  static double medianRatio(const TimingOutcome &outcome) {
    std::vector<double> ratios;
    for (const TimingSample &sample : outcome.samples)
      ratios.push_back(sample.a / sample.b);
    std::sort(ratios.begin(), ratios.end());
    return ratios.empty() ? 0 : ratios[ratios.size() / 2];
  }
  static TimingOutcome time(ModuleId a, const Launch &launchA, ModuleId b, const Launch &launchB,
                            bool cold = true) {
    TimeOptions options;
    options.coldCache = cold;
    const auto outcome = runner->time(a, launchA, b, launchB, options);
    EXPECT_TRUE(outcome) << outcome.error().what;
    TimingOutcome failed;
    failed.status = RunStatus::Crashed;
    TimingOutcome result = outcome.value_or(failed);
    EXPECT_EQ(result.status, RunStatus::Ok) << result.detail;
    std::printf("  %zu pairs, %s, batch %u, median %.3f us and ratio %.4f, SM %.0f MHz\n",
                result.samples.size(), toString(result.cacheMode), result.batch,
                result.samples.empty() ? 0 : 1e6 * result.samples[result.samples.size() / 2].a,
                medianRatio(result), result.smClockMHz);
    return result;
  }

  static inline std::unique_ptr<ProcessRunner> processes;
  static inline TemporaryDirectory *folder = nullptr;
  static inline std::unique_ptr<Runner> runner;
  static inline fs::path cubin;
};

TEST_F(DeviceTest, DescribesItself) {
  const DeviceInfo &device = runner->device();
  std::printf("  %s, %s, %s, L2 %llu MiB\n", device.name.c_str(), device.arch.c_str(),
              device.driver.c_str(), static_cast<unsigned long long>(device.l2Bytes >> 20));
  EXPECT_EQ(device.kind, DeviceKind::Cuda);
  EXPECT_EQ(device.arch.rfind("sm_", 0), 0u);
  EXPECT_GT(device.l2Bytes, 0u);
  EXPECT_EQ(device.uuid.size(), 40u);
}

TEST_F(DeviceTest, MeasuredRatesArePlausible) {
  const auto begin = std::chrono::steady_clock::now();
  const auto rates = runner->measureRates();
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  ASSERT_TRUE(rates) << rates.error().what;
  const DeviceInfo &device = runner->device();
  const double stores = device.storeBytesPerSecond; // 128 bytes a clock and multiprocessor
  std::printf("  DRAM %.3g of %.3g B/s, FP32 %.3g, FP64 %.3g of FP32's %.3g, %.3g of %.3g warp "
              "instructions, in %.2f s. %s\n",
              rates->dramBytes, device.dramBytesPerSecond, rates->fp32, rates->fp64, 2 * stores,
              rates->instructions, stores / 32, seconds, rates->missing.c_str());
  EXPECT_EQ(rates->missing, "");
  EXPECT_GT(rates->dramBytes, 0.2 * device.dramBytesPerSecond);
  EXPECT_LT(rates->dramBytes, 1.05 * device.dramBytesPerSecond);
  EXPECT_GT(rates->instructions, 0.3 * stores / 32); // four a clock and multiprocessor
  EXPECT_LT(rates->instructions, 1.05 * stores / 32);
  EXPECT_GT(rates->fp64, 0);
  EXPECT_LT(rates->fp64, 1.05 * rates->fp32);
  if (device.arch == "sm_90") { // 128 fused multiply-adds a clock and multiprocessor
    EXPECT_GT(rates->fp32, 0.3 * 2 * stores);
    EXPECT_LT(rates->fp32, 1.05 * 2 * stores);
  }
  EXPECT_LT(seconds, 3);
  expectHealthy();
}

TEST_F(DeviceTest, ModulesHaveTheirFacts) {
  const auto module = must(runner->load(cubin, "twice"));
  EXPECT_GT(module.registers, 0u);
  EXPECT_EQ(module.maxThreads, 1024u);
  EXPECT_FALSE(runner->load(cubin, "unheard"));
  EXPECT_FALSE(runner->load(cubin, "")); // more than one kernel
  expectHealthy();
}

TEST_F(DeviceTest, RunsAndReturnsContents) {
  const RunOutcome outcome = run("twice", launch(100003, 100003));
  ASSERT_EQ(outcome.status, RunStatus::Ok) << outcome.detail;
  const std::vector<float> in = input(100003), out = floats(outcome.buffers[1]);
  ASSERT_EQ(out.size(), 100003u);
  for (std::size_t i = 0; i < in.size(); ++i)
    ASSERT_EQ(out[i], 2 * in[i]) << i;
  EXPECT_EQ(outcome.unwritten, (std::vector<std::uint64_t>{0, 0}));
}

TEST_F(DeviceTest, CooperativeLaunchesWaitForTheWholeGrid) {
  Launch whole = launch(32768, 32768);
  whole.cooperative = true;
  const RunOutcome outcome = run("turned", whole);
  ASSERT_EQ(outcome.status, RunStatus::Ok) << outcome.detail;
  const std::vector<float> in = input(32768), out = floats(outcome.buffers[1]);
  for (std::size_t i = 0; i < in.size(); ++i)
    ASSERT_EQ(out[i], 2 * in[in.size() - 1 - i]) << i;
  const ModuleId a = load("turned"), b = load("turned");
  EXPECT_NEAR(medianRatio(time(a, whole, b, whole)), 1, 0.05);
  Launch large = launch(1 << 26, 1 << 26); // more blocks than fit at once
  large.cooperative = true;
  EXPECT_EQ(run("turned", large).status, RunStatus::LaunchFailed);
  expectHealthy();
}

TEST_F(DeviceTest, StacksAreAsDeepAsTheLaunchAsksFor) {
  Launch launched =
      launch(4096, 100); // 100 frames of 256 bytes and more: the driver's default is 1024
  launched.stackBytes = 64 * 1024;
  const RunOutcome outcome = run("deep", launched);
  ASSERT_EQ(outcome.status, RunStatus::Ok) << outcome.detail;
  float sum = 0;
  for (const float value : input(100))
    sum += value;
  for (const float value : floats(outcome.buffers[1]))
    ASSERT_NEAR(value, sum, 1e-2);
  const auto counted = must(runner->profile(load("deep"), launched, {}));
  EXPECT_EQ(counted.counters.at("launch__stack_size"), 64 * 1024);
  expectHealthy();
}

// CUPTI looks again at kernels that it has seen in an open session: a module unloaded in one ends
// the process.
TEST_F(DeviceTest, EveryModuleIsCountedAndTheLastAsTheFirst) {
  const Launch launched = launch(1 << 20, 1 << 20);
  for (int i = 0; i < 12; ++i) {
    const ModuleId module = load(i % 2 ? "increment" : "twice");
    Launch one = launched;
    if (i % 2) { // increment(data, n)
      one.buffers = {Buffer{"data", 4ull << 20, "f32", {}, false, true}};
      one.arguments = {BufferArg{0, 0}, launched.arguments[2]};
    }
    const auto counted = must(runner->profile(module, one, {}));
    if (counted.source == "ptxas")
      GTEST_SKIP() << counted.detail;
    EXPECT_EQ(counted.source, "cupti") << counted.detail;
    EXPECT_EQ(counted.counters.at("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"), 32768) << i;
    runner->unload(module);
  }
  expectHealthy();
}

TEST_F(DeviceTest, CountsUnwrittenElements) {
  const RunOutcome outcome = run("twice", launch(5000, 4990));
  ASSERT_EQ(outcome.status, RunStatus::Ok) << outcome.detail;
  EXPECT_EQ(outcome.unwritten, (std::vector<std::uint64_t>{0, 10}));
}

TEST_F(DeviceTest, LargeDynamicSharedMemoryIsAllowed) {
  Launch launched = launch(20000, 20000);
  launched.grid = {1, 1, 1};
  launched.sharedBytes = 80000;
  const RunOutcome outcome = run("shared", launched);
  ASSERT_EQ(outcome.status, RunStatus::Ok) << outcome.detail;
  EXPECT_EQ(floats(outcome.buffers[1]).front(), input(20000).back());
}

TEST_F(DeviceTest, RefusedConfigurationsLeaveTheDeviceUsable) {
  Launch block = launch(4096, 4096, 2048);
  EXPECT_EQ(run("twice", block).status, RunStatus::LaunchFailed);
  Launch shared = launch(1000, 1000);
  shared.sharedBytes = 1 << 20;
  EXPECT_EQ(run("shared", shared).status, RunStatus::LaunchFailed);
  Launch arguments = launch(1000, 1000);
  arguments.arguments.pop_back();
  EXPECT_EQ(run("twice", arguments).status, RunStatus::LaunchFailed);
  expectHealthy();
}

TEST_F(DeviceTest, SharedMemoryThatNobodySetHoldsNothingToRelyOn) {
  const Launch launched = launch(256 * 1000, 1000);
  const ModuleId module = load("unset");
  std::vector<std::vector<float>> seen;
  for (const std::uint64_t seed : {1, 2}) {
    RunOptions options;
    options.poisonSeed = seed;
    const auto outcome = must(runner->run(module, launched, options));
    ASSERT_EQ(outcome.status, RunStatus::Ok) << outcome.detail;
    seen.push_back(floats(outcome.buffers.at(1)));
    const auto zeros =
        std::count_if(seen.back().begin(), seen.back().end(), [](float x) { return x == 0; });
    EXPECT_LT(zeros, 256 * 10) << "of " << seen.back().size();
  }
  std::size_t same = 0;
  for (std::size_t i = 0; i < seen[0].size(); ++i)
    same += std::memcmp(&seen[0][i], &seen[1][i], 4) == 0;
  EXPECT_LT(same, seen[0].size() / 100);
}

TEST_F(DeviceTest, AFaultCostsOnlyItself) {
  const RunOutcome outcome = run("wild", launch(1000, 1000));
  EXPECT_EQ(outcome.status, RunStatus::Fault);
  EXPECT_THAT(outcome.detail, HasSubstr("CUDA_ERROR"));
  expectHealthy();
}

TEST_F(DeviceTest, AKernelThatNeverEndsIsKilled) {
  const RunOutcome outcome = run("endless", launch(1000, 1000), 1);
  EXPECT_EQ(outcome.status, RunStatus::TimedOut);
  expectHealthy();
}

TEST_F(DeviceTest, WritesBesideBuffersAndToInputsAreFound) {
  EXPECT_EQ(run("beside", launch(1000, 1000)).status, RunStatus::GuardTouched);
  const RunOutcome spoiled = run("spoil", launch(1000, 1000));
  EXPECT_EQ(spoiled.status, RunStatus::InputChanged);
  EXPECT_THAT(spoiled.detail, HasSubstr("element 999"));
}

TEST_F(DeviceTest, WhatAKernelPrintsIsNoReply) {
  const RunOutcome outcome = run("talk", launch(100000, 100000));
  EXPECT_EQ(outcome.status, RunStatus::Ok) << outcome.detail;
  EXPECT_EQ(outcome.buffers.size(), 2u);
  expectHealthy();
}

TEST_F(DeviceTest, TheSameKernelTwiceIsTheSame) {
  const ModuleId a = load("twice"), b = load("twice");
  const Launch launched = launch(1 << 24, 1 << 24);
  const TimingOutcome outcome = time(a, launched, b, launched);
  EXPECT_NEAR(medianRatio(outcome), 1, 0.01);
  EXPECT_EQ(outcome.cacheMode, CacheMode::Cold);
  EXPECT_EQ(outcome.batch, 1u);
  ASSERT_EQ(outcome.buffersB.size(), 2u);
  EXPECT_EQ(*readFile(outcome.buffersA[1]), *readFile(outcome.buffersB[1]));
}

TEST_F(DeviceTest, TwiceTheWorkTakesTwiceTheTime) {
  const ModuleId a = load("work"), b = load("work");
  const TimingOutcome outcome = time(a, launch(1 << 18, 20000), b, launch(1 << 18, 10000));
  EXPECT_NEAR(medianRatio(outcome), 2, 0.1);
}

TEST_F(DeviceTest, ShortKernelsAreBatched) {
  const ModuleId a = load("twice"), b = load("twice");
  const Launch small = launch(4096, 4096), medium = launch(1 << 20, 1 << 20);
  const TimingOutcome warm = time(a, small, b, small);
  EXPECT_GT(warm.batch, 1u);
  EXPECT_EQ(warm.cacheMode, CacheMode::Warm); // copies of 32 KiB: L2 would hold them all
  EXPECT_NEAR(medianRatio(warm), 1, 0.05);
  const TimingOutcome cold = time(a, medium, b, medium);
  EXPECT_NEAR(medianRatio(cold), 1, 0.05);
}

TEST_F(DeviceTest, InPlaceBuffersAreRestoredBetweenTimings) {
  const ModuleId module = load("increment");
  for (const std::uint32_t count : {1u << 12, 1u << 22}) {
    Launch launched = launch(count, count);
    launched.buffers = {Buffer{"data", 4ull * count, "f32", {}, false, false}};
    launched.arguments.erase(launched.arguments.begin());
    std::get<BufferArg>(launched.arguments[0]).buffer = 0;
    const RunOutcome once = run("increment", launched);
    ASSERT_EQ(once.status, RunStatus::Ok) << once.detail;
    const std::string wanted = *readFile(once.buffers[0]);
    const TimingOutcome outcome = time(module, launched, module, launched);
    ASSERT_EQ(outcome.buffersA.size(), 1u);
    EXPECT_EQ(*readFile(outcome.buffersA[0]), wanted);
    EXPECT_EQ(*readFile(outcome.buffersB[0]), wanted);
  }
}

TEST_F(DeviceTest, WarmCacheIsFasterThanCold) {
  const ModuleId module = load("twice");
  const Launch launched = launch(1 << 21, 1 << 21); // 16 MiB in all
  const auto median = [](const TimingOutcome &outcome) {
    std::vector<double> seconds;
    for (const TimingSample &sample : outcome.samples)
      seconds.push_back(sample.a);
    std::sort(seconds.begin(), seconds.end());
    return seconds.empty() ? 0 : seconds[seconds.size() / 2];
  };
  EXPECT_LT(median(time(module, launched, module, launched, false)),
            median(time(module, launched, module, launched, true)));
}

// 64 MiB in, 64 MiB out: what a candidate's runs cost beside the kernel.
TEST_F(DeviceTest, LargeBuffersCostLittle) {
  const ModuleId module = load("twice");
  const Launch launched = launch(1 << 24, 1 << 24);
  const auto print = [](const char *what, double wall, const StageSeconds &stages) {
    std::printf("  %-22s %7.1f ms:", what, 1e3 * wall);
    for (const auto &[name, seconds] : stages)
      std::printf(" %s %.1f", name.c_str(), 1e3 * seconds);
    std::printf("\n");
  };
  const auto secondsOf = [](const auto &call) {
    const auto begun = std::chrono::steady_clock::now();
    call();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  };
  RunOptions options;
  double wall = 0;
  for (const char *what : {"first run", "the same inputs again", "and again", "fresh inputs"}) {
    options.inputSeed += std::string(what) == "fresh inputs";
    RunOutcome outcome;
    wall = secondsOf([&] { outcome = runner->run(module, launched, options).value_or(outcome); });
    ASSERT_EQ(outcome.status, RunStatus::Ok) << outcome.detail;
    print(what, wall, outcome.stages);
    const std::vector<float> in = input(1 << 24, options.inputSeed),
                             out = floats(outcome.buffers[1]);
    ASSERT_EQ(out[7'654'321], 2 * in[7'654'321]);
  }
  EXPECT_LT(wall, 0.5);
  const ModuleId other = load("twice");
  for (int i = 0; i < 2; ++i) {
    TimingOutcome outcome;
    wall = secondsOf(
        [&] { outcome = runner->time(module, launched, other, launched, {}).value_or(outcome); });
    ASSERT_EQ(outcome.status, RunStatus::Ok) << outcome.detail;
    print("timing", wall, outcome.stages);
  }
  EXPECT_LT(wall, 1);
}

// More pieces than there are page-locked stages, and a length that is no multiple of anything.
TEST_F(DeviceTest, LargeCopiesAreExact) {
  constexpr std::uint32_t kCount = (1 << 24) + 12345;
  const RunOutcome outcome = run("twice", launch(kCount, kCount));
  ASSERT_EQ(outcome.status, RunStatus::Ok) << outcome.detail;
  const std::vector<float> in = input(kCount), out = floats(outcome.buffers[1]);
  ASSERT_EQ(out.size(), kCount);
  for (std::size_t i = 0; i < kCount; ++i)
    ASSERT_EQ(out[i], 2 * in[i]) << i;
}

// What the device's own kernels find in its memory, as the host would.
TEST_F(DeviceTest, LargeMemoryIsExaminedOnTheDevice) {
  constexpr std::uint32_t kCount = (1 << 20) + 3;
  const ModuleId module = load("twice");
  RunOptions options;
  const auto runOn = [&](std::uint32_t written) {
    return runner->run(module, launch(kCount, written), options);
  };
  const auto whole = runOn(kCount);
  ASSERT_TRUE(whole && whole->status == RunStatus::Ok);
  EXPECT_EQ(whole->unwritten[1], 0u);
  EXPECT_FALSE(whole->digest.empty());
  for (const std::uint32_t missing : {1u, 2u, 1000u}) {
    const auto part = runOn(kCount - missing);
    ASSERT_TRUE(part && part->status == RunStatus::Ok);
    EXPECT_EQ(part->unwritten[1], missing);
    EXPECT_NE(part->digest, whole->digest);
    const std::vector<float> out = floats(part->buffers[1]), in = input(kCount);
    EXPECT_EQ(out[kCount - missing - 1], 2 * in[kCount - missing - 1]);
  }
  const RunOutcome spoilt = run("spoil", launch(kCount, kCount));
  EXPECT_EQ(spoilt.status, RunStatus::InputChanged);
  EXPECT_THAT(spoilt.detail, HasSubstr("element " + std::to_string(kCount - 1) + " "));
  options.known = whole->digest;
  options.poisonSeed = 77;
  const auto again = runOn(kCount);
  ASSERT_TRUE(again && again->status == RunStatus::Ok);
  EXPECT_TRUE(again->isKnown);
  EXPECT_TRUE(again->buffers.empty());
  options.inputSeed = 2;
  const auto other = runOn(kCount);
  ASSERT_TRUE(other && other->status == RunStatus::Ok);
  EXPECT_FALSE(other->isKnown);
  const std::vector<float> out = floats(other->buffers[1]), in = input(kCount, 2);
  ASSERT_EQ(out.size(), kCount);
  for (std::size_t i = 0; i < kCount; ++i)
    ASSERT_EQ(out[i], 2 * in[i]) << i;
}

TEST_F(DeviceTest, ProfilesTheKernel) {
  const Launch launched = launch(1 << 22, 1 << 22);
  const auto outcome = must(runner->profile(load("twice"), launched, {}));
  ASSERT_EQ(outcome.status, RunStatus::Ok) << outcome.detail;
  std::printf("  source %s, %zu counters. %s\n", outcome.source.c_str(), outcome.counters.size(),
              outcome.detail.c_str());
  EXPECT_EQ(outcome.counters.at("launch__block_size"), 256);
  EXPECT_EQ(outcome.counters.at("launch__grid_size"), 16384);
  EXPECT_GT(outcome.counters.at("launch__registers_per_thread"), 0);
  if (outcome.source == "ptxas")
    GTEST_SKIP() << "no hardware counters here: " << outcome.detail;
  EXPECT_NEAR(outcome.counters.at("dram__bytes_read.sum"), 4.0 * (1 << 22), 0.2 * 4 * (1 << 22));
  EXPECT_NEAR(
      outcome.counters.at("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"),
      4, 0.1);
  EXPECT_GT(outcome.counters.at("gpu__time_duration.sum"), 1000); // ns
  EXPECT_LT(outcome.counters.at("gpu__time_duration.sum"), 1e6);
}

} // namespace

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc != 2) {
    std::fprintf(stderr, "usage: device_tests PATH/TO/kopt-runner\n");
    return 1;
  }
  runnerProgram = argv[1];
  const auto processes = makeProcessRunner();
  auto folder = TemporaryDirectory::create("kopt-device");
  const auto runner =
      startRunner(*processes, runnerProgram, {DeviceKind::Cuda, 0, ""}, folder->path(), "");
  const auto toolchain = makeNvccToolchain(*processes, CudaToolkit::find());
  if (!runner || !toolchain) {
    std::printf("skipped: %s\n",
                runner ? toolchain.error().what.c_str() : runner.error().what.c_str());
    return kSkip;
  }
  return RUN_ALL_TESTS();
}
