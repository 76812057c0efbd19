// SPDX-License-Identifier: Apache-2.0
// What is known of a launch beside its time: resources and occupancy without counters, and hardware counters.
#include "runtime/cuda/CudaDevice.h"

#include <algorithm>
#include <cstdio>

namespace kopt::runtime::cuda {

namespace {

/// Reads `count` words from `base` on through L2 and writes none of them: what was in L2 goes, and nothing that is written
/// back later takes its place, as it would after a memset.
constexpr const char *kReadKernel = R"(.version 6.0
.target sm_50
.address_size 64
.visible .entry kopt_read(.param .u64 base, .param .u64 count)
{
  .reg .pred %p<3>;
  .reg .b32 %r<8>;
  .reg .b64 %d<8>;
  ld.param.u64 %d1, [base];
  ld.param.u64 %d2, [count];
  cvta.to.global.u64 %d1, %d1;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mov.u32 %r4, %nctaid.x;
  mad.wide.u32 %d3, %r1, %r2, 0;
  cvt.u64.u32 %d4, %r3;
  add.u64 %d3, %d3, %d4;
  mul.wide.u32 %d5, %r4, %r2;
  mov.u32 %r5, 0;
NEXT:
  setp.ge.u64 %p1, %d3, %d2;
  @%p1 bra DONE;
  shl.b64 %d6, %d3, 2;
  add.u64 %d6, %d1, %d6;
  ld.global.cg.u32 %r6, [%d6];
  xor.b32 %r5, %r5, %r6;
  add.u64 %d3, %d3, %d5;
  bra NEXT;
DONE:
  setp.ne.u32 %p2, %r5, 0x9e3779b9;
  @%p2 bra END;
  st.global.u32 [%d1], %r5;
END:
  ret;
}
)";

/// Drops `count` lines of 128 bytes from `base` on: what was read before leaves L2 empty, as Nsight Compute has it.
constexpr const char *kDiscardKernel = R"(.version 7.4
.target sm_80
.address_size 64
.visible .entry kopt_discard(.param .u64 base, .param .u64 count)
{
  .reg .pred %p<2>;
  .reg .b32 %r<5>;
  .reg .b64 %d<7>;
  ld.param.u64 %d1, [base];
  ld.param.u64 %d2, [count];
  cvta.to.global.u64 %d1, %d1;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mov.u32 %r4, %nctaid.x;
  mad.wide.u32 %d3, %r1, %r2, 0;
  cvt.u64.u32 %d4, %r3;
  add.u64 %d3, %d3, %d4;
  mul.wide.u32 %d5, %r4, %r2;
NEXT:
  setp.ge.u64 %p1, %d3, %d2;
  @%p1 bra END;
  shl.b64 %d6, %d3, 7;
  add.u64 %d6, %d1, %d6;
  discard.global.L2 [%d6], 128;
  add.u64 %d3, %d3, %d5;
  bra NEXT;
END:
  ret;
}
)";

double roundUp(double value, double unit) {
  return unit * double(std::uint64_t((value + unit - 1) / unit));
}

} // namespace

/// Blocks that fit on a multiprocessor by each resource alone. Granularities are those of the toolkit's
/// cuda_occupancy.h for compute capability 7.0 and later: registers by 256 a warp on each of four partitions, shared
/// memory by 128 bytes (256 before 8.0) with what the driver reserves for itself.
void CudaDevice::occupancyLimits(const ModuleProperties &facts, double threads, double dynamicShared,
                                 Counters &out) const {
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

Status CudaDevice::profile(const LaunchRequest &request, Counters &out) {
  LoadedModule *module = nullptr;
  if (Status status = prepare(request, module); !status.ok())
    return status;
  const double threads = double(request.block[0]) * request.block[1] * request.block[2];
  const double blocks = double(request.grid[0]) * request.grid[1] * request.grid[2];
  int resident = 0;
  if (const CuResult result = api_.occupancyMaxActiveBlocks(&resident, module->function,
                                                            int(threads), request.sharedBytes);
      result != kSuccess)
    return {StatusCode::LaunchFailed,
            "no occupancy for this configuration: " + api_.describe(result)};
  const ModuleProperties &facts = module->properties;
  // As they are allocated, which is what ncu means by it: for a warp 256 at a time.
  out["launch__registers_per_thread"] = roundUp(facts.registers, 8);
  out["launch__shared_mem_per_block_static"] = facts.sharedBytes;
  out["launch__shared_mem_per_block_dynamic"] = request.sharedBytes;
  out["launch__block_size"] = threads;
  out["launch__grid_size"] = blocks;
  out["launch__thread_count"] = threads * blocks;
  out["launch__stack_size"] = facts.localBytes;
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

Status CudaDevice::loadOwnKernel(const char *ptx, const char *name, CuFunction &function) {
  if (function)
    return {};
  CuModule module = nullptr;
  if (Status status = check(api_.moduleLoadData(&module, ptx), "cuModuleLoadData"); !status.ok())
    return status;
  return check(api_.moduleGetFunction(&function, module, name), "cuModuleGetFunction");
}

Status CudaDevice::evictCache() {
  if (Status status = makeFlushBuffer(); !status.ok())
    return status;
  const auto sweep = [&](CuFunction function, std::uint64_t count) {
    CuDevicePointer base = flushBuffer_;
    void *arguments[] = {&base, &count};
    const unsigned blocks = 4 * std::max(1u, properties_.multiprocessors);
    return check(api_.launchKernel(function, blocks, 1, 1, 256, 1, 1, 0, stream_, arguments, nullptr), "cuLaunchKernel");
  };
  if (Status status = loadOwnKernel(kReadKernel, "kopt_read", readKernel_); !status.ok())
    return status;
  if (Status status = sweep(readKernel_, flushBytes_ / 4); !status.ok())
    return status;
  if (attribute(kComputeCapabilityMajor) >= 8) { // older ones have no instruction for it
    if (Status status = loadOwnKernel(kDiscardKernel, "kopt_discard", discardKernel_); !status.ok())
      return status;
    if (Status status = sweep(discardKernel_, flushBytes_ / 128); !status.ok())
      return status;
  }
  return check(api_.streamSynchronize(stream_), "the cache could not be emptied");
}

Status CudaDevice::countHardware(const LaunchRequest &request, const CounterRequest &counters, Counters &out,
                         std::string &why) {
  if (!profiler_ && noProfiler_.empty())
    profiler_ = RangeProfiler::open(context_, ordinal_, noProfiler_);
  if (!profiler_) {
    why = noProfiler_;
    return {};
  }
  LoadedModule *module = nullptr;
  if (Status status = prepare(request, module); !status.ok())
    return status;
  const RangeProfiler::Pass pass = {
      [&] {
        Status status = counters.restore();
        return status.ok() ? evictCache() : status;
      },
      [&] {
        Status status = enqueue(request, *module);
        return status.ok() ? check(api_.streamSynchronize(stream_), "the kernel failed") : status;
      }};
  Status status = profiler_->collect(counters.metrics, pass, out);
  // What CUPTI cannot do is nobody's fault: there are no counters then, and the reason.
  if (status.code == StatusCode::DeviceError && usable_) {
    why = status.detail;
    return {};
  }
  return status;
}

} // namespace kopt::runtime::cuda
