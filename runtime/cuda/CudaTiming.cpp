// SPDX-License-Identifier: Apache-2.0
// Timing on a CUDA device. Events enclose the launch alone. What runs before it, a memset that
// empties the cache or a kernel that waits, keeps the stream busy while the host queues the rest,
// so that the host's latency is not measured.
#include "runtime/cuda/CudaDevice.h"
#include "runtime/device/Check.h"

#include <algorithm>

namespace kopt::runtime::cuda {

namespace {

/// At least; with less, the L2 of an H200 kept some lines.
constexpr std::size_t kColdBytes = 128u << 20;
/// 50 us at 2 GHz. An assumption: the host queues a launch between two events in less.
constexpr std::uint64_t kBusyCycles = 100'000;
/// Timings between two NVML queries, which take time themselves.
constexpr unsigned kClockEvery = 8;
constexpr std::size_t kClockWindow = 64;

/// Launches of a kernel that does nothing, one after another, and how often they are timed.
constexpr std::size_t kEmptyLaunches = 20, kEmptyRepeats = 9;
/// More than two events were ever seen to cost, on an H100 (4 us).
constexpr double kMostEventSeconds = 10e-6;
constexpr double kShortestKernel = 0.5e-6;

} // namespace

/// Owns the graph that a stream capture makes.
struct CudaDevice::GraphHolder {
  const DriverApi &api;
  CuGraph graph = nullptr;
  CuGraphExec executable = nullptr;
  ~GraphHolder() {
    if (executable)
      api.graphExecDestroy(executable);
    if (graph)
      api.graphDestroy(graph);
  }
};

Status CudaDevice::makeFlushBuffer() {
  if (flushBuffer_)
    return {};
  flushBytes_ = std::max<std::size_t>(kColdBytes, 2 * std::size_t(properties_.l2Bytes));
  return allocate(flushBytes_, flushBuffer_);
}

Status CudaDevice::prepareCache(bool cold) {
  if (!cold)
    return keepBusy(kBusyCycles);
  KOPT_CHECK(makeFlushBuffer());
  return check(api_.memsetD32Async(flushBuffer_, 0, flushBytes_ / 4, stream_), "cuMemsetD32Async");
}

Status CudaDevice::secondsOf(bool cold, const std::function<Status()> &enqueue, double &seconds) {
  KOPT_CHECK(prepareCache(cold));
  KOPT_CHECK(check(api_.eventRecord(start_, stream_), "cuEventRecord"));
  KOPT_CHECK(enqueue());
  KOPT_CHECK(check(api_.eventRecord(stop_, stream_), "cuEventRecord"));
  KOPT_CHECK(check(api_.streamSynchronize(stream_), "the kernel failed"));
  float milliseconds = 0;
  KOPT_CHECK(check(api_.eventElapsedTime(&milliseconds, start_, stop_), "cuEventElapsedTime"));
  seconds = double(milliseconds) * 1e-3;
  return {};
}

Status CudaDevice::makeGraph(const std::function<Status()> &enqueue, GraphHolder &holder) {
  KOPT_CHECK(check(api_.streamBeginCapture(stream_, kCaptureThreadLocal), "cuStreamBeginCapture"));
  const Status queued = enqueue();
  const CuResult ended = api_.streamEndCapture(stream_, &holder.graph);
  if (!queued.ok())
    return queued;
  KOPT_CHECK(check(ended, "cuStreamEndCapture"));
  KOPT_CHECK(
      check(api_.graphInstantiate(&holder.executable, holder.graph, 0), "cuGraphInstantiate"));
  return check(api_.graphUpload(holder.executable, stream_), "cuGraphUpload");
}

/// Two events around a kernel measure some 4 us more than it takes by CUPTI's records, whatever the
/// kernel (H100, kernels of 1 to 740 us). The same two events around many launches of a kernel that
/// does nothing show how much of one launch's time is theirs.
Status CudaDevice::findEventSeconds() {
  if (eventSeconds_)
    return {};
  const auto one = [&] { return keepBusy(0); };
  const auto many = [&] {
    Status status;
    for (std::size_t i = 0; i < kEmptyLaunches && status.ok(); ++i)
      status = one();
    return status;
  };
  if (Status status = one(); !status.ok()) // loads the kernel
    return status;
  GraphHolder holder{api_};
  KOPT_CHECK(makeGraph(many, holder));
  std::vector<double> found;
  for (std::size_t i = 0; i < kEmptyRepeats; ++i) {
    double alone = 0, together = 0;
    KOPT_CHECK(secondsOf(false, one, alone));
    const auto launch = [&] {
      return check(api_.graphLaunch(holder.executable, stream_), "cuGraphLaunch");
    };
    KOPT_CHECK(secondsOf(false, launch, together));
    found.push_back(alone - (together - alone) / double(kEmptyLaunches - 1));
  }
  std::nth_element(found.begin(), found.begin() + kEmptyRepeats / 2, found.end());
  const double middle = found[kEmptyRepeats / 2];
  eventSeconds_ = middle > 0 && middle < kMostEventSeconds ? middle : 0;
  return {};
}

Status CudaDevice::time(const LaunchRequest &request, bool cold, double &seconds) {
  LoadedModule *module = nullptr;
  KOPT_CHECK(prepare(request, module));
  KOPT_CHECK(findEventSeconds());
  KOPT_CHECK(secondsOf(cold, [&] { return enqueue(request, *module); }, seconds));
  seconds = std::max(seconds - *eventSeconds_, std::min(seconds, kShortestKernel));
  sampleClock();
  return {};
}

Status CudaDevice::timeBatch(const std::vector<LaunchRequest> &requests, bool cold,
                             double &secondsEach) {
  if (requests.empty())
    return {StatusCode::LaunchFailed, "the batch has no launches"};
  std::vector<LoadedModule *> modules(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i)
    KOPT_CHECK(prepare(requests[i], modules[i]));
  KOPT_CHECK(findEventSeconds());
  GraphHolder holder{api_};
  const auto all = [&] {
    Status status;
    for (std::size_t i = 0; i < requests.size() && status.ok(); ++i)
      status = enqueue(requests[i], *modules[i]);
    return status;
  };
  KOPT_CHECK(makeGraph(all, holder));
  double seconds = 0;
  const auto launch = [&] {
    return check(api_.graphLaunch(holder.executable, stream_), "cuGraphLaunch");
  };
  KOPT_CHECK(secondsOf(cold, launch, seconds));
  secondsEach = std::max(seconds - *eventSeconds_, std::min(seconds, kShortestKernel)) /
                double(requests.size());
  sampleClock();
  return {};
}

void CudaDevice::sampleClock() {
  if (timings_++ % kClockEvery != 0)
    return;
  if (const unsigned clock = nvml_->smClockMHz(); clock != 0) {
    if (clockSamples_.size() == kClockWindow)
      clockSamples_.erase(clockSamples_.begin());
    clockSamples_.push_back(clock);
  }
  for (std::string &reason : nvml_->throttleReasons())
    throttled_.insert(std::move(reason));
}

std::vector<std::string> CudaDevice::throttleReasons() {
  std::vector<std::string> reasons(throttled_.begin(), throttled_.end());
  throttled_.clear();
  return reasons;
}

double CudaDevice::smClockMHz() const {
  if (clockSamples_.empty())
    return 0;
  std::vector<unsigned> sorted = clockSamples_;
  std::nth_element(sorted.begin(), sorted.begin() + std::ptrdiff_t(sorted.size() / 2),
                   sorted.end());
  return sorted[sorted.size() / 2];
}

} // namespace kopt::runtime::cuda
