// SPDX-License-Identifier: Apache-2.0
#include "tests/fakes/SassCounterNames.h"
#include "tests/unit/device/Fixtures.h"

#include <numeric>

namespace kopt {
namespace {

class Mix : public testing::TestWithParam<const char *> {
protected:
  Counters of(const char *kernel) const { return sassCounters(recorded(GetParam()), kernel); }
};
INSTANTIATE_TEST_SUITE_P(Architectures, Mix, testing::Values("sm_80", "sm_90"));

TEST_P(Mix, TheClassesSumUp) {
  const SassListing listing = recorded(GetParam());
  for (const SassFunction &function : listing.functions) {
    const Counters counters = sassCounters(listing, function.symbol);
    double sum = 0;
    for (int kind = 0; kind < kSassClasses; ++kind)
      sum += counters.at(std::string("sass__inst_") + toString(SassClass(kind)));
    EXPECT_EQ(sum, counters.at("sass__inst"));
    EXPECT_EQ(sum, double(function.instructions.size()));
    EXPECT_EQ(counters.at("sass__inst_other"), 0) << function.symbol;
  }
}

TEST_P(Mix, EveryNameIsListed) {
  const std::vector<std::string> names = fakes::sassCounterNames();
  for (const char *kernel : {kLoops, kSpilled})
    for (const auto &[name, value] : of(kernel))
      EXPECT_TRUE(std::find(names.begin(), names.end(), name) != names.end()) << name;
  EXPECT_EQ(of(kSpilled).size(), names.size());
}

TEST_P(Mix, AnAccidentalDouble) {
  const Counters counters = of(kAccidental);
  EXPECT_EQ(counters.at("sass__inst_fp64"), 1);            // the product
  EXPECT_EQ(counters.at("sass__inst_conversion_fp64"), 2); // there and back
  EXPECT_EQ(counters.at("sass__inst_fp32"), 0);
  EXPECT_EQ(counters.at("sass__inst_global_load"), 1);
  EXPECT_EQ(counters.at("sass__inst_global_store"), 1);
  EXPECT_EQ(of(kLoops).at("sass__inst_fp64"), 0);
}

TEST_P(Mix, SharedMemoryAtomicsAndCopies) {
  const Counters counters = of(kShared);
  EXPECT_EQ(counters.at("sass__inst_async_copy"), 1);
  EXPECT_GE(counters.at("sass__inst_shared_load"), 2);
  EXPECT_EQ(counters.at("sass__inst_shared_store"), 0);
  EXPECT_EQ(counters.at("sass__inst_global_load"), 0);
  EXPECT_GE(counters.at("sass__inst_barrier"), 3);
  EXPECT_GE(counters.at("sass__inst_atomic"), 3);
  EXPECT_GE(counters.at("sass__inst_exchange"), 1);
}

TEST_P(Mix, TensorCores) {
  EXPECT_EQ(of(kTensor).at("sass__inst_tensor"), 2);
  EXPECT_EQ(of(kShared).at("sass__inst_tensor"), 0);
}

TEST_P(Mix, HalvesTexturesAndGenericAddresses) {
  const Counters counters = of(kHalves);
  EXPECT_EQ(counters.at("sass__inst_fp16"), 1); // the other HFMA2 only move constants
  EXPECT_EQ(counters.at("sass__inst_texture"), 1);
  EXPECT_EQ(counters.at("sass__inst_generic_load"), 1);
  EXPECT_FALSE(counters.contains("sass__spill_load_bytes")); // it may be local memory that is read
}

// What ptxas said of the same builds: fixtures/README.md.
TEST(SassMix, SpillsAreWhatPtxasSays) {
  const Counters ampere = sassCounters(recorded("sm_80"), kSpilled),
                 hopper = sassCounters(recorded("sm_90"), kSpilled);
  EXPECT_EQ(ampere.at("sass__spill_store_bytes"), 132);
  EXPECT_EQ(ampere.at("sass__spill_load_bytes"), 144);
  EXPECT_EQ(hopper.at("sass__spill_store_bytes"), 276);
  EXPECT_EQ(hopper.at("sass__spill_load_bytes"), 280);
  EXPECT_EQ(hopper.at("sass__inst_local_indexed"), 0);
}

TEST_P(Mix, AnArrayIndexedAtRunTimeIsNoSpill) {
  const Counters counters = of(kIndexed);
  EXPECT_EQ(counters.at("sass__inst_local_indexed"), 3);
  EXPECT_FALSE(counters.contains("sass__spill_store_bytes"));
  EXPECT_FALSE(counters.contains("sass__spill_load_bytes"));
  EXPECT_EQ(of(kLoops).at("sass__spill_store_bytes"), 0);
}

TEST_P(Mix, Loops) {
  EXPECT_GT(of(kLoops).at("sass__loop_inst"), 10);
  EXPECT_EQ(of(kAccidental).at("sass__loop_inst"), 0);
}

TEST(SassMix, AKernelThatIsNotThereHasNoCounters) {
  EXPECT_TRUE(sassCounters(recorded("sm_90"), "_Z4nonev").empty());
}

SassInstruction instruction(const char *opcode, const char *operands) {
  SassInstruction made;
  made.opcode = opcode;
  made.operands = operands;
  return made;
}

TEST(SassClass, ConstantsMadeByArithmeticAreMoves) {
  EXPECT_EQ(classOf(instruction("HFMA2.MMA", "R3, -RZ, RZ, 0, 0")), SassClass::Movement);
  EXPECT_EQ(classOf(instruction("HFMA2", "R3, R4, R5, R6")), SassClass::Fp16);
  EXPECT_EQ(classOf(instruction("IMAD.MOV.U32", "R3, RZ, RZ, R4")), SassClass::Movement);
  EXPECT_EQ(classOf(instruction("IMAD.WIDE", "R2, R4, R3, c[0x0][0x168]")), SassClass::Integer);
}

TEST(SassClass, ByTheOpcodeUpToItsFirstPoint) {
  EXPECT_EQ(classOf(instruction("LDGSTS.E.BYPASS.128", "")), SassClass::AsyncCopy);
  EXPECT_EQ(classOf(instruction("UTMALDG.2D", "")), SassClass::AsyncCopy);
  EXPECT_EQ(classOf(instruction("HGMMA.64x128x16.F32", "")), SassClass::Tensor);
  EXPECT_EQ(classOf(instruction("DMMA.8x8x4", "")), SassClass::Tensor);
  EXPECT_EQ(classOf(instruction("F2F.F64.F32", "")), SassClass::Conversion);
  EXPECT_EQ(classOf(instruction("SULD.D.BA.1D", "")), SassClass::Surface);
  EXPECT_EQ(classOf(instruction("LDX", "")), SassClass::Other);
}

TEST(SassClass, Widths) {
  EXPECT_EQ(accessBytes(instruction("STL", "")), 4u);
  EXPECT_EQ(accessBytes(instruction("LDG.E.U8.CONSTANT", "")), 1u);
  EXPECT_EQ(accessBytes(instruction("LDL.LU.64", "")), 8u);
  EXPECT_EQ(accessBytes(instruction("LDG.E.LTC128B.128", "")),
            16u); // LTC128B is a hint for the cache
}

TEST(SassClass, LocalAddresses) {
  for (const char *stack : {"R2, [R1]", "R2, [R1+0x10]", "R2, [R1+-0x8]"})
    EXPECT_FALSE(isIndexedLocal(instruction("LDL", stack))) << stack;
  for (const char *other :
       {"R2, [R12]", "R2, [R1+R4]", "R2, [R1+UR4+0x10]", "R2, [UR4]", "R2", "R2, [R1"})
    EXPECT_TRUE(isIndexedLocal(instruction("LDL.64", other))) << other;
  EXPECT_FALSE(isIndexedLocal(instruction("LDG", "R2, [R12]")));
}

} // namespace
} // namespace kopt
