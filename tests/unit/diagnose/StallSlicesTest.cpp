// SPDX-License-Identifier: Apache-2.0
// On recorded listings of tests/unit/device/fixtures, whose lines are those of classes.cu.
#include "driver/diagnose/StallSlices.h"
#include "tests/fakes/Results.h"
#include "tests/unit/device/Fixtures.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace kopt {
namespace {

using testing::HasSubstr;

InstructionCounts samplesAt(std::initializer_list<std::pair<const std::uint64_t, double>> samples) {
  InstructionCounts counts;
  for (const auto &[offset, count] : samples)
    counts[offset] = {1, count};
  return counts;
}

std::vector<StallSlice> slicesOf(const char *kernel,
                                 std::initializer_list<std::pair<const std::uint64_t, double>> at) {
  return stallSlices(recorded("sm_90"), kernel, samplesAt(at));
}

TEST(StallSlices, TheLoadIsBlamedAndNotWhatUsesIt) {
  // FFMA R0, R3, R0, 2 waits for LDG.E R3 in the inner loop.
  const auto slices = slicesOf(kLoops, {{0x170, 90}, {0xc0, 10}});
  ASSERT_EQ(slices.size(), 2u);
  EXPECT_EQ(slices[0].blamed, (SourceFrame{kSource, 22}));
  EXPECT_EQ(slices[0].kind, SassClass::GlobalLoad);
  EXPECT_DOUBLE_EQ(slices[0].share, 0.9);
  EXPECT_EQ(slices[1].blamed.line, 19u); // the load of the outer loop, not the nearer one after it
  EXPECT_THAT(inWords(slices[0]), HasSubstr("90.0% of the samples wait for a global load at " +
                                            std::string(kSource) + ":22"));
}

TEST(StallSlices, LinesOfLoadAndUseMayDiffer) {
  // A use may stand at another line than what it waits for.
  const auto slices = slicesOf(kShared, {{0x1c0, 40}, {0x1b0, 60}});
  ASSERT_EQ(slices.size(), 2u);
  EXPECT_EQ(slices[0].kind, SassClass::SharedLoad); // SHFL waits for LDS R4
  EXPECT_EQ(slices[0].blamed.line, 40u);
  EXPECT_EQ(slices[1].kind, SassClass::Exchange); // ATOMG at line 41 waits for SHFL at line 40
  EXPECT_EQ(slices[1].blamed.line, 40u);
  EXPECT_EQ(slices[1].waiting.line, 41u);
  EXPECT_THAT(inWords(slices[1]), HasSubstr(", found at " + std::string(kSource) + ":41"));
}

TEST(StallSlices, BarriersWaitForNoResult) {
  const auto slices = slicesOf(kShared, {{0x140, 30}});
  ASSERT_EQ(slices.size(), 1u);
  EXPECT_EQ(slices[0].kind, SassClass::Barrier);
  EXPECT_EQ(slices[0].blamed.line, 37u);
  EXPECT_THAT(inWords(slices[0]), HasSubstr("wait for a barrier at"));
}

/// A listing of one function, one source line for each instruction, from line 1.
SassListing listingOf(const std::vector<std::string> &code) {
  std::string text = "\t.section\t.text.f,\"ax\",@progbits\n.text.f:\n";
  unsigned offset = 0, line = 0;
  for (const std::string &each : code)
    if (each.ends_with(':')) {
      text += each + "\n";
    } else {
      text += fmt::format("\t//## File \"a.cu\", line {}\n        /*{:04x}*/ {} ;\n", ++line,
                          offset, each);
      offset += 16;
    }
  return must(parseSassListing(text));
}

unsigned blamedLine(const std::vector<std::string> &code, unsigned waiting) {
  const auto slices = stallSlices(listingOf(code), "f", samplesAt({{(waiting - 1) * 16, 1}}));
  return slices.size() == 1 ? slices[0].blamed.line : 0;
}

TEST(StallSlices, FollowRegistersBackwards) {
  // A later load of the turn before feeds the use at the head of the loop.
  EXPECT_EQ(blamedLine({"MOV R2, RZ", ".L_1:", "FADD R5, R2, R5", "LDG.E R2, desc[UR4][R6.64]",
                        "@P0 BRA `(.L_1)", "EXIT"},
                       2),
            3u);
  // A value that was written since does not come from the load.
  EXPECT_EQ(blamedLine({"LDG.E R2, desc[UR4][R6.64]", "MOV R2, RZ", "FADD R5, R2, R5", "EXIT"}, 3),
            3u);
  // A write under a predicate leaves the earlier one possible.
  EXPECT_EQ(
      blamedLine({"LDG.E R2, desc[UR4][R6.64]", "@P1 MOV R2, RZ", "FADD R5, R2, R5", "EXIT"}, 3),
      1u);
  // The second register of a wide load, and of an address.
  EXPECT_EQ(
      blamedLine({"LDG.E.128 R4, desc[UR4][R2.64]", "MOV R9, RZ", "FADD R9, R7, R9", "EXIT"}, 3),
      1u);
  EXPECT_EQ(
      blamedLine({"LDG.E.64 R6, desc[UR4][R2.64]", "LDG.E R9, desc[UR4][R6.64+0x10]", "EXIT"}, 2),
      1u);
  // Both halves of a double, and the data of a store.
  EXPECT_EQ(blamedLine({"LDS R5, [R1]", "DADD R2, R4, R8", "EXIT"}, 2), 1u);
  EXPECT_EQ(blamedLine({"MUFU.RCP R7, R3", "STG.E.64 desc[UR4][R2.64], R6", "EXIT"}, 2), 1u);
  // Predicates: a comparison takes a fixed time, a vote does not.
  EXPECT_EQ(blamedLine({"SHFL.DOWN P2, R5, R4, 0x1, 0x1f", "@P2 FADD R9, R8, R8", "EXIT"}, 2), 1u);
  // The slower of two.
  EXPECT_EQ(
      blamedLine({"LDG.E R2, desc[UR4][R6.64]", "LDS R3, [R8]", "FADD R4, R2, R3", "EXIT"}, 3), 1u);
  // Code behind an unconditional branch is not before what follows it in the text.
  EXPECT_EQ(blamedLine({"@P0 BRA `(.L_2)", "LDG.E R2, desc[UR4][R6.64]", "EXIT",
                        ".L_2:", "FADD R4, R2, R2", "EXIT"},
                       4),
            4u);
}

TEST(StallSlices, WithoutSamplesThereAreNone) {
  EXPECT_TRUE(slicesOf(kLoops, {}).empty());
  EXPECT_TRUE(slicesOf("no_such_kernel", {{0x10, 5}}).empty());
}

} // namespace
} // namespace kopt
