// SPDX-License-Identifier: Apache-2.0
// What kopt's own kernels do: fill shared and local memory, empty the cache, keep the stream busy,
// write and examine device memory (MemoryKernels.h), and show that the device still works.
#include "runtime/cuda/CudaDevice.h"
#include "runtime/device/Check.h"

#include <algorithm>
#include <bit>

namespace kopt::runtime::cuda {

Status CudaDevice::loadOwn(const OwnKernel &kernel, OwnShape shape, CuFunction &out) {
  CuFunction &function = ownKernels_[{kernel.name, shape.localBytes}];
  if (!function) {
    CuModule module = nullptr;
    KOPT_CHECK(check(api_.moduleLoadData(&module, textOf(kernel, shape.localBytes).c_str()),
                     "cuModuleLoadData"));
    KOPT_CHECK(
        check(api_.moduleGetFunction(&function, module, kernel.name), "cuModuleGetFunction"));
    if (shape.sharedBytes > 0)
      KOPT_CHECK(check(
          api_.funcSetAttribute(function, kFunctionMaxDynamicSharedBytes, int(shape.sharedBytes)),
          "cuFuncSetAttribute"));
  }
  out = function;
  return {};
}

Status CudaDevice::launchLoaded(CuFunction function, OwnShape shape, void **arguments) {
  return check(api_.launchKernel(function, shape.blocks, 1, 1, shape.threads, 1, 1,
                                 shape.sharedBytes, stream_, arguments, nullptr),
               "cuLaunchKernel");
}

unsigned CudaDevice::processors(unsigned blocksEach) const {
  return blocksEach * std::max(1u, properties_.multiprocessors);
}

void CudaDevice::getReady() {
  stages();
  CuFunction loaded = nullptr;
  for (const OwnKernel *kernel : {&kWritePattern, &kFindPattern, &kDigest, &kWait})
    if (!loadOwn(*kernel, {}, loaded).ok())
      return;
}

Status CudaDevice::fillSharedMemory(std::uint32_t seed) {
  // No two of these blocks fit on a multiprocessor, so one block for each multiprocessor reaches
  // all of them.
  const std::uint32_t words = properties_.maxSharedPerBlock / 4;
  return words == 0 ? Status()
                    : launchOwn(kFillShared, {processors(1), 1024, 4 * words}, words, seed);
}

Status CudaDevice::fillLocalMemory(std::uint32_t bytes, std::uint32_t seed) {
  if (bytes == 0)
    return {};
  // Two such blocks fill a multiprocessor. Which of them run at the same time is not certain.
  return launchOwn(kFillLocal, {processors(4), 1024, 0, std::bit_ceil(std::max(bytes, 8u))}, seed,
                   std::uint64_t(0));
}

Status CudaDevice::keepBusy(std::uint64_t cycles) { return launchOwn(kWait, {1, 1}, cycles); }

Status CudaDevice::evictCache() {
  KOPT_CHECK(makeFlushBuffer());
  const OwnShape shape{processors(4), 256};
  KOPT_CHECK(launchOwn(kReadMemory, shape, flushBuffer_, std::uint64_t(flushBytes_ / 4)));
  if (attribute(kComputeCapabilityMajor) >= 8) // older GPUs have no discard instruction
    KOPT_CHECK(launchOwn(kDiscardMemory, shape, flushBuffer_, std::uint64_t(flushBytes_ / 128)));
  return check(api_.streamSynchronize(stream_), "the cache could not be emptied");
}

/// Launches one of the kernels that write and examine `words` words of memory.
Status CudaDevice::runOnMemory(const OwnKernel &kernel, Address base, std::uint64_t words,
                               Pattern pattern, std::uint32_t size, Address bits, Address out) {
  constexpr std::uint64_t kThreads = 256;
  if (words == 0)
    return {};
  const auto blocks =
      unsigned(std::min<std::uint64_t>(processors(8), (words + kThreads - 1) / kThreads));
  return launchOwn(kernel, {blocks, kThreads}, base, words, pattern.key,
                   pattern.inverted ? ~std::uint64_t(0) : 0, size, bits, out);
}

Status CudaDevice::writePattern(Address to, std::uint64_t words, Pattern pattern) {
  return runOnMemory(kWritePattern, to, words, pattern, 0, 0, 0);
}

/// Zeroed device memory that lives as long as this object.
class CudaDevice::Zeros {
public:
  explicit Zeros(CudaDevice &device) : device_(device) {}
  ~Zeros() {
    if (address_ && device_.usable())
      device_.release(address_);
  }
  Zeros(const Zeros &) = delete;
  Zeros &operator=(const Zeros &) = delete;

  Status make(std::uint64_t words) {
    KOPT_CHECK(device_.allocate(words * 8, address_));
    return device_.check(device_.api_.memsetD32Async(address_, 0, words * 2, device_.stream_),
                         "cuMemsetD32Async");
  }
  Status read(std::uint64_t from, std::uint64_t words, void *to) {
    KOPT_CHECK(device_.check(device_.api_.streamSynchronize(device_.stream_),
                             "memory could not be examined"));
    return device_.read(to, at(from), words * 8);
  }
  Address at(std::uint64_t word) const { return address_ + word * 8; }

private:
  CudaDevice &device_;
  Address address_ = 0;
};

Status CudaDevice::findPattern(Address at, std::uint64_t words, Pattern pattern, std::size_t size,
                               std::vector<std::uint64_t> &bits, std::uint64_t &count) {
  const std::uint64_t needed = (words * (8 / size) + 63) / 64;
  bits.assign(needed, 0);
  count = 0;
  Zeros found(*this); // the count, then the bits
  KOPT_CHECK(found.make(1 + needed));
  KOPT_CHECK(
      runOnMemory(kFindPattern, at, words, pattern, std::uint32_t(size), found.at(1), found.at(0)));
  KOPT_CHECK(found.read(0, 1, &count));
  return count == 0 ? Status() : found.read(1, needed, bits.data());
}

Status CudaDevice::digest(Address at, std::uint64_t words, std::uint64_t key, Digest &out) {
  Zeros sums(*this);
  KOPT_CHECK(sums.make(out.size()));
  KOPT_CHECK(runOnMemory(kDigest, at, words, {key, false}, 0, 0, sums.at(0)));
  return sums.read(0, out.size(), out.data());
}

Status CudaDevice::probe() {
  constexpr unsigned kThreads = 256, kBlocks = 256, kCount = kThreads * kBlocks;
  std::vector<std::uint32_t> input(kCount), output(kCount);
  for (std::uint32_t i = 0; i < kCount; ++i)
    input[i] = ~i * 40503u;
  Zeros memory(*this); // the input, then the output, each of kCount half words
  KOPT_CHECK(memory.make(kCount));
  KOPT_CHECK(write(memory.at(0), input.data(), kCount * sizeof input[0]));
  KOPT_CHECK(launchOwn(kProbe, {kBlocks, kThreads}, memory.at(0), memory.at(kCount / 2),
                       std::uint64_t(kCount)));
  KOPT_CHECK(memory.read(kCount / 2, kCount / 2, output.data()));
  for (std::uint32_t i = 0; i < kCount; ++i)
    if (output[i] != (i * 2654435761u ^ input[i]))
      return {StatusCode::DeviceError, "the probe kernel wrote a wrong value at " +
                                           std::to_string(i) + " of " + std::to_string(kCount)};
  return {};
}

} // namespace kopt::runtime::cuda
