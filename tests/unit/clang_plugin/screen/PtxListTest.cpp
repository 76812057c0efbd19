// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/screen/PtxList.h"

#include <gtest/gtest.h>

namespace kopt::frontend {
namespace {

TEST(PtxList, TakesWhatKernelsAreMadeOf) {
  for (const char *text :
       {"", " // nothing\n", "ld.global.nc.f32 %0, [%1];",
        "ld.global.nc.L1::no_allocate.L2::128B.v4.f32 {%0,%1,%2,%3}, [%4];",
        "ld.global.cs.u32 %0, [%1];", "st.global.wt.v2.f32 [%0], {%1, %2};",
        "cp.async.cg.shared.global [%0], [%1], 16;\n", "cp.async.commit_group;",
        "cp.async.wait_group %0;", "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];",
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};",
        "wgmma.fence.sync.aligned;", "wgmma.commit_group.sync.aligned;\n",
        "mbarrier.init.shared::cta.b64 [%0], %1;",
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, "
        "{%3, %4}], [%2];",
        "fence.proxy.async;", "fence.mbarrier_init.release.cluster;", "membar.gl;",
        "prefetch.global.L2 [%0];", "createpolicy.fractional.L2::evict_first.b64 %0, 1.0;",
        "shfl.sync.bfly.b32 %0, %1, 16, 31, 0xffffffff;", "vote.sync.ballot.b32 %0, p, -1;",
        "redux.sync.add.s32 %0, %1, 0xffffffff;", "setmaxnreg.inc.sync.aligned.u32 240;",
        "elect.sync _|p, 0xffffffff;", "bar.sync 1, 128;", "barrier.cluster.arrive.aligned;",
        "mov.u32 %0, %%laneid;", "mov.u32 %0, %%tid.x;", "mov.u32 %0, %ctaid.y;",
        "lop3.b32 %0, %1, %2, %3, 0x96;", "cvt.rn.f16x2.f32 %0, %1, %2;",
        "fma.rn.f32 %0, %1, %2, %3;", "add.cc.u32 %0, %1, %2;\n\taddc.u32 %3, %4, %5;",
        // A predicate, declared registers, a label and a branch.
        "{\n .reg .pred p;\n .reg .b32 %%r<3>, q;\n setp.ne.b32 p, %0, 0;\n @p mov.b32 %%r2, "
        "0;\n}",
        "{\n.reg .pred P1;\nLAB_WAIT_%=:\nmbarrier.try_wait.parity.shared.b64 P1, [%0], %1;\n@P1 "
        "bra DONE;\nbra LAB_WAIT_%=;\nDONE:\n}"}) {
    const auto refused = refusedPtx(text);
    EXPECT_FALSE(refused) << text << ": " << *refused;
  }
  EXPECT_FALSE(hasPtx(" // nothing\n"));
  EXPECT_TRUE(hasPtx("{ membar.gl; }"));
}

TEST(PtxList, NamesWhatItRefuses) {
  for (const auto &[text, named] : std::vector<std::pair<const char *, const char *>>{
           {"mov.u64 %0, %%clock64;", "the register '%clock64'"},
           {"mov.u64 %0, %globaltimer;", "the register '%globaltimer'"},
           {"mov.u32 %0, %%smid;", "the register '%smid'"},
           {"{ .reg .u32 %%clock; mov.u32 %0, %%clock; }", "the register '%clock'"},
           {"mov.u32 %0, %%pm0;", "the register '%pm0'"},
           {"mov.u32 %0, %%warpid;", "the register '%warpid'"},
           {"mov.u32 %0, %%r1;", "the register '%r1'"},
           {"discard.global.L2 [%0], 128;", "the instruction 'discard.global.L2'"},
           {"nanosleep.u32 100;", "the instruction 'nanosleep.u32'"},
           {"membar.gl; trap;", "the instruction 'trap'"},
           {"call (%0), malloc, (%1);", "the instruction 'call'"},
           {"@p\ndiscard.global.L2 [%0], 128;", "the instruction 'discard.global.L2'"},
           {"L: pmevent 1;", "the instruction 'pmevent'"},
           {"cp.other [%0], [%1];", "the instruction 'cp.other'"},
           {"loads.global [%0];", "the instruction 'loads.global'"},
           {".global .u32 kept;", "the instruction '.global'"},
           {"ld.global%2.u32 %0, [%1];", "the instruction 'ld.global%2.u32'"},
           {"ld.global.L2::evict_last.f32 %0, [%1];", "the cache priority 'L2::evict_last'"},
           {"createpolicy.fractional.L2::evict_last.b64 %0, 1.0;",
            "the cache priority 'L2::evict_last'"},
           {"/* ld */ exit;", "the instruction 'exit'"},
           {kUnreadablePtx, "a text that other code puts together"}}) {
    const auto refused = refusedPtx(text);
    ASSERT_TRUE(refused) << text;
    EXPECT_EQ(*refused, named) << text;
  }
}

TEST(PtxList, RegistersOfThreadsAndBlocksAreKnown) {
  EXPECT_TRUE(isKnownRegister("tid.x"));
  EXPECT_TRUE(isKnownRegister("lanemask_lt"));
  EXPECT_FALSE(isKnownRegister("clock64"));
  EXPECT_FALSE(isKnownRegister("smid"));
}

} // namespace
} // namespace kopt::frontend
