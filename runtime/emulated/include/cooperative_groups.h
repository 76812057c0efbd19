// SPDX-License-Identifier: Apache-2.0
// Cooperative groups within one block: thread_block, tiles and coalesced groups. A whole grid cannot synchronise on the
// emulated device, whose blocks run one after another; using it is an error that says so.
#pragma once

#include "kopt_emulated/device.h"

namespace cooperative_groups {

struct thread_block {
  KOPT_D_MEMBER void sync() const { __syncthreads(); }
  KOPT_D_MEMBER unsigned thread_rank() const {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  }
  KOPT_D_MEMBER unsigned size() const { return blockDim.x * blockDim.y * blockDim.z; }
  KOPT_D_MEMBER unsigned num_threads() const { return size(); }
  KOPT_D_MEMBER dim3 group_index() const { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  KOPT_D_MEMBER dim3 thread_index() const { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  KOPT_D_MEMBER dim3 group_dim() const { return blockDim; }
  KOPT_D_MEMBER dim3 dim_threads() const { return blockDim; }
};
KOPT_D thread_block this_thread_block() { return thread_block(); }

namespace detail {
template <class> struct Unsupported {
  static constexpr bool value = false;
};
} // namespace detail

/// Named so that code which only mentions it parses; each use of it stops the compilation.
struct grid_group {
  template <class T = void> KOPT_D_MEMBER void sync() const {
    static_assert(detail::Unsupported<T>::value,
                  "grid.sync() needs all blocks at once: kopt's emulated device runs them one after another");
  }
  KOPT_D_MEMBER unsigned long long size() const {
    return (unsigned long long)gridDim.x * gridDim.y * gridDim.z * blockDim.x * blockDim.y * blockDim.z;
  }
  KOPT_D_MEMBER unsigned long long num_threads() const { return size(); }
  KOPT_D_MEMBER unsigned long long thread_rank() const {
    unsigned long long block = blockIdx.x + (unsigned long long)gridDim.x * (blockIdx.y + (unsigned long long)gridDim.y * blockIdx.z);
    return block * thread_block().size() + thread_block().thread_rank();
  }
};
KOPT_D grid_group this_grid() { return grid_group(); }

/// What tiles and coalesced groups share: the lanes of one warp named by a mask.
template <unsigned Size, class Parent = void> class thread_block_tile {
  static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0,
                "a tile has 1, 2, 4, 8, 16 or 32 threads; larger ones are not emulated");

public:
  KOPT_D_MEMBER static constexpr unsigned size() { return Size; }
  KOPT_D_MEMBER static constexpr unsigned num_threads() { return Size; }
  KOPT_D_MEMBER unsigned thread_rank() const { return thread_block().thread_rank() & (Size - 1); }
  KOPT_D_MEMBER unsigned meta_group_rank() const { return thread_block().thread_rank() / Size; }
  KOPT_D_MEMBER unsigned meta_group_size() const { return (thread_block().size() + Size - 1) / Size; }
  KOPT_D_MEMBER void sync() const { __syncwarp(mask()); }
  template <class T> KOPT_D_MEMBER T shfl(T v, int lane) const { return __shfl_sync(mask(), v, lane, Size); }
  template <class T> KOPT_D_MEMBER T shfl_up(T v, unsigned d) const { return __shfl_up_sync(mask(), v, d, Size); }
  template <class T> KOPT_D_MEMBER T shfl_down(T v, unsigned d) const { return __shfl_down_sync(mask(), v, d, Size); }
  template <class T> KOPT_D_MEMBER T shfl_xor(T v, unsigned m) const { return __shfl_xor_sync(mask(), v, m, Size); }
  KOPT_D_MEMBER int any(int p) const { return __any_sync(mask(), p); }
  KOPT_D_MEMBER int all(int p) const { return __all_sync(mask(), p); }
  KOPT_D_MEMBER unsigned ballot(int p) const { return (__ballot_sync(mask(), p) >> shift()) & lanes(); }
  template <class T> KOPT_D_MEMBER unsigned match_any(T v) const {
    return (__match_any_sync(mask(), v) >> shift()) & lanes();
  }

private:
  KOPT_D_MEMBER static constexpr unsigned lanes() { return Size == 32 ? 0xffffffffu : (1u << (Size & 31)) - 1u; }
  KOPT_D_MEMBER static unsigned shift() { return thread_block().thread_rank() & 31u & ~(Size - 1); }
  KOPT_D_MEMBER static unsigned mask() { return lanes() << shift(); }
};
template <unsigned Size, class Parent> KOPT_D thread_block_tile<Size, Parent> tiled_partition(const Parent &) {
  return thread_block_tile<Size, Parent>();
}

class coalesced_group {
public:
  KOPT_D_MEMBER explicit coalesced_group(unsigned mask) : mask_(mask) {}
  KOPT_D_MEMBER unsigned size() const { return (unsigned)__popc(mask_); }
  KOPT_D_MEMBER unsigned num_threads() const { return size(); }
  KOPT_D_MEMBER unsigned thread_rank() const { return (unsigned)__popc(mask_ & ((1u << lane()) - 1u)); }
  KOPT_D_MEMBER void sync() const { __syncwarp(mask_); }
  template <class T> KOPT_D_MEMBER T shfl(T v, unsigned rank) const { return __shfl_sync(mask_, v, (int)nth(rank)); }
  template <class T> KOPT_D_MEMBER T shfl_down(T v, unsigned d) const {
    unsigned to = thread_rank() + d;
    return __shfl_sync(mask_, v, (int)(to < size() ? nth(to) : lane()));
  }
  template <class T> KOPT_D_MEMBER T shfl_up(T v, unsigned d) const {
    unsigned rank = thread_rank();
    return __shfl_sync(mask_, v, (int)(rank >= d ? nth(rank - d) : lane()));
  }
  KOPT_D_MEMBER int any(int p) const { return __any_sync(mask_, p); }
  KOPT_D_MEMBER int all(int p) const { return __all_sync(mask_, p); }
  KOPT_D_MEMBER unsigned ballot(int p) const {
    unsigned set = __ballot_sync(mask_, p), packed = 0, rank = 0;
    for (unsigned i = 0; i < 32; ++i)
      if (mask_ >> i & 1u)
        packed |= (set >> i & 1u) << rank++;
    return packed;
  }

private:
  KOPT_D_MEMBER static unsigned lane() { return thread_block().thread_rank() & 31u; }
  KOPT_D_MEMBER unsigned nth(unsigned rank) const {
    for (unsigned i = 0; i < 32; ++i)
      if ((mask_ >> i & 1u) && rank-- == 0)
        return i;
    return lane();
  }
  unsigned mask_;
};
KOPT_D coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

template <class Group> KOPT_D void sync(const Group &group) { group.sync(); }

// <cooperative_groups/reduce.h>, for tiles.
template <class T> struct plus {
  KOPT_D_MEMBER T operator()(T a, T b) const { return a + b; }
};
template <class T> struct less {
  KOPT_D_MEMBER T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T> struct greater {
  KOPT_D_MEMBER T operator()(T a, T b) const { return a < b ? b : a; }
};
template <unsigned Size, class Parent, class T, class Operation>
KOPT_D T reduce(const thread_block_tile<Size, Parent> &tile, T value, Operation operation) {
  for (unsigned lanes = Size / 2; lanes > 0; lanes /= 2)
    value = operation(value, tile.shfl_xor(value, lanes));
  return value;
}

} // namespace cooperative_groups
