// SPDX-License-Identifier: Apache-2.0
// The checks of each access of an emulated kernel. The common case is inline and touches three
// cache lines: the states of the bytes, the cell of the word and the trace. Code that reports a
// finding is out of line.
#pragma once

#include "runtime/emulated/execute/Machine.h"

#include <cstring>

namespace kopt::runtime::emulated {

enum class AccessKind { Load, Store, Atomic };
constexpr std::uint32_t kNobody = ~0u; ///< no thread

/// Examines an access that may be wrong: outside of the arena, out of bounds, or of uninitialised
/// bytes. Returns if it is allowed after all (the thread's own stack, padding); else ends the
/// launch.
void examineAccess(std::uint64_t address, std::uint32_t bytes, std::uint32_t site, AccessKind kind);
[[noreturn]] void reportMisaligned(std::uint64_t address, std::uint32_t bytes, std::uint32_t site);
[[noreturn]] void reportReadRace(std::uint64_t offset, std::uint32_t bytes, std::uint32_t site,
                                 const WordCell &cell);
/// Handles a read of what an earlier block wrote. A read of a volatile word is a signal between
/// blocks, not a race.
void readOfOtherBlock(std::uint64_t offset, std::uint32_t bytes, std::uint32_t site,
                      const WordCell &cell);
/// Remembers a conflicting store. judgeSuspect() reports it if it changes the word.
void suspectStore(std::uint64_t offset, std::uint32_t bytes, std::uint32_t site,
                  std::uint32_t otherThread, std::uint32_t otherSite, Machine::Suspect::With with);
void judgeSuspect();
void growTrace();

inline void judgePending() {
  if (__builtin_expect(machine.suspect.pending, 0))
    judgeSuspect();
}

inline void trace(std::uint64_t value, std::uint32_t id, std::uint32_t bytes) {
  if (__builtin_expect(machine.cursor == machine.hardEnd, 0))
    growTrace();
  *machine.cursor++ = {value, id, bytes};
}

/// True if what thread `other` did in `interval`, since the block's last barrier, happens before
/// the running thread's access: both are in one warp, and a chain of warp barriers leads from one
/// to the other.
inline bool orderedInWarp(std::uint32_t other, std::uint32_t interval) {
  return (other >> 5) == (machine.thread >> 5) &&
         (interval < machine.warpInterval ||
          (machine.interval != machine.warpInterval && interval < machine.heard[other & 31]));
}

/// Those of `lanes`, of the running warp, whose reads up to `interval` are not ordered before the
/// running thread's next access.
inline std::uint32_t unorderedReaders(std::uint32_t lanes, std::uint32_t interval) {
  if (interval < machine.warpInterval)
    return 0;
  if (__builtin_expect(machine.interval != machine.warpInterval,
                       0)) // it has passed barriers of only some lanes
    for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
      const unsigned lane = unsigned(__builtin_ctz(left));
      if (interval < machine.heard[lane])
        lanes &= ~(1u << lane);
    }
  return lanes;
}

/// True if the running thread is ordered after others of its block without a barrier: it has passed
/// a fence, and reads or has read a word through which they signal (an atomic or a volatile one). A
/// fence alone orders only the thread's own accesses.
inline bool isOrderedByFence(std::uint32_t site) {
  if (machine.fenced && (machine.sites[site].flags & kVolatile))
    machine.looked = true;
  return machine.fenced && machine.looked;
}

/// True if an earlier block of this launch accessed the word in `interval`. Shared memory starts
/// anew in each block.
inline bool ofOtherBlock(std::uint32_t interval, std::uint64_t offset) {
  return interval >= machine.launchInterval && interval < machine.blockInterval &&
         offset >= Arena::kSharedWindow;
}

inline void checkLoadRace(std::uint64_t offset, std::uint32_t bytes, unsigned mask,
                          std::uint32_t site) {
  WordCell &cell = machine.cells[offset >> 2];
  const std::uint32_t phase = machine.phase, thread = machine.thread;
  if (__builtin_expect(cell.writeInterval >= phase, 0)) {
    const unsigned writer = cell.writer & CellWho::kThread;
    // Reading what atomics update is not a race: every compare-and-swap loop begins with such a
    // read.
    if (writer != thread && ((cell.writer >> CellWho::kMaskShift) & mask) &&
        !(cell.writer & CellWho::kAtomic) && !orderedInWarp(writer, cell.writeInterval) &&
        !isOrderedByFence(site))
      reportReadRace(offset, bytes, site, cell);
  } else if (__builtin_expect(ofOtherBlock(cell.writeInterval, offset), 0) &&
             machine.checkAcrossBlocks && !(cell.writer & CellWho::kAtomic) &&
             ((cell.writer >> CellWho::kMaskShift) & mask)) {
    readOfOtherBlock(offset, bytes, site, cell);
  }
  // A cell keeps the lanes that read, but not the bytes: a read counts as one of the whole word.
  const std::uint32_t lane = 1u << (thread & 31);
  if (cell.readInterval < phase) {
    cell.readInterval = machine.interval;
    cell.reader = std::uint16_t(thread);
    cell.readers = lane;
  } else if (((cell.reader ^ thread) & (CellWho::kWarp | CellWho::kOtherWarps)) == 0) {
    // Drop the reads that happen before this one: what is ordered after this one is ordered after
    // them too.
    if (cell.readInterval != machine.interval)
      cell.readers = unorderedReaders(cell.readers, cell.readInterval);
    if (cell.readInterval < machine.interval || cell.readers == 0)
      cell.readInterval = machine.interval;
    cell.readers |= lane;
  } else {
    if (!(cell.reader & CellWho::kOtherWarps)) {
      cell.reader |= CellWho::kOtherWarps;
      cell.readers = thread;
    }
    cell.readInterval = machine.interval;
  }
  cell.readSite = std::uint16_t(site);
}

/// A thread that has read the word since the block's last barrier, with nothing that orders the
/// read before the running thread's write; kNobody if there is none.
inline std::uint32_t unorderedReader(const WordCell &cell) {
  const std::uint32_t thread = machine.thread, reader = cell.reader & CellWho::kThread;
  if ((reader >> 5) != (thread >> 5))
    return reader;
  if (cell.reader & CellWho::kOtherWarps)
    return cell.readers;
  const std::uint32_t lanes =
      unorderedReaders(cell.readers & ~(1u << (thread & 31)), cell.readInterval);
  return lanes == 0 ? kNobody : (thread & ~31u) + std::uint32_t(__builtin_ctz(lanes));
}

inline void checkStoreRace(std::uint64_t offset, std::uint32_t bytes, unsigned mask,
                           std::uint32_t site, bool atomic) {
  WordCell &cell = machine.cells[offset >> 2];
  const std::uint32_t phase = machine.phase, thread = machine.thread;
  const unsigned writer = cell.writer & CellWho::kThread;
  const bool overlaps = ((cell.writer >> CellWho::kMaskShift) & mask) != 0;
  const bool bothAtomic = atomic && (cell.writer & CellWho::kAtomic);
  if (__builtin_expect(cell.writeInterval >= machine.launchInterval, 0) && overlaps &&
      !bothAtomic) {
    if (cell.writeInterval >= phase) {
      if (writer != thread && !orderedInWarp(writer, cell.writeInterval) && !isOrderedByFence(site))
        suspectStore(offset, bytes, site, writer, cell.writeSite, Machine::Suspect::With::Write);
    } else if (ofOtherBlock(cell.writeInterval, offset) && !atomic &&
               !(cell.writer & CellWho::kAtomic) && !machine.order.isOrdered(cell.writeInterval)) {
      suspectStore(offset, bytes, site, writer, cell.writeSite, Machine::Suspect::With::OtherBlock);
    }
  }
  if (__builtin_expect(ofOtherBlock(cell.readInterval, offset), 0) && machine.checkAcrossBlocks &&
      !atomic && bytes >= 4 && !machine.order.isOrdered(cell.readInterval))
    suspectStore(offset, bytes, site, cell.reader & CellWho::kThread, cell.readSite,
                 Machine::Suspect::With::OtherBlockRead);
  if (__builtin_expect(cell.readInterval >= phase, 0) && !atomic && (bytes >= 4)) {
    const std::uint32_t reader = unorderedReader(cell);
    if (reader != kNobody && !isOrderedByFence(site))
      suspectStore(offset, bytes, site, reader, cell.readSite, Machine::Suspect::With::Read);
  }
  unsigned kept = mask;
  if (cell.writeInterval == machine.interval && writer == thread)
    kept |= (cell.writer >> CellWho::kMaskShift) & 15u;
  cell.writeInterval = machine.interval;
  cell.writer =
      std::uint16_t(thread | kept << CellWho::kMaskShift | (atomic ? CellWho::kAtomic : 0u));
  cell.writeSite = std::uint16_t(site);
}

template <AccessKind Kind>
inline void checkRaces(std::uint64_t offset, std::uint32_t bytes, std::uint32_t site) {
  const std::uint64_t end = offset + bytes;
  for (std::uint64_t at = offset; at < end;) {
    const std::uint64_t word = at & ~std::uint64_t(3), next = word + 4 < end ? word + 4 : end;
    const unsigned mask = ((1u << (next - at)) - 1u) << (at - word);
    if constexpr (Kind == AccessKind::Load)
      checkLoadRace(at, std::uint32_t(next - at), mask, site);
    else
      checkStoreRace(at, std::uint32_t(next - at), mask, site, Kind == AccessKind::Atomic);
    at = next;
  }
}

/// The states of up to 8 bytes, one in each byte of the result.
template <unsigned Bytes> inline std::uint64_t statesAt(std::uint64_t offset) {
  std::uint64_t states = 0;
  std::memcpy(&states, machine.state + offset, Bytes);
  return states;
}

template <unsigned Bytes, AccessKind Kind> inline bool statesAllow(std::uint64_t offset) {
  if constexpr (Bytes == 16) {
    return statesAllow<8, Kind>(offset) && statesAllow<8, Kind>(offset + 8);
  } else {
    constexpr std::uint64_t all = 0x0101010101010101ull >> (64 - 8 * Bytes);
    const std::uint64_t states = statesAt<Bytes>(offset);
    if constexpr (Kind == AccessKind::Atomic) {
      return states == 3 * all;
    } else if constexpr (Kind == AccessKind::Store) {
      if ((states & all) != all)
        return false;
      if (states != 3 * all) {
        const std::uint64_t initialised = 3 * all;
        std::memcpy(machine.state + offset, &initialised, Bytes);
      }
      return true;
    }
    return (states & 2 * all) == 2 * all;
  }
}

template <unsigned Bytes, AccessKind Kind>
inline void access(const void *pointer, std::uint32_t site) {
  judgePending();
  const std::uint64_t address = reinterpret_cast<std::uint64_t>(pointer),
                      offset = address - machine.base;
  if (__builtin_expect(address & (Bytes - 1), 0))
    reportMisaligned(address, Bytes, site);
  if (__builtin_expect(offset >= machine.size, 0) ||
      __builtin_expect(!(statesAllow<Bytes, Kind>(offset)), 0))
    examineAccess(address, Bytes, site, Kind);
  else if (machine.checkRaces)
    checkRaces<Kind>(offset, Bytes, site);
  if (machine.tracing)
    trace(address, site, Bytes);
}

} // namespace kopt::runtime::emulated
