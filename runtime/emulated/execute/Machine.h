// SPDX-License-Identifier: Apache-2.0
// The state that the functions called by emulated code work on. There is one for each process:
// modules resolve those functions by name, and one thread drives the device. BlockRunner writes it;
// Hooks.cpp reads it on every access.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/emulated/execute/BlockOrder.h"
#include "runtime/emulated/module/Arena.h"
#include "runtime/emulated/module/ModuleFormat.h"
#include "runtime/emulated/module/TraceEntry.h"

#include <cstdint>

namespace kopt::runtime::emulated {

struct Machine {
  // The memory.
  std::uint64_t base = 0, size = 0;
  std::uint8_t *state = nullptr;
  WordCell *cells = nullptr;

  // The launch.
  const Site *sites = nullptr;
  const BlockInfo *blocks = nullptr;
  bool checkRaces = false, tracing = false;
  bool checkAcrossBlocks = false; ///< also reads and writes of different blocks
  BlockOrder order;
  std::uint32_t launchInterval = 0; ///< the first one of this launch

  // The running block and thread.
  std::uint32_t blockInterval = 0; ///< the first one of this block
  std::uint32_t phase = 0;         ///< the first one since the last barrier of the block
  /// The interval that began with the last barrier of all lanes of the running warp.
  std::uint32_t warpInterval = 0;
  std::uint32_t interval = 0;     ///< of the running thread
  std::uint32_t lastInterval = 0; ///< the highest interval so far
  /// For each lane of the running warp: what the lane did in intervals before this one happened
  /// before the running thread continues. If it is less than `warpInterval`, `warpInterval` counts.
  const std::uint32_t *heard = nullptr;
  std::uint32_t thread = 0; ///< index within the block
  bool fenced = false;      ///< has passed a fence since the last barrier of the block
  /// Has since then read an atomic or a volatile word, through which threads signal to each other.
  bool looked = false;
  std::uint64_t stackLow = 0, stackHigh = 0;
  std::int64_t slice = 0; ///< instructions until sliceEnded() is called

  // The running thread's trace.
  TraceEntry *cursor = nullptr, *softEnd = nullptr, *hardEnd = nullptr;

  /// A store to a word that others accessed in the same interval, or that another block wrote or
  /// read. It is an error if it changes the word, which is only known after the store.
  struct Suspect {
    bool pending = false;
    std::uint64_t offset = 0;
    std::uint32_t bytes = 0, site = 0;
    std::uint8_t before[16];
    std::uint32_t otherThread = 0, otherSite = 0;
    enum class With { Write, Read, OtherBlock, OtherBlockRead } with = With::Write;
  } suspect;
};

extern Machine machine;

/// Ends the launch with a finding and does not return. To be called only from within a kernel.
[[noreturn]] void endLaunch(StatusCode code, const std::string &what);

/// "slice.cu:12", for messages.
std::string siteText(std::uint32_t site);
/// "thread (1,0,0)", of the running block.
std::string threadText(std::uint32_t thread);
/// "thread (1,0,0) of block (2,0,0)".
std::string runningThreadText();
/// The buffer, variable or shared memory that the address belongs to or lies behind, and the
/// position in it.
std::string addressText(std::uint64_t address, std::uint32_t bytes);

} // namespace kopt::runtime::emulated
