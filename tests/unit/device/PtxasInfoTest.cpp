// SPDX-License-Identifier: Apache-2.0
#include "driver/device/build/PtxasInfo.h"

#include <gtest/gtest.h>

namespace kopt {
namespace {

// nvcc 13.0.88 -arch=sm_90 -Xptxas=-v
constexpr const char *kLog = R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z5spillILi40EEvPfPKfi' for 'sm_90'
ptxas info    : Function properties for _Z5spillILi40EEvPfPKfi
    160 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 40 registers, used 0 barriers, 160 bytes cumulative stack size
ptxas info    : Compile time = 26.467 ms
ptxas info    : Compiling entry function '_Z3mixPfPKfPdi' for 'sm_90'
ptxas info    : Function properties for _Z4slowd
    72 bytes stack frame, 5 bytes spill stores, 5 bytes spill loads
ptxas info    : Function properties for _Z3mixPfPKfPdi
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 14 registers, used 1 barriers, 1024 bytes smem
)";

TEST(PtxasInfo, OfTheKernelThatIsAskedFor) {
  EXPECT_EQ(parsePtxasInfo(kLog, "_Z5spillILi40EEvPfPKfi"),
            (Counters{{"ptxas__stack_bytes", 160},
                      {"ptxas__spill_store_bytes", 8},
                      {"ptxas__spill_load_bytes", 12},
                      {"ptxas__registers", 40}}));
  EXPECT_EQ(parsePtxasInfo(kLog, "_Z3mixPfPKfPdi"), (Counters{{"ptxas__stack_bytes", 0},
                                                              {"ptxas__spill_store_bytes", 0},
                                                              {"ptxas__spill_load_bytes", 0},
                                                              {"ptxas__registers", 14},
                                                              {"ptxas__shared_bytes", 1024}}));
}

TEST(PtxasInfo, WhatIsNotSaidIsAbsent) {
  EXPECT_TRUE(parsePtxasInfo(kLog, "_Z3mix").empty());
  EXPECT_TRUE(parsePtxasInfo("", "k").empty());
  EXPECT_TRUE(parsePtxasInfo("ptxas info    : Compiling entry function 'k' for 'sm_90'\nptxas info "
                             "   : Used many registers\n"
                             "registers\nbytes stack frame\n",
                             "k")
                  .empty());
}

} // namespace
} // namespace kopt
