// SPDX-License-Identifier: Apache-2.0
// The out-of-line part of Checks.h: decides whether an access is a finding, and words it.
#include "runtime/emulated/execute/BlockRunner.h"
#include "runtime/emulated/execute/Checks.h"
#include "runtime/emulated/execute/SpecialRegisters.h"

namespace kopt::runtime::emulated {
namespace {

const char *verb(AccessKind kind) {
  return kind == AccessKind::Load ? "read" : kind == AccessKind::Store ? "write" : "atomic update";
}

/// True for addresses outside of the arena that the thread may use.
bool isPrivate(std::uint64_t address, std::uint32_t bytes, AccessKind kind) {
  if (address >= machine.stackLow && address + bytes <= machine.stackHigh)
    return true;
  // Constant data of the module (string literals, tables from the compiler) may be read.
  return kind == AccessKind::Load && EmulatedModule::isConstantData(address, bytes);
}

} // namespace

void endLaunch(StatusCode code, const std::string &what) { BlockRunner::running->end(code, what); }

std::string siteText(std::uint32_t site) {
  const Site &at = machine.sites[site];
  if (at.line == 0)
    return "an unknown line";
  return std::string(at.file) + ":" + std::to_string(at.line);
}

std::string threadText(std::uint32_t thread) {
  return "thread " + positionText(BlockRunner::running->positionOf(thread));
}

std::string runningThreadText() {
  return threadText(machine.thread) + " of block " + positionText(currentBlock());
}

std::string addressText(std::uint64_t address, std::uint32_t bytes) {
  return BlockRunner::running->describe(address, bytes);
}

void growTrace() { BlockRunner::running->growTrace(); }

void examineAccess(std::uint64_t address, std::uint32_t bytes, std::uint32_t site,
                   AccessKind kind) {
  const std::uint64_t offset = address - machine.base;
  const std::string where = " at " + siteText(site) + ", " + runningThreadText();
  if (offset >= machine.size || bytes > machine.size - offset) {
    if (isPrivate(address, bytes, kind))
      return;
    char hexadecimal[32];
    std::snprintf(hexadecimal, sizeof hexadecimal, "0x%llx", (unsigned long long)address);
    endLaunch(StatusCode::Fault, std::string("invalid ") + verb(kind) + " of " +
                                     std::to_string(bytes) + " bytes at address " + hexadecimal +
                                     ", which is not device memory," + where);
  }
  std::uint32_t uninitialised = 0;
  for (std::uint32_t i = 0; i < bytes; ++i) {
    const std::uint8_t state = machine.state[offset + i];
    if (state == kProtected && kind != AccessKind::Load)
      endLaunch(StatusCode::InputChanged, std::string(verb(kind)) + " to read-only memory " +
                                              addressText(address + i, bytes) + where);
    if (state == kUnallocated)
      endLaunch(StatusCode::Fault, std::string("out of bounds ") + verb(kind) + " of " +
                                       std::to_string(bytes) + " bytes " +
                                       addressText(address + i, bytes) + where);
    uninitialised += state == kAllocated;
  }
  if (kind == AccessKind::Store) {
    std::memset(machine.state + offset, kInitialised, bytes);
    return;
  }
  const bool mayBePadded =
      (machine.sites[site].flags & kMayBePadded) || machine.sites[site].kind == SiteKind::Copy;
  if (uninitialised == 0 || (mayBePadded && uninitialised < bytes))
    return;
  endLaunch(offset < Arena::kSharedWindow ? StatusCode::UnsetShared : StatusCode::Uninitialised,
            std::string("uninitialised ") + verb(kind) + " of " + std::to_string(bytes) +
                " bytes " + addressText(address, bytes) + where);
}

void reportMisaligned(std::uint64_t address, std::uint32_t bytes, std::uint32_t site) {
  // Local variables have addresses of the CPU, which say nothing to a user.
  const std::uint64_t offset = address - machine.base;
  endLaunch(StatusCode::Fault, "misaligned access of " + std::to_string(bytes) + " bytes " +
                                   (offset < machine.size ? addressText(address, bytes)
                                                          : std::string("of a local variable")) +
                                   " at " + siteText(site) + ", " + runningThreadText());
}

void reportReadRace(std::uint64_t offset, std::uint32_t bytes, std::uint32_t site,
                    const WordCell &cell) {
  endLaunch(StatusCode::Race, "race: " + runningThreadText() + " reads at " + siteText(site) +
                                  " what " + threadText(cell.writer & CellWho::kThread) +
                                  " wrote at " + siteText(cell.writeSite) +
                                  " with no barrier in between, " +
                                  addressText(machine.base + offset, bytes));
}

void readOfOtherBlock(std::uint64_t offset, std::uint32_t bytes, std::uint32_t site,
                      const WordCell &cell) {
  // A volatile word may be a signal, or a value that is read once there was a signal: its block
  // needs a fence.
  const bool isValue = machine.order.hasLooked() && !machine.order.hasFence(cell.writeInterval) &&
                       !(machine.sites[cell.writeSite].flags & kVolatile);
  if ((machine.sites[site].flags & kVolatile) && !isValue)
    return machine.order.look();
  if (!machine.order.isOrdered(cell.writeInterval))
    endLaunch(StatusCode::Race,
              "race: " + runningThreadText() + " reads at " + siteText(site) +
                  " what another block, whose " + threadText(cell.writer & CellWho::kThread) +
                  " wrote at " + siteText(cell.writeSite) +
                  " with no fence and flag in between, and blocks run in any order, " +
                  addressText(machine.base + offset, bytes));
}

void suspectStore(std::uint64_t offset, std::uint32_t bytes, std::uint32_t site,
                  std::uint32_t otherThread, std::uint32_t otherSite, Machine::Suspect::With with) {
  Machine::Suspect &suspect = machine.suspect;
  if (suspect.pending)
    return;
  suspect.pending = true;
  suspect.offset = offset;
  suspect.bytes = bytes;
  suspect.site = site;
  suspect.otherThread = otherThread;
  suspect.otherSite = otherSite;
  suspect.with = with;
  std::memcpy(suspect.before, reinterpret_cast<const void *>(machine.base + offset), bytes);
}

void judgeSuspect() {
  Machine::Suspect &suspect = machine.suspect;
  suspect.pending = false;
  // Writing the value that is already there is not a race, as with a flag that many threads set:
  // the order does not matter.
  if (std::memcmp(suspect.before, reinterpret_cast<const void *>(machine.base + suspect.offset),
                  suspect.bytes) == 0)
    return;
  std::string other;
  switch (suspect.with) {
  case Machine::Suspect::With::Write:
    other = " what " + threadText(suspect.otherThread) + " wrote at " +
            siteText(suspect.otherSite) + " with no barrier in between, ";
    break;
  case Machine::Suspect::With::Read:
    other = " what other threads, " + threadText(suspect.otherThread) + " among them, read at " +
            siteText(suspect.otherSite) + " with no barrier in between, ";
    break;
  case Machine::Suspect::With::OtherBlock:
    other = " another value than an earlier block, whose " + threadText(suspect.otherThread) +
            " wrote at " + siteText(suspect.otherSite) + ", and blocks run in any order, ";
    break;
  case Machine::Suspect::With::OtherBlockRead:
    other = " what an earlier block, whose " + threadText(suspect.otherThread) + " read at " +
            siteText(suspect.otherSite) + ", and blocks run in any order, ";
    break;
  }
  endLaunch(StatusCode::Race, "race: " + runningThreadText() + " writes at " +
                                  siteText(suspect.site) + other +
                                  addressText(machine.base + suspect.offset, suspect.bytes));
}

} // namespace kopt::runtime::emulated
