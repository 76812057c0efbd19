// SPDX-License-Identifier: Apache-2.0
// The state that the functions called by emulated code work on. There is one per process: modules
// resolve those functions by name, and one thread drives the device. Written by BlockRunner, read
// in Hooks.cpp on every access.
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
  std::uint32_t warpInterval =
      0; ///< that which began with the last barrier of all lanes of the running warp
  std::uint32_t interval = 0;     ///< the running thread's
  std::uint32_t lastInterval = 0; ///< the newest of all
  /// Of each lane of the running warp: what it did in earlier intervals than this happened before
  /// the running thread goes on. Less than `warpInterval` where that says more.
  const std::uint32_t *heard = nullptr;
  std::uint32_t thread = 0; ///< index within the block
  bool fenced = false;      ///< since the last barrier of the block
  bool looked = false; ///< since then at an atomic or a volatile word, by which threads tell each
                       ///< other something
  std::uint64_t stackLow = 0, stackHigh = 0;
  std::int64_t slice = 0; ///< instructions until the runner wants to hear of this thread

  // The running thread's trace.
  TraceEntry *cursor = nullptr, *softEnd = nullptr, *hardEnd = nullptr;

  /// A store to a word that others accessed in the same interval or that another block wrote: an
  /// error if it changes the word, which is known once it has happened.
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

/// Ends the launch with a finding; never returns. Only from within a kernel.
[[noreturn]] void endLaunch(StatusCode code, const std::string &what);

/// "slice.cu:12", for messages.
std::string siteText(std::uint32_t site);
/// "thread (1,0,0)", of the running block.
std::string threadText(std::uint32_t thread);
/// "thread (1,0,0) of block (2,0,0)".
std::string runningThreadText();
/// Which buffer, variable or shared memory the address belongs to, or lies behind, and where in it.
std::string addressText(std::uint64_t address, std::uint32_t bytes);

} // namespace kopt::runtime::emulated
