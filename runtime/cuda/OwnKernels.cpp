// SPDX-License-Identifier: Apache-2.0
// kopt's own kernels, which run before a candidate's. They are PTX, which the driver compiles, so
// they need no toolkit and run on any GPU.
#include "runtime/cuda/CudaDevice.h"
#include "runtime/device/Check.h"

#include <algorithm>
#include <bit>
#include <string>

namespace kopt::runtime::cuda {

namespace {

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

/// Writes unpredictable bits to `words` words of the block's dynamic shared memory.
constexpr const char *kFillSharedKernel = R"(.version 6.0
.target sm_50
.address_size 64
.extern .shared .align 4 .b8 kopt_scratch[];
.visible .entry kopt_fill_shared(.param .u32 words, .param .u32 seed)
{
  .reg .pred %p<2>;
  .reg .b32 %r<10>;
  ld.param.u32 %r1, [words];
  ld.param.u32 %r2, [seed];
  mov.u32 %r3, %tid.x;
  mov.u32 %r4, %ntid.x;
  mov.u32 %r5, %ctaid.x;
  mad.lo.u32 %r2, %r2, 0x9e3779b1, %r5;
  mov.u32 %r6, kopt_scratch;
NEXT:
  setp.ge.u32 %p1, %r3, %r1;
  @%p1 bra END;
  xor.b32 %r7, %r3, %r2;
  mul.lo.u32 %r7, %r7, 0x85ebca77;
  shr.u32 %r8, %r7, 15;
  xor.b32 %r7, %r7, %r8;
  mul.lo.u32 %r7, %r7, 0xc2b2ae3d;
  shl.b32 %r9, %r3, 2;
  add.u32 %r9, %r6, %r9;
  st.volatile.shared.u32 [%r9], %r7;
  add.u32 %r3, %r3, %r4;
  bra NEXT;
END:
  ret;
}
)";

/// Writes unpredictable bits to each word of local memory, whose size is to be put in. `never` is
/// 0: what is read for other numbers keeps the compiler from leaving out the stores.
constexpr const char *kFillLocalKernel = R"(.version 6.0
.target sm_50
.address_size 64
.visible .entry kopt_fill_local(.param .u32 seed, .param .u64 never)
{
  .local .align 8 .b8 depot[BYTES];
  .reg .pred %p<3>;
  .reg .b32 %r<10>;
  .reg .b64 %d<8>;
  ld.param.u32 %r1, [seed];
  ld.param.u64 %d1, [never];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %ctaid.x;
  mad.lo.u32 %r1, %r1, 0x9e3779b1, %r3;
  mad.lo.u32 %r1, %r2, 0x27d4eb2f, %r1;
  mov.u64 %d2, depot;
  add.u64 %d3, %d2, BYTES;
  mov.u64 %d4, %d2;
NEXT:
  add.u32 %r1, %r1, 0x165667b1;
  mul.lo.u32 %r4, %r1, 0x85ebca77;
  shr.u32 %r5, %r4, 15;
  xor.b32 %r4, %r4, %r5;
  mul.lo.u32 %r4, %r4, 0xc2b2ae3d;
  st.local.u32 [%d4], %r4;
  add.u64 %d4, %d4, 4;
  setp.lt.u64 %p1, %d4, %d3;
  @%p1 bra NEXT;
  setp.eq.u64 %p2, %d1, 0;
  @%p2 bra END;
  and.b64 %d5, %d1, 4;
  add.u64 %d5, %d2, %d5;
  ld.local.u32 %r6, [%d5];
  cvta.to.global.u64 %d6, %d1;
  st.global.u32 [%d6], %r6;
END:
  ret;
}
)";

/// Returns after so many cycles of the multiprocessor's clock. Touches no memory.
constexpr const char *kWaitKernel = R"(.version 6.0
.target sm_50
.address_size 64
.visible .entry kopt_wait(.param .u64 cycles)
{
  .reg .pred %p<2>;
  .reg .b64 %d<5>;
  ld.param.u64 %d1, [cycles];
  mov.u64 %d2, %clock64;
NEXT:
  mov.u64 %d3, %clock64;
  sub.u64 %d4, %d3, %d2;
  setp.lt.u64 %p1, %d4, %d1;
  @%p1 bra NEXT;
  ret;
}
)";

} // namespace

Status CudaDevice::loadOwnKernel(const char *ptx, const char *name, CuFunction &function) {
  if (function)
    return {};
  CuModule module = nullptr;
  KOPT_CHECK(check(api_.moduleLoadData(&module, ptx), "cuModuleLoadData"));
  return check(api_.moduleGetFunction(&function, module, name), "cuModuleGetFunction");
}

void CudaDevice::getReady() {
  stages();
  for (MemoryKernel *kernel : {&patternWriter_, &patternFinder_, &digester_})
    if (!loadMemoryKernel(*kernel).ok())
      return;
  static_cast<void>(loadOwnKernel(kWaitKernel, "kopt_wait", waitKernel_));
}

Status CudaDevice::fillSharedMemory(std::uint32_t seed) {
  const int bytes = int(properties_.maxSharedPerBlock) / 4 * 4;
  if (bytes <= 0)
    return {};
  if (!fillKernel_) {
    KOPT_CHECK(loadOwnKernel(kFillSharedKernel, "kopt_fill_shared", fillKernel_));
    KOPT_CHECK(check(api_.funcSetAttribute(fillKernel_, kFunctionMaxDynamicSharedBytes, bytes),
                     "cuFuncSetAttribute"));
  }
  std::uint32_t words = std::uint32_t(bytes) / 4;
  void *arguments[] = {&words, &seed};
  // No two of these blocks fit on a multiprocessor, so one block for each multiprocessor reaches
  // all of them.
  return check(api_.launchKernel(fillKernel_, std::max(1u, properties_.multiprocessors), 1, 1, 1024,
                                 1, 1, unsigned(bytes), stream_, arguments, nullptr),
               "cuLaunchKernel");
}

Status CudaDevice::fillLocalMemory(std::uint32_t bytes, std::uint32_t seed) {
  constexpr std::uint32_t kThreads = 1024;
  if (bytes == 0)
    return {};
  const std::uint32_t size = std::bit_ceil(std::max(bytes, 8u));
  CuFunction &function = fillLocalKernels_[size];
  if (!function) {
    std::string ptx = kFillLocalKernel;
    for (std::size_t at = ptx.find("BYTES"); at != ptx.npos; at = ptx.find("BYTES", at))
      ptx.replace(at, 5, std::to_string(size));
    KOPT_CHECK(loadOwnKernel(ptx.c_str(), "kopt_fill_local", function));
  }
  std::uint64_t never = 0;
  void *arguments[] = {&seed, &never};
  // Two such blocks fill a multiprocessor. Which of them run at the same time is not certain.
  return check(api_.launchKernel(function, 4 * std::max(1u, properties_.multiprocessors), 1, 1,
                                 kThreads, 1, 1, 0, stream_, arguments, nullptr),
               "cuLaunchKernel");
}

Status CudaDevice::keepBusy(std::uint64_t cycles) {
  KOPT_CHECK(loadOwnKernel(kWaitKernel, "kopt_wait", waitKernel_));
  void *arguments[] = {&cycles};
  return check(api_.launchKernel(waitKernel_, 1, 1, 1, 1, 1, 1, 0, stream_, arguments, nullptr),
               "cuLaunchKernel");
}

Status CudaDevice::evictCache() {
  KOPT_CHECK(makeFlushBuffer());
  const auto sweep = [&](CuFunction function, std::uint64_t count) {
    CuDevicePointer base = flushBuffer_;
    void *arguments[] = {&base, &count};
    const unsigned blocks = 4 * std::max(1u, properties_.multiprocessors);
    return check(
        api_.launchKernel(function, blocks, 1, 1, 256, 1, 1, 0, stream_, arguments, nullptr),
        "cuLaunchKernel");
  };
  KOPT_CHECK(loadOwnKernel(kReadKernel, "kopt_read", readKernel_));
  KOPT_CHECK(sweep(readKernel_, flushBytes_ / 4));
  if (attribute(kComputeCapabilityMajor) >= 8) { // older GPUs have no discard instruction
    KOPT_CHECK(loadOwnKernel(kDiscardKernel, "kopt_discard", discardKernel_));
    KOPT_CHECK(sweep(discardKernel_, flushBytes_ / 128));
  }
  return check(api_.streamSynchronize(stream_), "the cache could not be emptied");
}

} // namespace kopt::runtime::cuda
