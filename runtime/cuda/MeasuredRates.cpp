// SPDX-License-Identifier: Apache-2.0
// What the GPU reaches: bytes of DRAM, fused multiply-adds and warp instructions a second, with
// kernels of kopt's own that do nothing else. Each is the best of several launches between two
// events. PTX, as in OwnKernels.h.
#include "runtime/cuda/CudaDevice.h"
#include "runtime/device/Check.h"

#include <algorithm>

namespace kopt::runtime::cuda {

namespace {

constexpr unsigned kThreads = 256;
/// Accesses of 16 bytes that a thread has under way at a time.
constexpr unsigned kAccesses = 4;
constexpr unsigned kBytesEach = 16;
/// Independent results of each thread, so that no instruction waits for the one before it.
constexpr unsigned kChains = 8;
/// Instructions of one round of a loop that count. The loop's own three do not, so a rate is at
/// most 1.2 % less than what was issued.
constexpr unsigned kBody = 256;

/// A launch takes about this long: the ramps at its ends are then below 1 % of it.
constexpr double kLaunchSeconds = 2e-3;
constexpr double kDramSeconds = 0.5e-3;
/// The first kernel runs for so long that the clocks have risen.
constexpr double kWarmUpSeconds = 20e-3;
constexpr int kLaunches = 4;
constexpr unsigned kFirstRounds = 4, kMostRounds = 1u << 16;

constexpr std::size_t kLeastBytes = 64u << 20, kMostBytes = 512u << 20;
/// Times the L2 cache that the buffer has to have: little of it is then found in L2 by the next
/// pass, and what a pass leaves there unwritten is what it found there.
constexpr std::size_t kTimesCache = 4;

constexpr unsigned kBlocksOfStreams = 8; ///< for each multiprocessor

constexpr const char *kFp32 = "kopt_rate_fp32", *kFp64 = "kopt_rate_fp64",
                     *kMixed = "kopt_rate_instructions", *kRead = "kopt_rate_read",
                     *kCopy = "kopt_rate_copy";
constexpr const char *kHead = ".version 6.0\n.target sm_50\n.address_size 64\n";

/// A kernel that passes `passes` times over `steps` pieces of the buffer, one piece at a time,
/// with kAccesses accesses of each thread. `stores`: copies them to the second half, else reads
/// them alone.
std::string streamKernel(const std::string &name, bool stores) {
  std::string text = ".visible .entry " + name +
                     R"((.param .u64 from, .param .u64 to, .param .u32 steps, .param .u32 passes)
{
  .reg .pred %p<3>;
  .reg .b32 %r<9>, %v<16>;
  .reg .b64 %d<8>;
  ld.param.u64 %d1, [from];
  ld.param.u64 %d2, [to];
  ld.param.u32 %r1, [steps];
  ld.param.u32 %r2, [passes];
  cvta.to.global.u64 %d1, %d1;
  cvta.to.global.u64 %d2, %d2;
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mov.u32 %r5, %tid.x;
  mov.u32 %r6, %nctaid.x;
  mad.lo.u32 %r5, %r3, %r4, %r5;
  mul.lo.u32 %r6, %r6, %r4;
  mul.wide.u32 %d3, %r5, 16;
  mul.wide.u32 %d4, %r6, 16;
  mov.u32 %r8, 0;
PASS:
  add.u64 %d5, %d1, %d3;
  add.u64 %d6, %d2, %d3;
  mov.u32 %r7, 0;
STEP:
)";
  const auto vector = [](unsigned access) {
    std::string list;
    for (unsigned i = 0; i < 4; ++i)
      list += (i ? ", %v" : "%v") + std::to_string(4 * access + i);
    return "{" + list + "}";
  };
  for (unsigned access = 0; access < kAccesses; ++access)
    text += "  ld.global.cg.v4.u32 " + vector(access) + ", [%d5];\n  add.u64 %d5, %d5, %d4;\n";
  for (unsigned access = 0; access < kAccesses; ++access)
    if (stores)
      text += "  st.global.cg.v4.u32 [%d6], " + vector(access) + ";\n  add.u64 %d6, %d6, %d4;\n";
    else
      for (unsigned i = 0; i < 4; ++i)
        text += "  xor.b32 %r8, %r8, %v" + std::to_string(4 * access + i) + ";\n";
  text += R"(  add.u32 %r7, %r7, 1;
  setp.lt.u32 %p0, %r7, %r1;
  @%p0 bra STEP;
  sub.u32 %r2, %r2, 1;
  setp.ne.u32 %p1, %r2, 0;
  @%p1 bra PASS;
)";
  if (!stores) // never so: the buffer is zero
    text += "  setp.ne.u32 %p2, %r8, 0x9e3779b9;\n  @%p2 bra END;\n  st.global.u32 [%d1], %r8;\n";
  return text + "END:\n  ret;\n}\n";
}

/// A kernel that makes kBody instructions in each of `rounds` rounds. `type` is that of its fused
/// multiply-adds; `mixed`: every other instruction is one of integers, so that neither kind's own
/// units limit the rate. The integers' function is one that no two of them can be merged in.
std::string arithmeticKernel(const std::string &name, const std::string &type,
                             const std::string &half, bool mixed) {
  std::string text = ".visible .entry " + name + "(.param .u64 out, .param .u32 rounds)\n{\n" +
                     "  .reg .pred %p<2>;\n  .reg .b32 %r<" + std::to_string(8 + kChains) +
                     ">;\n  .reg ." + type + " %a<" + std::to_string(2 + kChains) +
                     ">;\n  .reg .b64 %d<2>;\n" + R"(  ld.param.u64 %d1, [out];
  ld.param.u32 %r0, [rounds];
  cvta.to.global.u64 %d1, %d1;
  mov.u32 %r1, %tid.x;
  mul.lo.u32 %r2, %r1, 0x9e3779b1;
  mul.lo.u32 %r3, %r1, 0x85ebca77;
  mul.lo.u32 %r4, %r1, 0xc2b2ae3d;
)";
  text += "  cvt.rn." + type + ".u32 %a0, %r1;\n";
  const auto real = [](unsigned chain) { return "%a" + std::to_string(2 + chain); };
  const auto whole = [](unsigned chain) { return "%r" + std::to_string(8 + chain); };
  for (unsigned chain = 0; chain < kChains; ++chain)
    text += "  add.u32 " + whole(chain) + ", %r2, " + std::to_string(chain) + ";\n  cvt.rn." +
            type + ".u32 " + real(chain) + ", " + whole(chain) + ";\n";
  text += "NEXT:\n";
  for (unsigned i = 0; i < kBody; ++i) {
    const unsigned chain = (mixed ? i / 2 : i) % kChains;
    text += mixed && i % 2 ? "  lop3.b32 " + whole(chain) + ", " + whole(chain) + ", " +
                                 (i % 4 == 1 ? "%r3" : "%r4") + ", %r2, 0xE8;\n"
                           : "  fma.rn." + type + " " + real(chain) + ", " + real(chain) + ", " +
                                 half + ", %a0;\n";
  }
  text += "  sub.u32 %r0, %r0, 1;\n  setp.ne.u32 %p0, %r0, 0;\n  @%p0 bra NEXT;\n";
  for (unsigned chain = 1; chain < kChains; ++chain)
    text += "  add." + type + " %a2, %a2, " + real(chain) + ";\n  add.u32 %r8, %r8, " +
            whole(chain) + ";\n";
  // Never so, which the compiler does not know.
  return text + "  cvt.rzi.s32." + type +
         " %r5, %a2;\n  add.u32 %r5, %r5, %r8;\n  setp.ne.u32 %p1, %r5, 0x9e3779b9;\n"
         "  @%p1 bra END;\n  st.global.u32 [%d1], %r5;\nEND:\n  ret;\n}\n";
}

} // namespace

Status CudaDevice::timeOwn(CuFunction function, unsigned blocks, void **arguments,
                           double &seconds) {
  const auto launch = [&] { return launchLoaded(function, {blocks, kThreads}, arguments); };
  const Status status = secondsOf(false, launch, seconds);
  seconds = std::max(1e-6, seconds); // the resolution of an event is 0.5 us
  return status;
}

Status CudaDevice::bestRate(CuFunction function, unsigned blocks, void **arguments,
                            std::uint32_t &rounds, const RatePlan &plan, double &rate) {
  double together = 0, seconds = 0;
  rounds = kFirstRounds;
  for (int launches = 0; launches <= kLaunches || together < plan.leastSeconds; ++launches) {
    KOPT_CHECK(timeOwn(function, blocks, arguments, seconds));
    if (launches > 0) // the first launch only shows how many rounds there have to be
      rate = std::max(rate, plan.perRound * rounds / seconds);
    else
      rounds = std::uint32_t(std::clamp(rounds * plan.launchSeconds / seconds, double(kFirstRounds),
                                        double(kMostRounds)));
    together += seconds;
  }
  return {};
}

Status CudaDevice::measureArithmetic(CuModule module, Address scratch, MeasuredRates &out) {
  const unsigned perProcessor =
      std::max(1u, unsigned(std::max(0, attribute(kMaxThreadsPerMultiprocessor))) / kThreads);
  const unsigned blocks = perProcessor * std::max(1u, properties_.multiprocessors);
  const double each = double(blocks) * kThreads * kBody;
  const double warpSize = std::max(1, attribute(kWarpSize));
  struct Kernel {
    const char *name;
    double perRound, leastSeconds;
    double MeasuredRates::*rate;
  };
  const Kernel kernels[] = {{kFp32, 2 * each, kWarmUpSeconds, &MeasuredRates::fp32},
                            {kFp64, 2 * each, 0, &MeasuredRates::fp64},
                            {kMixed, each / warpSize, 0, &MeasuredRates::instructions}};
  for (const Kernel &kernel : kernels) {
    CuFunction function = nullptr;
    KOPT_CHECK(
        check(api_.moduleGetFunction(&function, module, kernel.name), "cuModuleGetFunction"));
    std::uint32_t rounds = 0;
    void *arguments[] = {&scratch, &rounds};
    KOPT_CHECK(bestRate(function, blocks, arguments, rounds,
                        {kernel.perRound, kLaunchSeconds, kernel.leastSeconds}, out.*kernel.rate));
  }
  return {};
}

Status CudaDevice::measureDram(CuModule module, MeasuredRates &out) {
  const unsigned blocks = kBlocksOfStreams * std::max(1u, properties_.multiprocessors);
  const std::size_t step = std::size_t(blocks) * kThreads * kAccesses * kBytesEach;
  const std::size_t wanted =
      std::clamp(kTimesCache * std::size_t(properties_.l2Bytes), kLeastBytes, kMostBytes);
  const std::size_t half = wanted / 2 / step * step;
  if (half == 0 || 2 * half < (kTimesCache - 1) * std::size_t(properties_.l2Bytes)) {
    out.missing =
        "the bandwidth of the DRAM: the L2 cache is too large for the buffer that it would "
        "be measured with";
    return {};
  }
  if (2 * half > properties_.memoryBytes / 8) {
    out.missing = "the bandwidth of the DRAM: the device has too little memory";
    return {};
  }
  Address from = 0;
  if (Status status = allocate(2 * half, from); status.code == StatusCode::NoMemory) {
    out.missing = "the bandwidth of the DRAM: " + status.detail;
    return {};
  } else if (!status.ok()) {
    return status;
  }
  Address to = from + half;
  Status status = check(api_.memsetD32Async(from, 0, 2 * half / 4, stream_), "cuMemsetD32Async");
  // A kernel that only reads may get more than one that copies, and a ceiling has to be above both.
  for (const char *name : {kRead, kCopy}) {
    CuFunction function = nullptr;
    if (status.ok())
      status = check(api_.moduleGetFunction(&function, module, name), "cuModuleGetFunction");
    const bool copies = name == kCopy;
    std::uint32_t steps = std::uint32_t((copies ? half : 2 * half) / step), passes = 0;
    void *arguments[] = {&from, &to, &steps, &passes};
    if (status.ok())
      status = bestRate(function, blocks, arguments, passes, {2.0 * double(half), kDramSeconds, 0},
                        copies ? out.dramCopyBytes : out.dramBytes);
  }
  out.dramBytes = std::max(out.dramBytes, out.dramCopyBytes);
  if (usable_)
    if (const Status released = release(from); status.ok())
      status = released;
  return status;
}

Status CudaDevice::measureRates(MeasuredRates &out) {
  out = {};
  std::string text = kHead;
  text += arithmeticKernel(kFp32, "f32", "0f3F000000", false);
  text += arithmeticKernel(kFp64, "f64", "0d3FE0000000000000", false);
  text += arithmeticKernel(kMixed, "f32", "0f3F000000", true);
  text += streamKernel(kRead, false);
  text += streamKernel(kCopy, true);
  CuModule module = nullptr;
  if (const CuResult result = api_.moduleLoadData(&module, text.c_str()); result != kSuccess) {
    out.missing = "all rates: the driver does not load the kernels that measure them: " +
                  api_.describe(result);
    return {};
  }
  Address scratch = 0;
  Status status = allocate(kBytesEach, scratch);
  if (status.ok())
    status = measureArithmetic(module, scratch, out);
  if (status.ok())
    status = measureDram(module, out);
  if (usable_) {
    if (scratch != 0)
      static_cast<void>(release(scratch)); // an earlier failure is the one to report
    api_.moduleUnload(module);
  }
  return status;
}

} // namespace kopt::runtime::cuda
