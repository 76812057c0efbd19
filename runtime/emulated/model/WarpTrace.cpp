// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/model/WarpTrace.h"

#include "runtime/emulated/module/Arena.h"

#include <algorithm>
#include <bit>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>

namespace kopt::runtime::emulated {
namespace {

bool isBlock(const TraceEntry &entry) { return entry.id & kBlockBit; }

/// Adds what the warps of a block did.
void addBlock(LaunchCounts &counts, const std::vector<LaunchCounts::Work> &works) {
  std::uint64_t instructions = 0;
  LaunchCounts::Work &longest = counts.longestWarp;
  for (const LaunchCounts::Work &work : works) {
    instructions += work.instructions;
    longest.instructions = std::max(longest.instructions, work.instructions);
    longest.barriers = std::max(longest.barriers, work.barriers);
    longest.loads = std::max(longest.loads, work.loads);
    longest.beyondL1 = std::max(longest.beyondL1, work.beyondL1);
    longest.beyondL2 = std::max(longest.beyondL2, work.beyondL2);
    longest.sharedLoads = std::max(longest.sharedLoads, work.sharedLoads);
  }
  counts.busiestBlock = std::max(counts.busiestBlock, instructions);
}

} // namespace

WarpTrace::WarpTrace(const ModuleInfo &module, std::uint64_t arenaBase, std::uint64_t arenaSize,
                     SectorCache &l2, std::uint64_t l1Bytes)
    : module_(module), base_(arenaBase), size_(arenaSize), l2_(l2), l1_(l1Bytes),
      runsOfBlock_(module.blockCount), sectorsOfSite_(module.siteCount) {}

void WarpTrace::beginBlock() {
  // Blocks of a multiprocessor share its L1 in an unknown order, so the model assumes reuse only
  // within a block.
  l1_.clear();
  ++counts_.blocks;
  addBlock(counts_, works_);
  works_.clear();
}

void WarpTrace::merge(std::uint32_t warp, const LaneTraces &traces) {
  const auto loads = [&] { return counts_.load.requests + counts_.atomic.requests; };
  const auto sharedLoads = [&] {
    return counts_.sharedLoad.requests + counts_.sharedAtomic.requests;
  };
  works_.resize(std::max<std::size_t>(works_.size(), warp + 1));
  warp_ = warp;
  const std::uint64_t loadsBefore = loads(), sharedBefore = sharedLoads(),
                      beyondL1Before = counts_.loadsBeyondL1,
                      beyondL2Before = counts_.loadsBeyondL2;
  mergeLanes(traces);
  LaunchCounts::Work &work = works_[warp];
  work.loads += loads() - loadsBefore;
  work.sharedLoads += sharedLoads() - sharedBefore;
  work.beyondL1 += counts_.loadsBeyondL1 - beyondL1Before;
  work.beyondL2 += counts_.loadsBeyondL2 - beyondL2Before;
}

void WarpTrace::mergeLanes(const LaneTraces &traces) {
  std::array<Cursor, 32> lanes;
  for (unsigned i = 0; i < 32; ++i)
    lanes[i] = {traces[i].first, traces[i].second};
  // Fast path: as long as all lanes that have entries left enter the same block with the same key.
  for (;;) {
    std::uint32_t mask = 0;
    const TraceEntry *leader = nullptr;
    bool together = true;
    for (unsigned i = 0; i < 32; ++i) {
      if (lanes[i].at == lanes[i].end)
        continue;
      const TraceEntry &entry = *lanes[i].at;
      if (!leader)
        leader = &entry;
      together &= entry.id == leader->id && entry.value == leader->value;
      mask |= 1u << i;
    }
    if (!mask)
      return;
    if (!together)
      return mergeDiverged(lanes);
    execute(mask, lanes);
  }
}

/// One execution of a block by the lanes of `mask`, all of which are at its entry. Moves them past
/// it.
void WarpTrace::execute(std::uint32_t mask, std::array<Cursor, 32> &lanes) {
  const unsigned first = unsigned(std::countr_zero(mask));
  const std::uint32_t number = lanes[first].at->id & ~kBlockBit;
  const BlockInfo &block = module_.blocks[number];
  ++runsOfBlock_[number].warps;
  runsOfBlock_[number].lanes += unsigned(std::popcount(mask));
  works_[warp_].instructions += block.instructions[static_cast<unsigned>(InstructionClass::All)];
  works_[warp_].barriers += block.instructions[static_cast<unsigned>(InstructionClass::Barrier)];
  std::array<const TraceEntry *, 32> entries{};
  for (std::uint32_t rest = mask; rest; rest &= rest - 1)
    ++lanes[std::countr_zero(rest)].at;
  for (;;) {
    // Lanes execute the same accesses, but a copy whose length differs between lanes ends earlier
    // in some.
    std::uint32_t accessing = 0;
    for (std::uint32_t rest = mask; rest; rest &= rest - 1) {
      const unsigned i = unsigned(std::countr_zero(rest));
      if (lanes[i].at == lanes[i].end || isBlock(*lanes[i].at))
        continue;
      entries[i] = lanes[i].at++;
      accessing |= 1u << i;
    }
    if (!accessing)
      break;
    access(accessing, entries);
  }
  if (!block.endsInConditionalBranch)
    return;
  ++counts_.branches;
  const TraceEntry *next = nullptr;
  for (std::uint32_t rest = mask; rest; rest &= rest - 1) {
    const Cursor &lane = lanes[std::countr_zero(rest)];
    if (lane.at == lane.end)
      continue;
    if (next && (next->id != lane.at->id)) {
      ++counts_.divergentBranches;
      return;
    }
    next = lane.at;
  }
}

/// The general case: groups the entries of all lanes by block, key and the number of times that the
/// lane has been there.
void WarpTrace::mergeDiverged(std::array<Cursor, 32> &lanes) {
  entered_.clear();
  std::unordered_map<std::uint64_t, std::uint32_t> occurrences;
  for (unsigned i = 0; i < 32; ++i) {
    occurrences.clear();
    for (const TraceEntry *at = lanes[i].at; at != lanes[i].end; ++at)
      if (isBlock(*at))
        entered_.push_back(
            {at->value, at->id, i, occurrences[at->value * 0x9E3779B97F4A7C15ull + at->id]++, at});
  }
  std::sort(entered_.begin(), entered_.end(), [](const Entered &a, const Entered &b) {
    return std::tie(a.occurrence, a.key, a.block, a.lane) <
           std::tie(b.occurrence, b.key, b.block, b.lane);
  });
  // Order the groups by when the first lane of each got there, so that the caches see a plausible
  // sequence.
  std::vector<std::pair<std::size_t, std::size_t>> groups;
  for (std::size_t begin = 0; begin < entered_.size();) {
    std::size_t end = begin + 1;
    while (end < entered_.size() && entered_[end].occurrence == entered_[begin].occurrence &&
           entered_[end].key == entered_[begin].key && entered_[end].block == entered_[begin].block)
      ++end;
    groups.push_back({begin, end});
    begin = end;
  }
  std::sort(groups.begin(), groups.end(), [&](const auto &a, const auto &b) {
    const Entered &x = entered_[a.first], &y = entered_[b.first];
    return std::pair(x.at - lanes[x.lane].at, a.first) <
           std::pair(y.at - lanes[y.lane].at, b.first);
  });
  for (const auto &[begin, end] : groups) {
    std::array<Cursor, 32> members{};
    std::uint32_t mask = 0;
    for (std::size_t i = begin; i < end; ++i) {
      members[entered_[i].lane] = {entered_[i].at, lanes[entered_[i].lane].end};
      mask |= 1u << entered_[i].lane;
    }
    execute(mask, members);
  }
}

void WarpTrace::access(std::uint32_t mask, const std::array<const TraceEntry *, 32> &entries) {
  // Lanes may address different memories through one generic pointer; each memory is a separate
  // request.
  std::uint32_t shared = 0, global = 0;
  SiteKind kind = SiteKind::Load;
  bool storing = false;
  for (std::uint32_t rest = mask; rest; rest &= rest - 1) {
    const unsigned i = unsigned(std::countr_zero(rest));
    const std::uint64_t offset = entries[i]->value - base_;
    kind = module_.sites[entries[i]->id].kind;
    storing = entries[i]->bytes & kStoreBit;
    if (offset < Arena::kSharedWindow)
      shared |= 1u << i;
    else if (offset < size_)
      global |= 1u << i;
  }
  if (kind == SiteKind::Copy)
    kind = storing ? SiteKind::Store : SiteKind::Load;
  else if (kind == SiteKind::Fill)
    kind = SiteKind::Store;
  if (shared)
    sharedAccess(kind, shared, entries);
  if (global)
    globalAccess(kind, global, entries);
}

void WarpTrace::globalAccess(SiteKind kind, std::uint32_t mask,
                             const std::array<const TraceEntry *, 32> &entries) {
  LaunchCounts::Global &counts = kind == SiteKind::Load    ? counts_.load
                                 : kind == SiteKind::Store ? counts_.store
                                                           : counts_.atomic;
  std::array<std::uint64_t, 64> sectors;
  unsigned count = 0;
  bool ascending = true;
  for (std::uint32_t rest = mask; rest; rest &= rest - 1) {
    const TraceEntry &entry = *entries[std::countr_zero(rest)];
    const std::uint32_t bytes = entry.bytes & ~kStoreBit;
    counts.bytes += bytes;
    for (std::uint64_t sector = entry.value / 32;
         sector <= (entry.value + bytes - 1) / 32 && count < 64; ++sector) {
      if (count && sectors[count - 1] == sector)
        continue;
      ascending &= !count || sectors[count - 1] < sector;
      sectors[count++] = sector;
    }
  }
  if (!ascending) {
    std::sort(sectors.begin(), sectors.begin() + count);
    count = unsigned(std::unique(sectors.begin(), sectors.begin() + count) - sectors.begin());
  }
  ++counts.requests;
  counts.sectors += count;
  sectorsOfSite_[entries[std::size_t(std::countr_zero(mask))]->id] += count;
  if (kind == SiteKind::Atomic)
    takeTurns(mask, entries);
  std::uint64_t line = ~0ull;
  bool isBeyondL1 = kind == SiteKind::Atomic, isBeyondL2 = false;
  for (unsigned i = 0; i < count; ++i) {
    if (sectors[i] / 4 != line) {
      line = sectors[i] / 4;
      ++counts.lines;
    }
    if (kind == SiteKind::Load) {
      if (l1_.access(sectors[i], false).hit) {
        ++counts_.l1Hits;
        continue;
      }
      isBeyondL1 = true;
      ++counts_.l2ReadSectors;
      SectorCache::Outcome outcome = l2_.access(sectors[i], false);
      counts_.l2Hits += outcome.hit;
      counts_.dramReadSectors += !outcome.hit;
      isBeyondL2 |= !outcome.hit;
      counts_.dramWriteSectors += outcome.writtenBack;
    } else {
      // L1 writes through. Atomics run in L2, which needs the old value.
      SectorCache::Outcome outcome = l2_.access(sectors[i], true);
      ++(kind == SiteKind::Store ? counts_.l2WriteSectors : counts_.l2AtomicSectors);
      counts_.l2Hits += outcome.hit;
      counts_.dramWriteSectors += outcome.writtenBack;
      if (kind == SiteKind::Atomic) {
        counts_.dramReadSectors += !outcome.hit;
        isBeyondL2 |= !outcome.hit;
      }
    }
  }
  counts_.loadsBeyondL1 += isBeyondL1;
  counts_.loadsBeyondL2 += isBeyondL2;
}

/// The L2 slice that owns a sector serves one request on it after another, and lanes of a request
/// with the same address as well.
void WarpTrace::takeTurns(std::uint32_t mask, const std::array<const TraceEntry *, 32> &entries) {
  std::array<std::uint64_t, 32> addresses;
  unsigned count = 0;
  for (std::uint32_t rest = mask; rest; rest &= rest - 1)
    addresses[count++] = entries[std::size_t(std::countr_zero(rest))]->value;
  counts_.atomicOperations += count;
  std::sort(addresses.begin(), addresses.begin() + count);
  std::uint64_t same = 0, turns = 0;
  for (unsigned i = 0; i < count; ++i) {
    same = i > 0 && addresses[i] == addresses[i - 1] ? same + 1 : 1;
    turns = std::max(turns, same);
    if (i + 1 < count && addresses[i + 1] / 32 == addresses[i] / 32)
      continue;
    counts_.atomicTurns = std::max(counts_.atomicTurns, turnsOfSector_[addresses[i] / 32] += turns);
    turns = 0;
  }
}

LaunchCounts WarpTrace::counts() const {
  LaunchCounts counts = counts_;
  addBlock(counts, works_);
  for (std::uint32_t number = 0; number < module_.blockCount; ++number) {
    const auto &[warps, lanes] = runsOfBlock_[number];
    for (unsigned i = 0; i < kInstructionClasses; ++i) {
      counts.warpInstructionsByClass[i] += warps * module_.blocks[number].instructions[i];
      counts.threadInstructions[i] += lanes * module_.blocks[number].instructions[i];
    }
  }
  counts.warpInstructions =
      counts.warpInstructionsByClass[static_cast<unsigned>(InstructionClass::All)];
  return counts;
}

std::vector<LineCost> WarpTrace::lineCosts() const {
  std::map<std::pair<std::string_view, std::uint32_t>, LineCost> lines;
  const auto at = [&](const char *file, std::uint32_t line) -> LineCost & {
    LineCost &cost = lines[{file, line}];
    cost.file = file;
    cost.line = line;
    return cost;
  };
  for (std::uint32_t i = 0; i < module_.lineCount; ++i) {
    const LineInfo &info = module_.lines[i];
    if (const std::uint64_t runs = runsOfBlock_[info.block].warps)
      at(info.file, info.line).instructions += double(runs) * info.instructions;
  }
  for (std::uint32_t i = 0; i < module_.siteCount; ++i)
    if (sectorsOfSite_[i])
      at(module_.sites[i].file, module_.sites[i].line).sectors += double(sectorsOfSite_[i]);
  std::vector<LineCost> costs;
  for (auto &[place, cost] : lines)
    costs.push_back(std::move(cost));
  return costs;
}

/// Shared memory has 32 banks of 4 bytes. A request of at most 4 bytes a lane takes one pass, of 8
/// bytes two passes of half a warp each, of 16 bytes four. The wavefronts of a pass are the largest
/// number of distinct words that one bank has to deliver.
void WarpTrace::sharedAccess(SiteKind kind, std::uint32_t mask,
                             const std::array<const TraceEntry *, 32> &entries) {
  LaunchCounts::Shared &counts = kind == SiteKind::Load    ? counts_.sharedLoad
                                 : kind == SiteKind::Store ? counts_.sharedStore
                                                           : counts_.sharedAtomic;
  const std::uint32_t width = entries[std::countr_zero(mask)]->bytes & ~kStoreBit;
  const unsigned lanesPerPass = width <= 4 ? 32 : width <= 8 ? 16 : 8;
  ++counts.requests;
  if (kind == SiteKind::Atomic)
    counts_.atomicOperations += unsigned(std::popcount(mask));
  for (unsigned begin = 0; begin < 32; begin += lanesPerPass) {
    const std::uint32_t pass =
        mask & (lanesPerPass == 32 ? ~0u : ((1u << lanesPerPass) - 1u) << begin);
    if (!pass)
      continue;
    std::array<std::uint8_t, 32> depth{};
    std::array<std::array<std::uint32_t, 32>, 32> words;
    unsigned deepest = 1;
    for (std::uint32_t rest = pass; rest; rest &= rest - 1) {
      const TraceEntry &entry = *entries[std::countr_zero(rest)];
      const std::uint32_t bytes = entry.bytes & ~kStoreBit;
      counts.bytes += bytes;
      const std::uint64_t offset = entry.value - base_;
      for (std::uint64_t word = offset / 4; word <= (offset + bytes - 1) / 4; ++word) {
        const unsigned bank = word & 31;
        bool known = false;
        // Lanes that read the same word are served together; atomics on one word are serialised.
        for (unsigned i = 0; kind != SiteKind::Atomic && i < depth[bank]; ++i)
          known |= words[bank][i] == word;
        if (known || depth[bank] == 32)
          continue;
        words[bank][depth[bank]++] = std::uint32_t(word);
        deepest = std::max<unsigned>(deepest, depth[bank]);
      }
    }
    counts.wavefronts += deepest;
    counts.conflicts += deepest - 1;
  }
}

} // namespace kopt::runtime::emulated
