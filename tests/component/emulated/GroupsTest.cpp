// SPDX-License-Identifier: Apache-2.0
// Cooperative groups as the CUDA programming guide describes them.
#include "tests/component/emulated/EmulatedTest.h"

namespace kopt::runtime {
namespace {

const std::string kHeaders = R"(
    #include <cooperative_groups.h>
    #include <cooperative_groups/memcpy_async.h>
    #include <cooperative_groups/reduce.h>
    #include <cooperative_groups/scan.h>
    namespace cg = cooperative_groups;
)";

class GroupsTest : public EmulatedTest {
protected:
  /// What `values` (a kernel `void values(unsigned *out)`) stores, `each` words for each of the
  /// threads of a block.
  std::vector<unsigned> valuesOf(const std::string &values, unsigned threads, unsigned each) {
    LaunchRequest request = kernel(kHeaders + values, "values");
    Address out = space<unsigned>(threads * each);
    Status status = launch(request, 1, threads, out);
    EXPECT_TRUE(status.ok()) << status.detail;
    return status.ok() ? download<unsigned>(out, threads * each)
                       : std::vector<unsigned>(threads * each);
  }
};

TEST_F(GroupsTest, ATileOfNoMatterWhatIsOneOfABlock) {
  const auto values = valuesOf(R"(
    __device__ unsigned sum(cg::thread_block_tile<32> warp, unsigned v) {
      for (int i = warp.num_threads() / 2; i > 0; i /= 2) v += warp.shfl_xor(v, i);
      return v;
    }
    __global__ void values(unsigned *out) {
      cg::thread_block block = cg::this_thread_block();
      cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
      cg::thread_block_tile<32, cg::thread_block> typed = cg::tiled_partition<32>(block);
      auto eight = cg::tiled_partition<8>(typed);
      unsigned *mine = out + 6 * block.thread_rank();
      mine[0] = sum(typed, block.thread_rank());
      mine[1] = warp.meta_group_rank() * 100 + warp.meta_group_size();
      mine[2] = eight.meta_group_rank() * 100 + eight.meta_group_size();
      mine[3] = eight.shfl(block.thread_rank(), 1);
      mine[4] = eight.ballot(eight.thread_rank() == 2) * 2 + eight.any(warp.meta_group_rank() == 1);
      struct Pair { double a; int b; } pair = {block.thread_rank() + 0.5, 7};
      mine[5] = unsigned(2 * eight.shfl_down(pair, 1).a) + pair.b;
    })",
                               96, 6);
  for (unsigned t = 0; t < 96; ++t) {
    EXPECT_EQ(values[6 * t], 32 * (t / 32 * 32) + 31 * 16);
    EXPECT_EQ(values[6 * t + 1], t / 32 * 100 + 3);
    EXPECT_EQ(values[6 * t + 2], t % 32 / 8 * 100 + 4);
    EXPECT_EQ(values[6 * t + 3], t / 8 * 8 + 1);
    EXPECT_EQ(values[6 * t + 4], 8u + (t / 32 == 1));
    EXPECT_EQ(values[6 * t + 5], 2 * (t % 8 == 7 ? t : t + 1) + 1 + 7);
  }
}

TEST_F(GroupsTest, ReductionsAndScansOfTilesAndCoalescedGroups) {
  const auto values = valuesOf(R"(
    __global__ void values(unsigned *out) {
      unsigned t = threadIdx.x, *mine = out + 8 * t;
      auto tile = cg::tiled_partition<16>(cg::this_thread_block());
      mine[0] = cg::reduce(tile, t, cg::plus<unsigned>());
      mine[1] = cg::reduce(tile, int(t * 7 % 16) - 8, cg::less<int>()) + 8;
      mine[2] = cg::inclusive_scan(tile, t % 16 + 1);
      mine[3] = cg::exclusive_scan(tile, t % 16 + 1, cg::bit_xor<unsigned>());
      for (int i = 4; i < 8; ++i) mine[i] = 0;
      if (t % 3 == 0) {
        cg::coalesced_group some = cg::coalesced_threads();
        mine[4] = cg::reduce(some, t, cg::greater<unsigned>()) * 100 + some.size();
        mine[5] = cg::reduce(some, 1u << t, [](unsigned a, unsigned b) { return a | b; });
        mine[6] = cg::inclusive_scan(some, 1u);
        mine[7] = cg::exclusive_scan(some, t);
      }
    })",
                               32, 8);
  unsigned thirds = 0, before = 0;
  for (unsigned t = 0; t < 32; t += 3)
    thirds |= 1u << t;
  for (unsigned t = 0; t < 32; ++t) {
    const unsigned *mine = &values[8 * t], rank = t % 16;
    EXPECT_EQ(mine[0], t / 16 * 256 + 120);
    EXPECT_EQ(mine[1], 0u);
    EXPECT_EQ(mine[2], (rank + 1) * (rank + 2) / 2);
    unsigned expected = 0;
    for (unsigned i = 0; i < rank; ++i)
      expected ^= i + 1;
    EXPECT_EQ(mine[3], expected);
    EXPECT_EQ(mine[4], t % 3 ? 0 : 30 * 100 + 11u);
    EXPECT_EQ(mine[5], t % 3 ? 0 : thirds);
    EXPECT_EQ(mine[6], t % 3 ? 0 : t / 3 + 1);
    EXPECT_EQ(mine[7], t % 3 ? 0 : before);
    before += t % 3 ? 0 : t;
  }
}

TEST_F(GroupsTest, PartsByLabelAndByRank) {
  const auto values = valuesOf(R"(
    __global__ void values(unsigned *out) {
      unsigned t = threadIdx.x, *mine = out + 6 * t;
      cg::thread_block block = cg::this_thread_block();
      auto warp = cg::tiled_partition<32>(block);
      auto part = cg::labeled_partition(warp, (t + 2) % 4);
      mine[0] = part.thread_rank() * 10000 + part.size() * 100 + part.meta_group_rank() * 10 + part.meta_group_size();
      auto odd = cg::binary_partition(warp, t % 2 == 1);
      mine[1] = odd.meta_group_rank() * 100 + odd.shfl(t, 2);
      cg::thread_group four = cg::tiled_partition(block, 4);
      mine[2] = four.size() * 100 + four.thread_rank();
      cg::coalesced_group fives = cg::tiled_partition(odd, 5);
      mine[3] = fives.meta_group_rank() * 1000 + fives.meta_group_size() * 100 + fives.size() * 10 + fives.thread_rank();
      int equal;
      mine[4] = odd.match_any(t / 16) * 2 + (odd.match_all(t, equal) == 0 && !equal);
      mine[5] = cg::invoke_one_broadcast(part, [](unsigned a) { return a + 1; }, t);
      cg::sync(block);
    })",
                               32, 6);
  for (unsigned t = 0; t < 32; ++t) {
    EXPECT_EQ(values[6 * t], t / 4 * 10000 + 8 * 100 + t % 4 * 10 + 4);
    EXPECT_EQ(values[6 * t + 1], t % 2 * 100 + 4 + t % 2);
    EXPECT_EQ(values[6 * t + 2], 400 + t % 4);
    const unsigned rank = t / 2;
    EXPECT_EQ(values[6 * t + 3],
              rank / 5 * 1000 + 4 * 100 + (rank / 5 == 3 ? 1 : 5) * 10 + rank % 5);
    EXPECT_EQ(values[6 * t + 4], (t < 16 ? 0xffu : 0xff00u) * 2 + 1);
    EXPECT_EQ(values[6 * t + 5], t % 4 + 1);
  }
}

TEST_F(GroupsTest, CopiesOfAnyAlignment) {
  const auto values = valuesOf(R"(
    __device__ unsigned char source[256];
    __global__ void values(unsigned *out) {
      __shared__ __align__(16) unsigned char target[256];
      cg::thread_block block = cg::this_thread_block();
      for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) source[i] = i * 7, target[i] = 0;
      block.sync();
      unsigned wrong = 0;
      for (int from = 0; from < 17; ++from)
        for (int to = 0; to < 17; to += 3) {
          cg::memcpy_async(block, target + to, source + from, 90 + to);
          cg::wait(block);
          for (unsigned i = threadIdx.x; i < 90 + to; i += blockDim.x) wrong += target[to + i] != source[from + i];
          block.sync();
        }
      cg::memcpy_async(block, (float4 *)target, 6, (const float4 *)source, 5);
      cg::memcpy_async(block, (float4 *)(target + 96), 2, (const float4 *)source, 3);
      cg::wait_prior<1>(block);
      for (unsigned i = threadIdx.x; i < 80; i += blockDim.x) wrong += target[i] != source[i];
      cg::wait(block);
      out[threadIdx.x] = wrong;
    })",
                               64, 1);
  EXPECT_EQ(values, std::vector<unsigned>(64, 0u));
}

} // namespace
} // namespace kopt::runtime
