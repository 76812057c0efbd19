// SPDX-License-Identifier: Apache-2.0
// Timing on a CUDA device. Events enclose the launch alone. What runs before it, a memset that
// empties the cache or a kernel that waits, keeps the stream busy while the host queues the rest,
// so that the host's latency is not measured.
#include "runtime/cuda/CudaDevice.h"

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

/// Owns the graph that a stream capture makes.
struct GraphHolder {
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

} // namespace

Status CudaDevice::makeFlushBuffer() {
  if (flushBuffer_)
    return {};
  flushBytes_ = std::max<std::size_t>(kColdBytes, 2 * std::size_t(properties_.l2Bytes));
  return allocate(flushBytes_, flushBuffer_);
}

Status CudaDevice::prepareCache(bool cold) {
  if (!cold)
    return keepBusy(kBusyCycles);
  if (Status status = makeFlushBuffer(); !status.ok())
    return status;
  return check(api_.memsetD32Async(flushBuffer_, 0, flushBytes_ / 4, stream_), "cuMemsetD32Async");
}

Status CudaDevice::time(const LaunchRequest &request, bool cold, double &seconds) {
  LoadedModule *module = nullptr;
  if (Status status = prepare(request, module); !status.ok())
    return status;
  if (Status status = prepareCache(cold); !status.ok())
    return status;
  if (Status status = check(api_.eventRecord(start_, stream_), "cuEventRecord"); !status.ok())
    return status;
  if (Status status = enqueue(request, *module); !status.ok())
    return status;
  if (Status status = check(api_.eventRecord(stop_, stream_), "cuEventRecord"); !status.ok())
    return status;
  if (Status status = check(api_.streamSynchronize(stream_), "the kernel failed"); !status.ok())
    return status;
  float milliseconds = 0;
  if (Status status =
          check(api_.eventElapsedTime(&milliseconds, start_, stop_), "cuEventElapsedTime");
      !status.ok())
    return status;
  seconds = double(milliseconds) * 1e-3;
  sampleClock();
  return {};
}

Status CudaDevice::timeBatch(const std::vector<LaunchRequest> &requests, bool cold,
                             double &secondsEach) {
  if (requests.empty())
    return {StatusCode::LaunchFailed, "the batch has no launches"};
  std::vector<LoadedModule *> modules(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i)
    if (Status status = prepare(requests[i], modules[i]); !status.ok())
      return status;

  GraphHolder holder{api_};
  if (Status status =
          check(api_.streamBeginCapture(stream_, kCaptureThreadLocal), "cuStreamBeginCapture");
      !status.ok())
    return status;
  Status queued;
  for (std::size_t i = 0; i < requests.size() && queued.ok(); ++i)
    queued = enqueue(requests[i], *modules[i]);
  const CuResult ended = api_.streamEndCapture(stream_, &holder.graph);
  if (!queued.ok())
    return queued;
  if (Status status = check(ended, "cuStreamEndCapture"); !status.ok())
    return status;
  if (Status status =
          check(api_.graphInstantiate(&holder.executable, holder.graph, 0), "cuGraphInstantiate");
      !status.ok())
    return status;
  if (Status status = check(api_.graphUpload(holder.executable, stream_), "cuGraphUpload");
      !status.ok())
    return status;
  if (Status status = prepareCache(cold); !status.ok())
    return status;
  if (Status status = check(api_.eventRecord(start_, stream_), "cuEventRecord"); !status.ok())
    return status;
  if (Status status = check(api_.graphLaunch(holder.executable, stream_), "cuGraphLaunch");
      !status.ok())
    return status;
  if (Status status = check(api_.eventRecord(stop_, stream_), "cuEventRecord"); !status.ok())
    return status;
  if (Status status = check(api_.streamSynchronize(stream_), "a kernel of the batch failed");
      !status.ok())
    return status;
  float milliseconds = 0;
  if (Status status =
          check(api_.eventElapsedTime(&milliseconds, start_, stop_), "cuEventElapsedTime");
      !status.ok())
    return status;
  secondsEach = double(milliseconds) * 1e-3 / double(requests.size());
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
