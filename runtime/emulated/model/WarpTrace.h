// SPDX-License-Identifier: Apache-2.0
// Combines the traces of lanes into what the warp did: lanes that entered a block with the same key
// executed it together, and their accesses at the same site are one request. Counts what Nsight
// Compute counts, for the whole grid, without sampling.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/emulated/model/Caches.h"
#include "runtime/emulated/module/ModuleFormat.h"
#include "runtime/emulated/module/TraceEntry.h"

#include <array>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kopt::runtime::emulated {

/// Sums over one launch.
struct LaunchCounts {
  struct Global {
    std::uint64_t requests = 0, sectors = 0, lines = 0, bytes = 0;
  } load, store, atomic;
  struct Shared {
    std::uint64_t requests = 0, wavefronts = 0, conflicts = 0, bytes = 0;
  } sharedLoad, sharedStore, sharedAtomic;
  std::uint64_t l1Hits = 0;                           ///< load sectors
  std::uint64_t loadsBeyondL1 = 0, loadsBeyondL2 = 0; ///< requests, of atomics, too
  std::uint64_t l2ReadSectors = 0, l2WriteSectors = 0, l2AtomicSectors = 0, l2Hits = 0;
  std::uint64_t dramReadSectors = 0, dramWriteSectors = 0;
  std::uint64_t atomicOperations = 0; ///< lanes
  /// Of global atomics on one sector, one after another: the most of all sectors.
  std::uint64_t atomicTurns = 0;
  std::uint64_t warpInstructions = 0;
  /// By class, for each thread that executed them.
  std::array<std::uint64_t, kInstructionClasses> threadInstructions{};
  /// By class, one for each warp that executed them.
  std::array<std::uint64_t, kInstructionClasses> warpInstructionsByClass{};
  std::uint64_t branches = 0, divergentBranches = 0;
  std::uint64_t blocks = 0;
  /// What one warp does: the most of all warps, each number for itself.
  struct Work {
    std::uint64_t instructions = 0, barriers = 0;
    std::uint64_t loads = 0, sharedLoads = 0; ///< requests
    std::uint64_t beyondL1 = 0, beyondL2 = 0; ///< those of `loads` that go so far
  } longestWarp;
  std::uint64_t busiestBlock = 0; ///< warp instructions
};

class WarpTrace {
public:
  /// `l1Bytes`: the share of L1 of one block. `l2` keeps its contents until its owner clears it.
  WarpTrace(const ModuleInfo &module, std::uint64_t arenaBase, std::uint64_t arenaSize,
            SectorCache &l2, std::uint64_t l1Bytes);

  void beginBlock();
  using LaneTraces = std::array<std::pair<const TraceEntry *, const TraceEntry *>, 32>;
  /// What the warp of the block did since its last merge.
  void merge(std::uint32_t warp, const LaneTraces &traces);
  LaunchCounts counts() const;
  /// What each line costs, in order of file and line. The sums are those of counts().
  std::vector<LineCost> lineCosts() const;

private:
  struct Cursor {
    const TraceEntry *at, *end;
  };
  void mergeLanes(const LaneTraces &traces);
  void execute(std::uint32_t mask, std::array<Cursor, 32> &lanes);
  void mergeDiverged(std::array<Cursor, 32> &lanes);
  void access(std::uint32_t mask, const std::array<const TraceEntry *, 32> &entries);
  void globalAccess(SiteKind kind, std::uint32_t mask,
                    const std::array<const TraceEntry *, 32> &entries);
  void takeTurns(std::uint32_t mask, const std::array<const TraceEntry *, 32> &entries);
  void sharedAccess(SiteKind kind, std::uint32_t mask,
                    const std::array<const TraceEntry *, 32> &entries);

  const ModuleInfo &module_;
  std::uint64_t base_, size_;
  SectorCache &l2_;
  SectorCache l1_;
  LaunchCounts counts_; ///< without the instructions, which follow from the runs of blocks
  std::vector<LaunchCounts::Work> works_; ///< of the present block's warps
  std::uint32_t warp_ = 0;                ///< the one that is merged
  struct Runs {
    std::uint64_t warps = 0, lanes = 0;
  };
  std::vector<Runs> runsOfBlock_;
  std::vector<std::uint64_t> sectorsOfSite_; ///< of global memory
  std::unordered_map<std::uint64_t, std::uint64_t> turnsOfSector_;
  struct Entered {
    std::uint64_t key;
    std::uint32_t block, lane, occurrence;
    const TraceEntry *at;
  };
  std::vector<Entered> entered_;
};

} // namespace kopt::runtime::emulated
