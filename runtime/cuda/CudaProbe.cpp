// SPDX-License-Identifier: Apache-2.0
// The known-good kernel that distinguishes a candidate's failure from the device's.
#include "runtime/cuda/CudaDevice.h"
#include "runtime/device/Check.h"

#include <vector>

namespace kopt::runtime::cuda {

namespace {

// out[i] = i * 2654435761 ^ in[i] for every i below n. Written for the oldest architecture that
// current drivers compile for, so every later one runs it too.
constexpr char kProbe[] = R"(.version 6.0
.target sm_50
.address_size 64
.visible .entry kopt_probe(.param .u64 in, .param .u64 out, .param .u32 n)
{
  .reg .pred %p;
  .reg .b32 %r<8>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p, %r5, %r1;
  @%p bra DONE;
  cvta.to.global.u64 %rd1, %rd1;
  cvta.to.global.u64 %rd2, %rd2;
  mul.wide.u32 %rd3, %r5, 4;
  add.u64 %rd4, %rd1, %rd3;
  add.u64 %rd5, %rd2, %rd3;
  ld.global.u32 %r6, [%rd4];
  mul.lo.u32 %r7, %r5, 2654435761;
  xor.b32 %r7, %r7, %r6;
  st.global.u32 [%rd5], %r7;
DONE:
  ret;
}
)";

constexpr unsigned kThreads = 256, kBlocks = 256, kCount = kThreads * kBlocks;

} // namespace

Status CudaDevice::probe() {
  CuModule module = nullptr;
  KOPT_CHECK(check(api_.moduleLoadData(&module, kProbe), "the probe kernel cannot be loaded"));
  CuFunction function = nullptr;
  Status status =
      check(api_.moduleGetFunction(&function, module, "kopt_probe"), "the probe kernel is missing");
  std::vector<std::uint32_t> input(kCount), output(kCount);
  for (std::uint32_t i = 0; i < kCount; ++i)
    input[i] = ~i * 40503u;
  Address in = 0, out = 0;
  const std::size_t bytes = kCount * sizeof(std::uint32_t);
  if (status.ok())
    status = allocate(bytes, in);
  if (status.ok())
    status = allocate(bytes, out);
  if (status.ok())
    status = write(in, input.data(), bytes);
  if (status.ok())
    status = write(out, output.data(), bytes);
  if (status.ok()) {
    std::uint32_t count = kCount;
    void *arguments[] = {&in, &out, &count};
    status = check(
        api_.launchKernel(function, kBlocks, 1, 1, kThreads, 1, 1, 0, stream_, arguments, nullptr),
        "the probe kernel cannot be launched");
  }
  if (status.ok())
    status = check(api_.streamSynchronize(stream_), "the probe kernel failed");
  if (status.ok())
    status = read(output.data(), out, bytes);
  for (const Address address : {in, out})
    if (address != 0 && usable_)
      static_cast<void>(release(address)); // the earlier failure is the one to report
  if (usable_)
    api_.moduleUnload(module);
  for (std::uint32_t i = 0; status.ok() && i < kCount; ++i)
    if (output[i] != (i * 2654435761u ^ input[i]))
      return {StatusCode::DeviceError, "the probe kernel wrote a wrong value at " +
                                           std::to_string(i) + " of " + std::to_string(kCount)};
  return status;
}

} // namespace kopt::runtime::cuda
