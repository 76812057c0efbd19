// SPDX-License-Identifier: Apache-2.0
// The kernels that write and examine device memory (MemoryKernels.h). They are PTX, as those in
// OwnKernels.cpp.
#include "runtime/cuda/CudaDevice.h"
#include "runtime/device/Check.h"

#include <algorithm>
#include <string>

namespace kopt::runtime::cuda {

namespace {

// Each kernel has the parameters base, words, key, flip, size, bits and out. Thread by thread it
// takes the words %word = 0, 1, ... of the memory at %base. What the kernels share stands in pieces
// that are put in for their names.

constexpr const char *kBegin = R"(.version 6.0
.target sm_50
.address_size 64
.visible .entry NAME(.param .u64 base, .param .u64 words, .param .u64 key, .param .u64 flip,
                     .param .u32 size, .param .u64 bits, .param .u64 out)
{
  .reg .pred %p<4>;
  .reg .b32 %r<12>;
  .reg .b64 %d<16>, %base, %words, %word, %key, %flip, %step, %at, %x, %t;
  ld.param.u64 %base, [base];
  ld.param.u64 %words, [words];
  ld.param.u64 %key, [key];
  ld.param.u64 %flip, [flip];
  cvta.to.global.u64 %base, %base;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mov.u32 %r4, %nctaid.x;
  mul.wide.u32 %word, %r1, %r2;
  cvt.u64.u32 %t, %r3;
  add.u64 %word, %word, %t;
  mul.wide.u32 %step, %r4, %r2;
)";

/// The loop's head: %at is the address of the word, %x what drawnBits() is for it.
constexpr const char *kNext = R"(
NEXT:
  setp.ge.u64 %p1, %word, %words;
  @%p1 bra END;
  shl.b64 %at, %word, 3;
  add.u64 %at, %base, %at;
  add.u64 %x, %word, 1;
  mul.lo.u64 %x, %x, 0x9e3779b97f4a7c15;
  add.u64 %x, %x, %key;
MIX_X
)";

/// mixedBits() of a register.
constexpr const char *kMix = R"(
  shr.u64 %t, REG, 30;
  xor.b64 REG, REG, %t;
  mul.lo.u64 REG, REG, 0xbf58476d1ce4e5b9;
  shr.u64 %t, REG, 27;
  xor.b64 REG, REG, %t;
  mul.lo.u64 REG, REG, 0x94d049bb133111eb;
  shr.u64 %t, REG, 31;
  xor.b64 REG, REG, %t;
)";

constexpr const char *kLoop = R"(
  add.u64 %word, %word, %step;
  bra NEXT;
END:
)";

constexpr const char *kWrite = R"(BEGIN
NEXT_WORD
  xor.b64 %x, %x, %flip;
  st.global.u64 [%at], %x;
LOOP
  ret;
}
)";

/// For each element: its bits, %d2, differ from the pattern's nowhere. %d5 is its index.
constexpr const char *kFind = R"(BEGIN
  ld.param.u32 %r5, [size];
  ld.param.u64 %d8, [bits];
  ld.param.u64 %d9, [out];
  cvta.to.global.u64 %d8, %d8;
  cvta.to.global.u64 %d9, %d9;
  mov.u32 %r6, 8;
  div.u32 %r6, %r6, %r5;
  shl.b32 %r7, %r5, 3;
  mov.u32 %r8, 64;
  sub.u32 %r8, %r8, %r7;
  mov.u64 %d1, 0xffffffffffffffff;
  shr.u64 %d1, %d1, %r8;
  cvt.u64.u32 %d10, %r6;
NEXT_WORD
  xor.b64 %x, %x, %flip;
  ld.global.u64 %d2, [%at];
  xor.b64 %x, %x, %d2;
  mul.lo.u64 %d5, %word, %d10;
  mov.u32 %r9, 0;
ELEMENT:
  and.b64 %d2, %x, %d1;
  setp.ne.u64 %p2, %d2, 0;
  @%p2 bra DIFFERS;
  shr.u64 %d6, %d5, 6;
  shl.b64 %d6, %d6, 3;
  add.u64 %d6, %d8, %d6;
  cvt.u32.u64 %r10, %d5;
  and.b32 %r10, %r10, 63;
  mov.u64 %d7, 1;
  shl.b64 %d7, %d7, %r10;
  atom.global.or.b64 %d7, [%d6], %d7;
  mov.u64 %d7, 1;
  atom.global.add.u64 %d7, [%d9], %d7;
DIFFERS:
  mov.u32 %r11, %r7;
  shr.u64 %x, %x, %r11;
  add.u64 %d5, %d5, 1;
  add.u32 %r9, %r9, 1;
  setp.lt.u32 %p3, %r9, %r6;
  @%p3 bra ELEMENT;
LOOP
  ret;
}
)";

constexpr const char *kDigest = R"(BEGIN
  mov.u64 %d1, 0;
  mov.u64 %d2, 0;
NEXT_WORD
  ld.global.u64 %d3, [%at];
  xor.b64 %d4, %d3, %x;
MIX_D4
  add.u64 %d1, %d1, %d4;
MIX_X
  add.u64 %d4, %d3, %x;
MIX_D4
  add.u64 %d2, %d2, %d4;
LOOP
  ld.param.u64 %d5, [out];
  cvta.to.global.u64 %d5, %d5;
  atom.global.add.u64 %d1, [%d5], %d1;
  atom.global.add.u64 %d2, [%d5 + 8], %d2;
  ret;
}
)";

void replaceAll(std::string &text, const std::string &name, const std::string &by) {
  for (std::size_t at = text.find(name); at != text.npos; at = text.find(name, at + by.size()))
    text.replace(at, name.size(), by);
}

std::string mixOf(const char *reg) {
  std::string text = kMix;
  replaceAll(text, "REG", reg);
  return text;
}

std::string assembled(std::string text, const char *name) {
  replaceAll(text, "BEGIN", kBegin);
  replaceAll(text, "NEXT_WORD", kNext);
  replaceAll(text, "LOOP", kLoop);
  replaceAll(text, "MIX_X", mixOf("%x"));
  replaceAll(text, "MIX_D4", mixOf("%d4"));
  replaceAll(text, "NAME", name);
  return text;
}

} // namespace

Status CudaDevice::loadMemoryKernel(MemoryKernel &kernel) {
  return kernel.function ? Status()
                         : loadOwnKernel(assembled(kernel.text, kernel.name).c_str(), kernel.name,
                                         kernel.function);
}

/// Launches one of these kernels on `words` words.
Status CudaDevice::runOnMemory(MemoryKernel &kernel, Address base, std::uint64_t words,
                               Pattern pattern, std::uint32_t size, Address bits, Address out) {
  if (words == 0)
    return {};
  KOPT_CHECK(loadMemoryKernel(kernel));
  std::uint64_t flip = pattern.inverted ? ~std::uint64_t(0) : 0;
  void *arguments[] = {&base, &words, &pattern.key, &flip, &size, &bits, &out};
  constexpr std::uint64_t kThreads = 256;
  const std::uint64_t most = 8ull * std::max(1u, properties_.multiprocessors);
  const auto blocks = unsigned(std::min(most, (words + kThreads - 1) / kThreads));
  return check(api_.launchKernel(kernel.function, blocks, 1, 1, kThreads, 1, 1, 0, stream_,
                                 arguments, nullptr),
               "cuLaunchKernel");
}

Status CudaDevice::writePattern(Address to, std::uint64_t words, Pattern pattern) {
  return runOnMemory(patternWriter_, to, words, pattern, 0, 0, 0);
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
  Status read(std::uint64_t from, std::uint64_t words, std::uint64_t *to) {
    KOPT_CHECK(device_.check(device_.api_.streamSynchronize(device_.stream_),
                             "memory could not be examined"));
    return device_.read(to, address_ + from * 8, words * 8);
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
  KOPT_CHECK(runOnMemory(patternFinder_, at, words, pattern, std::uint32_t(size), found.at(1),
                         found.at(0)));
  if (Status status = found.read(0, 1, &count); !status.ok() || count == 0)
    return status;
  return found.read(1, needed, bits.data());
}

Status CudaDevice::digest(Address at, std::uint64_t words, std::uint64_t key, Digest &out) {
  Zeros sums(*this);
  KOPT_CHECK(sums.make(out.size()));
  KOPT_CHECK(runOnMemory(digester_, at, words, {key, false}, 0, 0, sums.at(0)));
  return sums.read(0, out.size(), out.data());
}

CudaDevice::MemoryKernel CudaDevice::patternWriter() { return {kWrite, "kopt_write", nullptr}; }
CudaDevice::MemoryKernel CudaDevice::patternFinder() { return {kFind, "kopt_find", nullptr}; }
CudaDevice::MemoryKernel CudaDevice::digester() { return {kDigest, "kopt_digest", nullptr}; }

} // namespace kopt::runtime::cuda
