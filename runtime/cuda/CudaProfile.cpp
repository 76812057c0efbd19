// SPDX-License-Identifier: Apache-2.0
// What is known of a launch besides its time: resources and occupancy without counters, and
// hardware counters.
#include "runtime/cuda/CudaDevice.h"
#include "runtime/device/Check.h"

#include <algorithm>

namespace kopt::runtime::cuda {

namespace {

double roundUp(double value, double unit) {
  return unit * double(std::uint64_t((value + unit - 1) / unit));
}

} // namespace

/// The number of blocks that fit on a multiprocessor, for each resource alone. Granularities are
/// those of the toolkit's cuda_occupancy.h for compute capability 7.0 and later: registers are
/// allocated in units of 256 for each warp, on each of four partitions; shared memory in units of
/// 128 bytes (256 before 8.0), and the driver reserves some for itself.
void CudaDevice::occupancyLimits(const ModuleProperties &facts, double threads,
                                 double dynamicShared, Counters &out) const {
  const double warp = attribute(kWarpSize), maxThreads = attribute(kMaxThreadsPerMultiprocessor);
  const double registers = attribute(kMaxRegistersPerMultiprocessor);
  const double shared = attribute(kMaxSharedMemoryPerMultiprocessor);
  const double blocks = attribute(kMaxBlocksPerMultiprocessor);
  if (warp <= 0 || threads <= 0)
    return;
  constexpr double kPartitions = 4, kRegisterUnit = 256;
  const double sharedUnit = attribute(kComputeCapabilityMajor) >= 8 ? 128 : 256;
  const double warps = roundUp(threads, warp) / warp;
  const auto whole = [](double value) { return double(std::uint64_t(value)); };
  if (blocks > 0)
    out["launch__occupancy_limit_blocks"] = blocks;
  if (maxThreads > 0)
    out["launch__occupancy_limit_warps"] = whole(maxThreads / warp / warps);
  if (registers > 0 && facts.registers > 0) {
    const double warpRegisters = roundUp(facts.registers * warp, kRegisterUnit);
    const double fit = kPartitions * whole(registers / kPartitions / warpRegisters);
    out["launch__occupancy_limit_registers"] = whole(fit / warps);
  }
  const double used = roundUp(
      facts.sharedBytes + dynamicShared + attribute(kReservedSharedMemoryPerBlock), sharedUnit);
  if (shared > 0 && used > 0)
    out["launch__occupancy_limit_shared_mem"] = whole(shared / used);
}

Status CudaDevice::profile(const LaunchRequest &request, Counters &out, std::vector<LineCost> *) {
  LoadedModule *module = nullptr;
  KOPT_CHECK(prepare(request, module));
  const double threads = double(request.block[0]) * request.block[1] * request.block[2];
  const double blocks = double(request.grid[0]) * request.grid[1] * request.grid[2];
  int resident = 0;
  if (const CuResult result = api_.occupancyMaxActiveBlocks(&resident, module->function,
                                                            int(threads), request.sharedBytes);
      result != kSuccess)
    return {StatusCode::LaunchFailed,
            "no occupancy for this configuration: " + api_.describe(result)};
  const ModuleProperties &facts = module->properties;
  out["launch__registers_per_thread"] =
      std::max(16.0, double(facts.registers)); // like ncu, at least 16
  out["launch__shared_mem_per_block_static"] = facts.sharedBytes;
  out["launch__shared_mem_per_block_dynamic"] = request.sharedBytes;
  out["launch__block_size"] = threads;
  out["launch__grid_size"] = blocks;
  out["launch__thread_count"] = threads * blocks;
  out["launch__stack_size"] = double(stackBytes_);
  const double sms = attribute(kMultiprocessorCount);
  const double maxThreads = attribute(kMaxThreadsPerMultiprocessor);
  const double warp = attribute(kWarpSize);
  if (sms > 0 && resident > 0)
    out["launch__waves_per_multiprocessor"] = blocks / (sms * resident);
  if (maxThreads > 0 && warp > 0)
    out["sm__maximum_warps_per_active_cycle_pct"] =
        100 * (roundUp(threads, warp) / warp) * resident / (maxThreads / warp);
  occupancyLimits(facts, threads, request.sharedBytes, out);
  return {};
}

RangeProfiler *CudaDevice::profiler() {
  if (!profiler_ && noProfiler_.empty())
    profiler_ = RangeProfiler::open(context_, ordinal_, noProfiler_);
  return profiler_.get();
}

void CudaDevice::prepareCounters(const std::vector<std::string> &metrics) {
  if (profiler())
    profiler()->prepare(metrics);
}

Status CudaDevice::countHardware(const LaunchRequest &request, const CounterRequest &counters,
                                 Counters &out, std::string &why) {
  if (!profiler()) {
    why = noProfiler_;
    return {};
  }
  LoadedModule *module = nullptr;
  KOPT_CHECK(prepare(request, module));
  const RangeProfiler::Pass pass = {
      [&] {
        Status status = counters.restore();
        return status.ok() ? evictCache() : status;
      },
      [&] {
        Status status = enqueue(request, *module);
        return status.ok() ? check(api_.streamSynchronize(stream_), "the kernel failed") : status;
      }};
  Status status = profiler()->collect(counters.metrics, pass, out);
  // A failure of CUPTI is not the candidate's fault: the counters are absent, with the reason.
  if (status.code == StatusCode::DeviceError && usable_) {
    why = status.detail;
    return {};
  }
  return status;
}

} // namespace kopt::runtime::cuda
