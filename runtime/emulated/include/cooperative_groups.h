// SPDX-License-Identifier: Apache-2.0
// Cooperative groups within one block: thread_block, tiles and coalesced groups. The emulated device runs blocks one
// after another, so a whole grid cannot synchronise: using grid.sync() is an error that says so.
#pragma once
#define _COOPERATIVE_GROUPS_H_

#include "kopt_emulated/device.h"

namespace cooperative_groups {

struct thread_block {
  KOPT_D_MEMBER static void sync() { __syncthreads(); }
  KOPT_D_MEMBER static unsigned thread_rank() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  }
  KOPT_D_MEMBER static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
  KOPT_D_MEMBER static unsigned num_threads() { return size(); }
  KOPT_D_MEMBER static dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  KOPT_D_MEMBER static dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  KOPT_D_MEMBER static dim3 group_dim() { return blockDim; }
  KOPT_D_MEMBER static dim3 dim_threads() { return blockDim; }
};
KOPT_D thread_block this_thread_block() { return thread_block(); }

namespace detail {

template <class> struct Unsupported {
  static constexpr bool value = false;
};
KOPT_D unsigned lane() { return thread_block::thread_rank() & 31u; }

/// Applies `move` to the value in pieces of 8 bytes, the most that lanes exchange at a time.
template <class T, class Move> KOPT_D T moved(const T &value, Move move) {
  static_assert(std::is_trivially_copyable<T>::value && sizeof(T) <= 32, "threads of a group exchange up to 32 trivially copyable bytes");
  unsigned long long words[(sizeof(T) + 7) / 8] = {};
  __builtin_memcpy(words, &value, sizeof(T));
  for (unsigned long long &word : words)
    word = move(word);
  T result;
  __builtin_memcpy(&result, words, sizeof(T));
  return result;
}

/// The bits of `set` that belong to lanes of `mask`, packed into consecutive low bits.
KOPT_D unsigned packed(unsigned set, unsigned mask) {
  if (mask == 0xffffffffu)
    return set;
  unsigned result = 0, rank = 0;
  for (unsigned i = 0; i < 32; ++i)
    if (mask >> i & 1u)
      result |= (set >> i & 1u) << rank++;
  return result;
}
/// The lane of rank `rank` among those of `mask`; 32 if there are fewer.
KOPT_D unsigned nth(unsigned mask, unsigned rank) {
  if (mask == 0xffffffffu)
    return rank < 32 ? rank : 32;
  unsigned i = 0;
  for (; i < 32; ++i)
    if ((mask >> i & 1u) && rank-- == 0)
      break;
  return i;
}

} // namespace detail

/// Declared so that code that only names it can be parsed; a call of sync() stops the compilation.
struct grid_group {
  template <class T = void> KOPT_D_MEMBER void sync() const {
    static_assert(detail::Unsupported<T>::value,
                  "grid.sync() needs all blocks at once: kopt's emulated device runs them one after the other");
  }
  KOPT_D_MEMBER unsigned long long size() const {
    return (unsigned long long)gridDim.x * gridDim.y * gridDim.z * blockDim.x * blockDim.y * blockDim.z;
  }
  KOPT_D_MEMBER unsigned long long num_threads() const { return size(); }
  KOPT_D_MEMBER unsigned long long num_blocks() const { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
  KOPT_D_MEMBER unsigned long long block_rank() const {
    return blockIdx.x + (unsigned long long)gridDim.x * (blockIdx.y + (unsigned long long)gridDim.y * blockIdx.z);
  }
  KOPT_D_MEMBER unsigned long long thread_rank() const { return block_rank() * thread_block::size() + thread_block::thread_rank(); }
  KOPT_D_MEMBER dim3 dim_blocks() const { return gridDim; }
  KOPT_D_MEMBER dim3 group_dim() const { return gridDim; }
  KOPT_D_MEMBER dim3 block_index() const { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
};
KOPT_D grid_group this_grid() { return grid_group(); }

/// Consecutive threads of a warp, all of which take part.
template <unsigned Size, class Parent = void> class thread_block_tile {
  static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0,
                "a tile has 1, 2, 4, 8, 16 or 32 threads; larger ones are not emulated");

public:
  KOPT_D_MEMBER thread_block_tile(unsigned metaRank, unsigned metaSize) : metaRank_(metaRank), metaSize_(metaSize) {}
  /// Converts a tile of any parent to one with an unspecified parent.
  template <class Other, class Erased = Parent, class = typename std::enable_if<std::is_void<Erased>::value>::type>
  KOPT_D_MEMBER thread_block_tile(const thread_block_tile<Size, Other> &other)
      : metaRank_(other.meta_group_rank()), metaSize_(other.meta_group_size()) {}

  KOPT_D_MEMBER static constexpr unsigned size() { return Size; }
  KOPT_D_MEMBER static constexpr unsigned num_threads() { return Size; }
  KOPT_D_MEMBER static unsigned thread_rank() { return thread_block::thread_rank() & (Size - 1); }
  KOPT_D_MEMBER unsigned meta_group_rank() const { return metaRank_; }
  KOPT_D_MEMBER unsigned meta_group_size() const { return metaSize_; }
  KOPT_D_MEMBER void sync() const { __syncwarp(mask()); }
  template <class T> KOPT_D_MEMBER T shfl(T v, int lane) const { return shuffled(v, lane, 0); }
  template <class T> KOPT_D_MEMBER T shfl_up(T v, unsigned d) const { return shuffled(v, (int)d, 1); }
  template <class T> KOPT_D_MEMBER T shfl_down(T v, unsigned d) const { return shuffled(v, (int)d, 2); }
  template <class T> KOPT_D_MEMBER T shfl_xor(T v, unsigned m) const { return shuffled(v, (int)m, 3); }
  KOPT_D_MEMBER int any(int p) const { return __any_sync(mask(), p); }
  KOPT_D_MEMBER int all(int p) const { return __all_sync(mask(), p); }
  KOPT_D_MEMBER unsigned ballot(int p) const { return __ballot_sync(mask(), p) >> shift() & lanes(); }
  template <class T> KOPT_D_MEMBER unsigned match_any(T v) const { return __match_any_sync(mask(), v) >> shift() & lanes(); }
  template <class T> KOPT_D_MEMBER unsigned match_all(T v, int &equal) const {
    return __match_all_sync(mask(), v, &equal) >> shift() & lanes();
  }
  /// The lanes of the warp that belong to the tile.
  KOPT_D_MEMBER static unsigned mask() { return lanes() << shift(); }

private:
  KOPT_D_MEMBER static constexpr unsigned lanes() { return 0xffffffffu >> (32 - Size); }
  KOPT_D_MEMBER static unsigned shift() { return detail::lane() & ~(Size - 1); }
  template <class T> KOPT_D_MEMBER T shuffled(const T &v, int argument, int mode) const {
    return detail::moved(v, [=](unsigned long long word) { return kopt_emulated_shuffle(mask(), word, argument, Size, mode); });
  }
  unsigned metaRank_, metaSize_;
};
template <unsigned Size, class Parent> KOPT_D thread_block_tile<Size, Parent> tiled_partition(const Parent &parent) {
  return thread_block_tile<Size, Parent>(parent.thread_rank() / Size, (parent.size() + Size - 1) / Size);
}
KOPT_D thread_block_tile<1> this_thread() { return thread_block_tile<1>(0, 1); }

/// Any lanes of a warp; ranks follow the order of the lanes.
class coalesced_group {
public:
  KOPT_D_MEMBER explicit coalesced_group(unsigned mask, unsigned metaRank = 0, unsigned metaSize = 1)
      : mask_(mask), metaRank_(metaRank), metaSize_(metaSize) {}
  KOPT_D_MEMBER unsigned size() const { return (unsigned)__popc(mask_); }
  KOPT_D_MEMBER unsigned num_threads() const { return size(); }
  KOPT_D_MEMBER unsigned thread_rank() const { return (unsigned)__popc(mask_ & ((1u << detail::lane()) - 1u)); }
  KOPT_D_MEMBER unsigned meta_group_rank() const { return metaRank_; }
  KOPT_D_MEMBER unsigned meta_group_size() const { return metaSize_; }
  KOPT_D_MEMBER void sync() const { __syncwarp(mask_); }
  template <class T> KOPT_D_MEMBER T shfl(T v, unsigned rank) const { return fromLane(v, detail::nth(mask_, rank)); }
  template <class T> KOPT_D_MEMBER T shfl_down(T v, unsigned d) const { return fromLane(v, detail::nth(mask_, thread_rank() + d)); }
  template <class T> KOPT_D_MEMBER T shfl_up(T v, unsigned d) const {
    return fromLane(v, thread_rank() >= d ? detail::nth(mask_, thread_rank() - d) : 32u);
  }
  KOPT_D_MEMBER int any(int p) const { return __any_sync(mask_, p); }
  KOPT_D_MEMBER int all(int p) const { return __all_sync(mask_, p); }
  KOPT_D_MEMBER unsigned ballot(int p) const { return detail::packed(__ballot_sync(mask_, p), mask_); }
  template <class T> KOPT_D_MEMBER unsigned match_any(T v) const { return detail::packed(__match_any_sync(mask_, v), mask_); }
  template <class T> KOPT_D_MEMBER unsigned match_all(T v, int &equal) const {
    return detail::packed(__match_all_sync(mask_, v, &equal), mask_);
  }
  KOPT_D_MEMBER unsigned mask() const { return mask_; }

private:
  /// The value of lane `source`; the thread's own value if there is no such lane.
  template <class T> KOPT_D_MEMBER T fromLane(const T &v, unsigned source) const {
    const int from = (int)(source < 32 ? source : detail::lane());
    return detail::moved(v, [=](unsigned long long word) { return kopt_emulated_shuffle(mask_, word, from, 32, 0); });
  }
  unsigned mask_, metaRank_, metaSize_;
};
KOPT_D coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

namespace detail {
template <class Group> KOPT_D coalesced_group partByPredicate(const Group &group, bool predicate) {
  const unsigned all = group.mask(), set = __ballot_sync(all, predicate);
  if (set == all || set == 0)
    return coalesced_group(all);
  return coalesced_group(predicate ? set : all & ~set, predicate, 2);
}
/// Parts are ranked by their lowest lanes.
template <class Group, class Label> KOPT_D coalesced_group partByLabel(const Group &group, Label label) {
  const unsigned same = __match_any_sync(group.mask(), label), lowest = (unsigned)__ffs((int)same) - 1u;
  const unsigned leaders = __ballot_sync(group.mask(), lowest == lane());
  return coalesced_group(same, (unsigned)__popc(leaders & ((1u << lowest) - 1u)), (unsigned)__popc(leaders));
}
template <class Group> KOPT_D coalesced_group partByLabel(const Group &group, bool label) { return partByPredicate(group, label); }
template <class Group, class T> KOPT_D coalesced_group partByLabel(const Group &group, T *label) {
  return partByLabel(group, (unsigned long long)label);
}
} // namespace detail

template <unsigned Size, class Parent> KOPT_D coalesced_group binary_partition(const thread_block_tile<Size, Parent> &tile, bool p) {
  return detail::partByPredicate(tile, p);
}
KOPT_D coalesced_group binary_partition(const coalesced_group &group, bool p) { return detail::partByPredicate(group, p); }
template <class Label, unsigned Size, class Parent>
KOPT_D coalesced_group labeled_partition(const thread_block_tile<Size, Parent> &tile, Label label) {
  return detail::partByLabel(tile, label);
}
template <class Label> KOPT_D coalesced_group labeled_partition(const coalesced_group &group, Label label) {
  return detail::partByLabel(group, label);
}

/// Divides the group into parts of `size` consecutive ranks.
KOPT_D coalesced_group tiled_partition(const coalesced_group &group, unsigned size) {
  const unsigned part = group.thread_rank() / size;
  unsigned mask = 0;
  for (unsigned rank = part * size; rank < (part + 1) * size && rank < group.size(); ++rank)
    mask |= 1u << detail::nth(group.mask(), rank);
  return coalesced_group(mask, part, (group.size() + size - 1) / size);
}

/// A block, or some lanes of a warp.
class thread_group {
public:
  KOPT_D_MEMBER thread_group(const thread_block &) : mask_(0) {}
  KOPT_D_MEMBER thread_group(const coalesced_group &group) : mask_(group.mask()) {}
  template <unsigned Size, class Parent> KOPT_D_MEMBER thread_group(const thread_block_tile<Size, Parent> &tile) : mask_(tile.mask()) {}
  KOPT_D_MEMBER bool is_valid() const { return true; }
  KOPT_D_MEMBER unsigned size() const { return mask_ ? (unsigned)__popc(mask_) : thread_block::size(); }
  KOPT_D_MEMBER unsigned num_threads() const { return size(); }
  KOPT_D_MEMBER unsigned thread_rank() const {
    return mask_ ? coalesced_group(mask_).thread_rank() : thread_block::thread_rank();
  }
  KOPT_D_MEMBER void sync() const {
    if (mask_)
      __syncwarp(mask_);
    else
      __syncthreads();
  }
  KOPT_D_MEMBER unsigned mask() const { return mask_; }

private:
  unsigned mask_; ///< 0: the block
};
/// `size` is 1, 2, 4, 8, 16 or 32.
KOPT_D thread_group tiled_partition(const thread_block &block, unsigned size) {
  return coalesced_group(0xffffffffu >> (32 - size) << (detail::lane() & ~(size - 1)), block.thread_rank() / size,
                         (block.size() + size - 1) / size);
}
KOPT_D thread_group tiled_partition(const thread_group &group, unsigned size) {
  return group.mask() ? thread_group(tiled_partition(coalesced_group(group.mask()), size)) : tiled_partition(thread_block(), size);
}

template <class Group> KOPT_D void sync(const Group &group) { group.sync(); }
template <class Group> KOPT_D unsigned thread_rank(const Group &group) { return group.thread_rank(); }
template <class Group> KOPT_D unsigned group_size(const Group &group) { return group.size(); }

template <class Group, class Function, class... Arguments>
KOPT_D void invoke_one(const Group &group, Function &&function, Arguments &&...arguments) {
  if (group.thread_rank() == 0)
    function(static_cast<Arguments &&>(arguments)...);
}
template <class Group, class Function, class... Arguments>
KOPT_D auto invoke_one_broadcast(const Group &group, Function &&function, Arguments &&...arguments)
    -> decltype(function(static_cast<Arguments &&>(arguments)...)) {
  decltype(function(static_cast<Arguments &&>(arguments)...)) result{};
  if (group.thread_rank() == 0)
    result = function(static_cast<Arguments &&>(arguments)...);
  return group.shfl(result, 0);
}

} // namespace cooperative_groups
