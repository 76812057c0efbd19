// SPDX-License-Identifier: Apache-2.0
// What the programs of this folder share: the buffers of a launch from files, the call's result to files, and its time.
//
//   PROGRAM UUID NUMBER... in FILE OFFSET ... out BEFORE OFFSET RESULT ...
//
// UUID is the GPU's, in 32 hexadecimal digits. The files hold whole buffers: what they held before the launch. The call's
// pointers are at the offsets, in bytes. Types come as macros: -DIN=f32. A line of JSON on standard output has the times.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <string>
#include <vector>

using f16 = __half;
using bf16 = __nv_bfloat16;
using f32 = float;
using f64 = double;
using i8 = signed char;
using u8 = unsigned char;
using i16 = short;
using u16 = unsigned short;
using i32 = int;
using u32 = unsigned;
using i64 = long long;
using u64 = unsigned long long;

[[noreturn]] inline void fail(const std::string &what) {
  std::fprintf(stderr, "error: %s\n", what.c_str());
  std::exit(1);
}
inline void check(cudaError_t error, const char *what) {
  if (error != cudaSuccess)
    fail(std::string(what) + ": " + cudaGetErrorString(error));
}

// As kopt times launches (runtime/cuda/CudaTiming.cpp, runtime/runner/PairedTiming.cpp).
constexpr double kWarmUpSeconds = 0.025, kSamplingSeconds = 0.5, kShort = 10e-6, kBatchSeconds = 250e-6, kShortest = 0.5e-6;
constexpr std::size_t kColdBytes = 128u << 20, kFewest = 10, kMost = 200;
constexpr long long kBusyCycles = 100'000;

__global__ void keepBusy(long long cycles) {
  for (const long long start = clock64(); clock64() - start < cycles;) {
  }
}

class Launch {
public:
  Launch(int argc, char **argv) {
    if (argc < 2)
      fail("no GPU is given");
    chooseDevice(argv[1]);
    int at = 2;
    for (; at < argc && std::strcmp(argv[at], "in") != 0 && std::strcmp(argv[at], "out") != 0; ++at)
      numbers_.push_back(std::atof(argv[at]));
    while (at < argc)
      if (std::strcmp(argv[at], "in") == 0 && at + 2 < argc) {
        inputs_.push_back({load(argv[at + 1]), std::size_t(std::atoll(argv[at + 2])), ""});
        at += 3;
      } else if (std::strcmp(argv[at], "out") == 0 && at + 3 < argc) {
        outputs_.push_back({load(argv[at + 1]), std::size_t(std::atoll(argv[at + 2])), argv[at + 3]});
        at += 4;
      } else
        fail(std::string("unexpected argument ") + argv[at]);
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); // the stream does not wait for the copies
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    check(cudaEventCreate(&start_), "cudaEventCreate");
    check(cudaEventCreate(&stop_), "cudaEventCreate");
  }

  cudaStream_t stream() const { return stream_; }
  double number(std::size_t i) const { return numbers_.at(i); }
  long long size(std::size_t i) const { return (long long)(numbers_.at(i)); }
  template <class T> const T *in(std::size_t i) const { return reinterpret_cast<const T *>(inputs_.at(i).at()); }
  template <class T> T *out(std::size_t i) const { return reinterpret_cast<T *>(outputs_.at(i).at()); }

  /// Makes the call once and writes its results, then times it.
  template <class Call> int run(Call call) {
    call();
    check(cudaStreamSynchronize(stream_), "the call failed");
    for (const Memory &output : outputs_)
      save(output);
    findEventSeconds();
    using Clock = std::chrono::steady_clock;
    for (const auto until = Clock::now() + std::chrono::duration<double>(kWarmUpSeconds); Clock::now() < until;)
      time(false, call);
    const double quick = std::min(time(false, call), time(false, call));
    std::printf("{\"warm\": %s, \"cold\": %s}\n", sampled(false, quick, call).c_str(), sampled(true, quick, call).c_str());
    return 0;
  }

private:
  struct Memory {
    std::pair<char *, std::size_t> bytes;
    std::size_t offset;
    std::string result; ///< the file for it
    char *at() const { return bytes.first + offset; }
  };

  static void chooseDevice(const std::string &uuid) {
    int count = 0;
    check(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
    for (int i = 0; i < count; ++i) {
      cudaDeviceProp properties;
      check(cudaGetDeviceProperties(&properties, i), "cudaGetDeviceProperties");
      std::string own;
      for (const char byte : properties.uuid.bytes) {
        char digits[3];
        std::snprintf(digits, sizeof digits, "%02x", unsigned(static_cast<unsigned char>(byte)));
        own += digits;
      }
      if (own == uuid)
        return check(cudaSetDevice(i), "cudaSetDevice");
    }
    fail("no GPU has the UUID " + uuid);
  }

  static std::pair<char *, std::size_t> load(const char *path) {
    std::FILE *file = std::fopen(path, "rb");
    if (!file || std::fseek(file, 0, SEEK_END) != 0)
      fail(std::string("cannot read ") + path);
    std::vector<char> bytes(std::size_t(std::ftell(file)));
    std::rewind(file);
    if (std::fread(bytes.data(), 1, bytes.size(), file) != bytes.size())
      fail(std::string("cannot read ") + path);
    std::fclose(file);
    char *memory = nullptr;
    check(cudaMalloc(&memory, bytes.size()), "cudaMalloc");
    check(cudaMemcpy(memory, bytes.data(), bytes.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
    return {memory, bytes.size()};
  }

  static void save(const Memory &output) {
    std::vector<char> bytes(output.bytes.second);
    check(cudaMemcpy(bytes.data(), output.bytes.first, bytes.size(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    std::FILE *file = std::fopen(output.result.c_str(), "wb");
    if (!file || std::fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size() || std::fclose(file) != 0)
      fail("cannot write " + output.result);
  }

  /// What runs before the first event keeps the stream busy while the host queues the rest.
  template <class Call> double secondsOf(bool cold, Call call) {
    if (cold)
      check(cudaMemsetAsync(flush_, 0, flushBytes_, stream_), "cudaMemsetAsync");
    else
      keepBusy<<<1, 1, 0, stream_>>>(kBusyCycles);
    check(cudaEventRecord(start_, stream_), "cudaEventRecord");
    call();
    check(cudaEventRecord(stop_, stream_), "cudaEventRecord");
    check(cudaStreamSynchronize(stream_), "the call failed");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start_, stop_), "cudaEventElapsedTime");
    return 1e-3 * milliseconds;
  }
  template <class Call> double time(bool cold, Call call) {
    const double seconds = secondsOf(cold, call);
    return std::max(seconds - eventSeconds_, std::min(seconds, kShortest));
  }

  template <class Call> cudaGraphExec_t graphOf(Call call, std::size_t times) {
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    for (std::size_t i = 0; i < times; ++i)
      call();
    check(cudaStreamEndCapture(stream_, &graph), "cudaStreamEndCapture");
    check(cudaGraphInstantiateWithFlags(&executable, graph, 0), "cudaGraphInstantiateWithFlags");
    check(cudaGraphUpload(executable, stream_), "cudaGraphUpload");
    return executable;
  }

  /// How much of the time between two events is theirs.
  void findEventSeconds() {
    int l2 = 0, device = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, device), "cudaDeviceGetAttribute");
    flushBytes_ = std::max(kColdBytes, 2 * std::size_t(l2));
    check(cudaMalloc(&flush_, flushBytes_), "cudaMalloc");
    const auto one = [&] { keepBusy<<<1, 1, 0, stream_>>>(0); };
    one();
    const cudaGraphExec_t many = graphOf(one, 20);
    std::vector<double> found;
    for (int i = 0; i < 9; ++i) {
      const double alone = secondsOf(false, one);
      const double together = secondsOf(false, [&] { check(cudaGraphLaunch(many, stream_), "cudaGraphLaunch"); });
      found.push_back(alone - (together - alone) / 19);
    }
    std::sort(found.begin(), found.end());
    eventSeconds_ = found[4] > 0 && found[4] < 10e-6 ? found[4] : 0;
  }

  /// The median, and its 95% interval by order statistics. Short calls are timed in batches, which are warm.
  template <class Call> std::string sampled(bool cold, double quick, Call call) {
    const bool isBatch = !cold && quick < kShort;
    const std::size_t each = isBatch ? std::clamp<std::size_t>(std::size_t(kBatchSeconds / quick), 10, 256) : 1;
    const cudaGraphExec_t batch = isBatch ? graphOf(call, each) : nullptr;
    std::vector<double> samples;
    for (double spent = 0; samples.size() < kFewest || (spent < kSamplingSeconds && samples.size() < kMost);) {
      const auto launched = [&] { check(cudaGraphLaunch(batch, stream_), "cudaGraphLaunch"); };
      const double seconds = batch ? time(cold, launched) : time(cold, call);
      spent += seconds;
      samples.push_back(seconds / double(each));
    }
    std::sort(samples.begin(), samples.end());
    const std::size_t n = samples.size();
    const auto reach = std::size_t(0.98 * std::sqrt(double(n))) + 1;
    char text[200];
    std::snprintf(text, sizeof text, "{\"seconds\": %.9g, \"low\": %.9g, \"high\": %.9g, \"samples\": %zu}", samples[n / 2],
                  samples[n / 2 - std::min(n / 2, reach)], samples[std::min(n - 1, n / 2 + reach)], n);
    return text;
  }

  std::vector<double> numbers_;
  std::vector<Memory> inputs_, outputs_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t start_ = nullptr, stop_ = nullptr;
  void *flush_ = nullptr;
  std::size_t flushBytes_ = 0;
  double eventSeconds_ = 0;
};

/// Gives a call of CUB its workspace: `call(memory, bytes)` says what it needs, and then runs.
template <class Call> int runWithWorkspace(Launch &launch, Call call) {
  std::size_t bytes = 0;
  check(call(nullptr, bytes), "the size of the workspace");
  void *memory = nullptr;
  check(cudaMalloc(&memory, std::max<std::size_t>(bytes, 1)), "cudaMalloc");
  return launch.run([&] { check(call(memory, bytes), "the call failed"); });
}
