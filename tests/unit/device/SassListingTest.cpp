// SPDX-License-Identifier: Apache-2.0
#include "tests/fakes/Results.h"
#include "tests/unit/device/Fixtures.h"

#include <set>

namespace kopt {
namespace {

class Recorded : public testing::TestWithParam<const char *> {};
INSTANTIATE_TEST_SUITE_P(Architectures, Recorded, testing::Values("sm_80", "sm_90"));

TEST_P(Recorded, EveryKernelIsFound) {
  const SassListing listing = recorded(GetParam());
  std::set<std::string> symbols;
  for (const SassFunction &function : listing.functions)
    symbols.insert(function.symbol);
  EXPECT_EQ(symbols, (std::set<std::string>{kLoops, kAccidental, kShared, kIndexed, kSpilled,
                                            kTensor, kHalves}));
  EXPECT_EQ(listing.find("_Z5loop"), nullptr);
}

TEST_P(Recorded, InstructionsAreWholeAndInOrder) {
  for (const SassFunction &function : recorded(GetParam()).functions)
    for (std::size_t i = 0; i < function.instructions.size(); ++i) {
      const SassInstruction &instruction = function.instructions[i];
      EXPECT_EQ(instruction.offset, 16 * i) << function.symbol; // 16 bytes each since Volta
      EXPECT_FALSE(instruction.opcode.empty());
      EXPECT_FALSE(instruction.opcode.starts_with("@"));
      EXPECT_EQ(instruction.operands.find(';'), std::string::npos);
    }
}

TEST_P(Recorded, PaddingIsLeftOut) {
  for (const SassFunction &function : recorded(GetParam()).functions) {
    EXPECT_NE(function.instructions.back().root(), "NOP") << function.symbol;
    EXPECT_TRUE(function.instructions.back().root() == "EXIT" ||
                function.instructions.back().root() == "RET" ||
                function.instructions.back().root() == "BRA")
        << function.symbol << " ends with " << function.instructions.back().opcode;
  }
}

TEST_P(Recorded, LoopsNest) {
  const SassListing listing = recorded(GetParam());
  unsigned deepest = 0;
  for (const SassInstruction &instruction : listing.find(kLoops)->instructions) {
    deepest = std::max(deepest, instruction.loopDepth);
    const unsigned line = instruction.frames.empty() ? 0 : instruction.frames.back().line;
    if (instruction.opcode == "FFMA" && line == 22)
      EXPECT_EQ(instruction.loopDepth, 2u);
    if (instruction.root() == "STG")
      EXPECT_EQ(instruction.loopDepth, 0u);
  }
  EXPECT_EQ(deepest, 2u);
  for (const SassInstruction &instruction : listing.find(kAccidental)->instructions)
    EXPECT_EQ(instruction.loopDepth, 0u);
}

TEST_P(Recorded, InlinedFunctionsKeepTheirCallers) {
  const SassListing listing = recorded(GetParam());
  bool seen = false;
  for (const SassInstruction &instruction : listing.find(kLoops)->instructions)
    if (instruction.root() == "MUFU" && !instruction.frames.empty()) {
      seen = true;
      EXPECT_EQ(instruction.frames, (std::vector<SourceFrame>{{kSource, 6}, {kSource, 24}}));
    }
  EXPECT_TRUE(seen);
  for (const SassInstruction &instruction : listing.find(kAccidental)->instructions)
    EXPECT_EQ(instruction.frames.size(), 1u);
}

TEST(SassListing, PredicatesAndTargetsAreApart) {
  const SassListing listing = recorded("sm_90");
  bool branch = false, call = false;
  for (const SassInstruction &instruction : listing.find(kIndexed)->instructions)
    if (instruction.root() == "BRA") {
      branch = true;
      EXPECT_EQ(instruction.predicate, "@!P0");
      EXPECT_TRUE(instruction.target.starts_with(".L_x_")) << instruction.target;
    }
  for (const SassInstruction &instruction : listing.find(kShared)->instructions)
    call |= instruction.root() == "CALL" && instruction.target.ends_with("_Z5counti");
  EXPECT_TRUE(branch);
  EXPECT_TRUE(call);
}

constexpr const char *kCallsAnother =
    "\t.section\t.text.first,\"ax\",@progbits\n"
    "first:\n"
    "        /*0000*/                   CALL.REL.NOINC `(second) ;\n"
    "        /*0010*/                   EXIT ;\n"
    "\t.section\t.text.second,\"ax\",@progbits\n"
    "second:\n"
    "        /*0000*/                   CALL.REL.NOINC `(second) ;\n"
    "        /*0010*/                   RET.REL.NODEC R2 `(first) ;\n"
    "\t.section\t.text.third,\"ax\",@progbits\n"
    "        /*0000*/                   EXIT ;\n";

TEST(SassListing, WhatIsCalledInAnotherSectionIsReachedOnce) {
  const auto listing = must(parseSassListing(kCallsAnother));
  ASSERT_EQ(listing.functions.size(), 3u);
  EXPECT_EQ(listing.reachableFrom("first").size(), 2u);
  EXPECT_EQ(listing.reachableFrom("second").size(), 1u); // a return is no call
  EXPECT_TRUE(listing.reachableFrom("fourth").empty());
}

TEST(SassListing, ATextWithoutCodeIsAnError) {
  EXPECT_FALSE(parseSassListing(""));
  EXPECT_FALSE(parseSassListing("nvdisasm fatal   : no\n"));
  EXPECT_FALSE(parseSassListing("\t.section\t.text.first,\"ax\",@progbits\n"));
  EXPECT_FALSE(parseSassListing("        /*0000*/                   EXIT ;\n")); // in no section
}

TEST(SassListing, WhatIsCutOrOddIsPassedOver) {
  const auto listing = must(parseSassListing(
      "\t.section\t.text.k\n"
      "/*zz*/ FADD R1 ;\n/*0000 FADD R1 ;\n/*0000*/ ;\n/*0000*/ @P0\n"
      "//## File \"a.cu\", line \n//## File \"a.cu\n//## File \"b.cu\", line 7 inlined at \"\n"
      ":\n/*0000*/ FADD R0, R1, `(unclosed ;\n/*0010*/ NOP"));
  ASSERT_EQ(listing.functions.front().instructions.size(), 1u);
  const SassInstruction &only = listing.functions.front().instructions.front();
  EXPECT_EQ(only.opcode, "FADD");
  EXPECT_TRUE(only.target.empty());
  EXPECT_EQ(only.frames, (std::vector<SourceFrame>{{"b.cu", 7}}));
}

} // namespace
} // namespace kopt
