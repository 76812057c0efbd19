// SPDX-License-Identifier: Apache-2.0
// The functions and variables that emulated modules import by name from the process that loads
// them. User code sees those that include/kopt_emulated/hooks.h declares; clang_plugin/emulate
// inserts the calls of the others.
#include "runtime/emulated/execute/BlockRunner.h"
#include "runtime/emulated/execute/Checks.h"
#include "runtime/emulated/execute/SpecialRegisters.h"

#include <cstdarg>
#include <cstdio>

#define KOPT_HOOK extern "C" __attribute__((visibility("default"), used))

using namespace kopt::runtime::emulated;
using kopt::runtime::StatusCode;

namespace {
struct Dimensions {
  std::uint32_t x, y, z;
};
} // namespace

// Modules see these as constants, because no thread can observe a change of one.
extern "C" {
__attribute__((visibility("default"))) Dimensions kopt_emulated_threadIdx, kopt_emulated_blockIdx,
    kopt_emulated_blockDim, kopt_emulated_gridDim;
__attribute__((visibility("default"))) void *kopt_emulated_shared;
__attribute__((visibility("default"))) std::uint32_t kopt_emulated_site, kopt_emulated_unset;
__attribute__((visibility("default"))) std::uint64_t kopt_emulated_call_key;
}

namespace kopt::runtime::emulated {

Machine machine;

void setDimensions(const std::array<std::uint32_t, 3> &block,
                   const std::array<std::uint32_t, 3> &grid) {
  kopt_emulated_blockDim = {block[0], block[1], block[2]};
  kopt_emulated_gridDim = {grid[0], grid[1], grid[2]};
  kopt_emulated_shared = reinterpret_cast<void *>(machine.base);
}

void setBlock(const std::array<std::uint32_t, 3> &block) {
  kopt_emulated_blockIdx = {block[0], block[1], block[2]};
}

void setThread(const std::array<std::uint32_t, 3> &thread, std::uint64_t callKey) {
  kopt_emulated_threadIdx = {thread[0], thread[1], thread[2]};
  kopt_emulated_call_key = callKey;
}

void setUnset(std::uint32_t choice) { kopt_emulated_unset = choice; }

std::array<std::uint32_t, 3> currentBlock() {
  return {kopt_emulated_blockIdx.x, kopt_emulated_blockIdx.y, kopt_emulated_blockIdx.z};
}

std::uint64_t currentCallKey() { return kopt_emulated_call_key; }

void judgePendingStore() { judgePending(); }

} // namespace kopt::runtime::emulated

KOPT_HOOK void kopt_emulated_block(std::uint32_t block, std::uint64_t key) {
  judgePending();
  machine.slice -= machine.blocks[block].instructions[0];
  if (__builtin_expect(machine.slice < 0, 0))
    BlockRunner::running->sliceEnded();
  if (machine.tracing) {
    if (__builtin_expect(machine.cursor >= machine.softEnd, 0))
      BlockRunner::running->traceFull();
    trace(key, kBlockBit | block, 0);
  }
}

#define KOPT_ACCESS_HOOKS(BYTES)                                                                   \
  KOPT_HOOK void kopt_emulated_load##BYTES(const void *address, std::uint32_t site) {              \
    access<BYTES, AccessKind::Load>(address, site);                                                \
  }                                                                                                \
  KOPT_HOOK void kopt_emulated_store##BYTES(void *address, std::uint32_t site) {                   \
    access<BYTES, AccessKind::Store>(address, site);                                               \
  }
KOPT_ACCESS_HOOKS(1)
KOPT_ACCESS_HOOKS(2)
KOPT_ACCESS_HOOKS(4)
KOPT_ACCESS_HOOKS(8)
KOPT_ACCESS_HOOKS(16)

namespace {

/// An access to any number of bytes: a copy, or an access whose width is not a power of two.
void rangeAccess(const void *pointer, std::uint64_t bytes, std::uint32_t site, AccessKind kind) {
  judgePending();
  const std::uint64_t address = reinterpret_cast<std::uint64_t>(pointer),
                      offset = address - machine.base;
  examineAccess(address, std::uint32_t(bytes), site, kind);
  if (offset < machine.size && machine.checkRaces) {
    if (kind == AccessKind::Load)
      checkRaces<AccessKind::Load>(offset, std::uint32_t(bytes), site);
    else
      checkRaces<AccessKind::Store>(offset, std::uint32_t(bytes), site);
  }
  if (machine.tracing)
    // Like a GPU, in pieces of at most 16 bytes.
    for (std::uint64_t done = 0; done < bytes; done += 16)
      trace(address + done, site,
            std::uint32_t(bytes - done < 16 ? bytes - done : 16) |
                (kind == AccessKind::Store ? kStoreBit : 0u));
}

void checkAlignment(const void *pointer, std::uint32_t alignment, std::uint32_t site) {
  const std::uint64_t address = reinterpret_cast<std::uint64_t>(pointer);
  if (__builtin_expect(address & (alignment - 1), 0))
    reportMisaligned(address, alignment, site);
}

} // namespace

KOPT_HOOK void kopt_emulated_loadN(const void *address, std::uint32_t site, std::uint64_t bytes) {
  rangeAccess(address, bytes, site, AccessKind::Load);
}
KOPT_HOOK void kopt_emulated_storeN(void *address, std::uint32_t site, std::uint64_t bytes) {
  rangeAccess(address, bytes, site, AccessKind::Store);
}
KOPT_HOOK void kopt_emulated_copy(void *to, const void *from, std::uint64_t bytes,
                                  std::uint32_t site, std::uint32_t toAlignment,
                                  std::uint32_t fromAlignment) {
  if (bytes == 0)
    return;
  checkAlignment(from, fromAlignment, site);
  checkAlignment(to, toAlignment, site);
  const std::uint64_t source = reinterpret_cast<std::uint64_t>(from) - machine.base,
                      target = reinterpret_cast<std::uint64_t>(to) - machine.base;
  rangeAccess(from, bytes, site, AccessKind::Load);
  const bool both = source < machine.size && target < machine.size;
  // Copies of uninitialised bytes stay uninitialised.
  std::unique_ptr<std::uint8_t[]> states;
  if (both) {
    states.reset(new std::uint8_t[bytes]);
    std::memcpy(states.get(), machine.state + source, bytes);
  }
  rangeAccess(to, bytes, site, AccessKind::Store);
  // Copies of protected bytes are not protected.
  for (std::uint64_t i = 0; both && i < bytes; ++i)
    machine.state[target + i] = states[i] == kProtected ? std::uint8_t(kInitialised) : states[i];
}
KOPT_HOOK void kopt_emulated_fill(void *to, std::uint64_t bytes, std::uint32_t site,
                                  std::uint32_t alignment) {
  if (bytes == 0)
    return;
  checkAlignment(to, alignment, site);
  rangeAccess(to, bytes, site, AccessKind::Store);
}
KOPT_HOOK void kopt_emulated_atomic_access(void *address, std::uint32_t bytes, std::uint32_t site) {
  machine.order.look();
  machine.looked = true;
  BlockRunner::running->beforeAtomic();
  switch (bytes) {
  case 2:
    return access<2, AccessKind::Atomic>(address, site);
  case 4:
    return access<4, AccessKind::Atomic>(address, site);
  case 8:
    return access<8, AccessKind::Atomic>(address, site);
  case 16:
    return access<16, AccessKind::Atomic>(address, site);
  default:
    return access<1, AccessKind::Atomic>(address, site);
  }
}
KOPT_HOOK void kopt_emulated_local(const void *address, const void *variable, std::uint64_t size,
                                   std::uint64_t bytes, std::uint32_t site) {
  const std::uint64_t offset =
      reinterpret_cast<std::uint64_t>(address) - reinterpret_cast<std::uint64_t>(variable);
  if (__builtin_expect(offset >= size || bytes > size - offset, 0))
    endLaunch(StatusCode::Fault, "access of " + std::to_string(bytes) + " bytes at byte " +
                                     std::to_string(std::int64_t(offset)) +
                                     " of a local array of " + std::to_string(size) + " bytes at " +
                                     siteText(site) + ", " + runningThreadText());
}

KOPT_HOOK int kopt_emulated_barrier(int predicate, int mode) {
  return BlockRunner::running->waitAtBarrier(predicate, mode, kopt_emulated_site);
}
KOPT_HOOK void kopt_emulated_warp_barrier(unsigned mask) {
  BlockRunner::running->waitInWarp(WarpOperation::Barrier, mask, 0, 0, 0, 32, kopt_emulated_site);
}
KOPT_HOOK unsigned long long kopt_emulated_shuffle(unsigned mask, unsigned long long value,
                                                   int argument, int width, int mode) {
  if (width < 1 || width > 32 || (width & (width - 1)))
    endLaunch(StatusCode::Fault, "the width of a shuffle must be 1, 2, 4, 8, 16 or 32, not " +
                                     std::to_string(width) + ", at " +
                                     siteText(kopt_emulated_site));
  return BlockRunner::running->waitInWarp(WarpOperation::Shuffle, mask, mode, value, argument,
                                          width, kopt_emulated_site);
}
KOPT_HOOK unsigned kopt_emulated_vote(unsigned mask, unsigned long long value, int mode) {
  if (mode == 3)
    return unsigned(BlockRunner::running->waitInWarp(WarpOperation::ActiveMask, ~0u, 0, 0, 0, 32,
                                                     kopt_emulated_site));
  return unsigned(BlockRunner::running->waitInWarp(WarpOperation::Vote, mask, mode, value, 0, 32,
                                                   kopt_emulated_site));
}
KOPT_HOOK unsigned kopt_emulated_reduce(unsigned mask, unsigned value, int mode) {
  return unsigned(BlockRunner::running->waitInWarp(WarpOperation::Reduce, mask, mode, value, 0, 32,
                                                   kopt_emulated_site));
}
KOPT_HOOK void kopt_emulated_fence(int scope) {
  judgePending();
  machine.fenced = true;
  if (scope > 0) // not __threadfence_block()
    machine.order.fence(machine.interval);
}
KOPT_HOOK void kopt_emulated_async_copy(void *to, const void *from, std::uint64_t bytes,
                                        std::uint64_t zeros) {
  BlockRunner::running->copies().begin(to, from, bytes, zeros, kopt_emulated_site);
}
KOPT_HOOK void kopt_emulated_async_commit() { BlockRunner::running->copies().commit(); }
KOPT_HOOK void kopt_emulated_async_wait(std::uint64_t prior) {
  BlockRunner::running->copies().wait(prior);
}
KOPT_HOOK long long kopt_emulated_clock() { return (long long)BlockRunner::running->clock(); }
/// For __ldg() and similar functions: the read-only path does not see what the launch itself
/// writes.
KOPT_HOOK void kopt_emulated_read_only(const void *address, unsigned bytes) {
  judgePending();
  const std::uint64_t offset = reinterpret_cast<std::uint64_t>(address) - machine.base;
  if (!machine.checkRaces || offset >= machine.size || bytes > machine.size - offset)
    return;
  for (std::uint64_t word = offset >> 2; word <= (offset + bytes - 1) >> 2; ++word)
    if (machine.cells[word].writeInterval >= machine.launchInterval)
      endLaunch(StatusCode::Race, "race: " + runningThreadText() + " reads at " +
                                      siteText(kopt_emulated_site) +
                                      " by the read-only path what this launch wrote at " +
                                      siteText(machine.cells[word].writeSite) + ", " +
                                      addressText(reinterpret_cast<std::uint64_t>(address), bytes));
}
KOPT_HOOK unsigned kopt_emulated_is_shared(const void *address) {
  return reinterpret_cast<std::uint64_t>(address) - machine.base < Arena::kSharedWindow;
}
KOPT_HOOK void kopt_emulated_trap() {
  endLaunch(StatusCode::Fault,
            "__trap() at " + siteText(kopt_emulated_site) + ", " + runningThreadText());
}
KOPT_HOOK void kopt_emulated_assert(const char *expression, const char *file, unsigned line,
                                    const char *) {
  endLaunch(StatusCode::Fault, std::string("assertion `") + expression + "` failed at " + file +
                                   ":" + std::to_string(line) + ", " + runningThreadText());
}
/// A kernel's printf goes to standard error: standard output belongs to the runner's protocol.
KOPT_HOOK int kopt_emulated_printf(const char *format, ...) {
  // The format comes from the kernel: %n would write through a pointer of its choice.
  if (std::strstr(format, "%n") || std::strstr(format, "%hn") || std::strstr(format, "%ln"))
    endLaunch(StatusCode::Fault, "printf with %n at " + siteText(kopt_emulated_site));
  va_list arguments;
  va_start(arguments, format);
  const int written = std::vfprintf(stderr, format, arguments);
  va_end(arguments);
  return written;
}
