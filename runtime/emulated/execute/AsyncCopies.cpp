// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/execute/AsyncCopies.h"

#include "runtime/emulated/execute/Checks.h"

namespace kopt::runtime::emulated {
namespace {

template <AccessKind Kind>
void accessOf(std::uint64_t offset, std::uint64_t bytes, std::uint32_t site) {
  judgePending();
  examineAccess(machine.base + offset, std::uint32_t(bytes), site, Kind);
  if (machine.checkRaces)
    checkRaces<Kind>(offset, std::uint32_t(bytes), site);
  if (machine.tracing)
    trace(machine.base + offset, site,
          std::uint32_t(bytes) | (Kind == AccessKind::Store ? kStoreBit : 0u));
}

[[noreturn]] void refuse(const char *why, std::uint32_t site) {
  endLaunch(StatusCode::Fault, std::string("an asynchronous copy ") + why + ", at " +
                                   siteText(site) + ", " + runningThreadText());
}

std::byte *bytesAt(std::uint64_t offset) {
  return reinterpret_cast<std::byte *>(machine.base + offset);
}

} // namespace

void AsyncCopies::clear() {
  copies_.clear();
  groups_.clear();
}

void AsyncCopies::begin(void *to, const void *from, std::uint64_t bytes, std::uint64_t zeros,
                        std::uint32_t site) {
  const std::uint64_t target = reinterpret_cast<std::uint64_t>(to),
                      source = reinterpret_cast<std::uint64_t>(from);
  if ((bytes != 4 && bytes != 8 && bytes != 16) || zeros > bytes)
    refuse("is of 4, 8 or 16 bytes, of which no more than those are zero", site);
  if (target - machine.base >= Arena::kSharedWindow)
    refuse("goes to shared memory", site);
  if (source - machine.base < Arena::kSharedWindow || source - machine.base >= machine.size)
    refuse("reads global memory", site);
  for (const std::uint64_t address : {target, source})
    if (address & (bytes - 1))
      reportMisaligned(address, std::uint32_t(bytes), site);
  const Copy copy{target - machine.base, source - machine.base, std::uint32_t(bytes),
                  std::uint32_t(zeros), site};
  if (zeros < bytes)
    accessOf<AccessKind::Load>(copy.from, bytes - zeros, site);
  accessOf<AccessKind::Store>(copy.to, bytes, site);
  // Change the target, so that a read by another thread is a race, and mark it as uninitialised.
  for (std::uint32_t i = 0; i < copy.bytes; ++i)
    bytesAt(copy.to)[i] = ~bytesAt(copy.to)[i];
  std::memset(machine.state + copy.to, kAllocated, bytes);
  copies_.push_back(copy);
}

void AsyncCopies::wait(std::uint64_t prior) {
  if (groups_.size() <= prior)
    return;
  const std::size_t groups = groups_.size() - prior, done = groups_[groups - 1];
  for (std::size_t i = 0; i < done; ++i)
    finish(copies_[i]);
  copies_.erase(copies_.begin(), copies_.begin() + std::ptrdiff_t(done));
  groups_.erase(groups_.begin(), groups_.begin() + std::ptrdiff_t(groups));
  for (std::size_t &end : groups_)
    end -= done;
}

void AsyncCopies::finish(const Copy &copy) {
  judgePending();
  if (machine.checkRaces)
    checkRaces<AccessKind::Store>(copy.to, copy.bytes, copy.site);
  const std::uint32_t read = copy.bytes - copy.zeros;
  std::memcpy(bytesAt(copy.to), bytesAt(copy.from), read);
  std::memset(bytesAt(copy.to) + read, 0, copy.zeros);
  std::memset(machine.state + copy.to, kInitialised, copy.bytes);
  for (std::uint32_t i = 0; i < read; ++i) // a copied hole stays a hole
    if (machine.state[copy.from + i] == kAllocated)
      machine.state[copy.to + i] = kAllocated;
}

} // namespace kopt::runtime::emulated
