// SPDX-License-Identifier: Apache-2.0
#include "driver/device/sass/SourceLines.h"
#include "tests/unit/device/Fixtures.h"

#include <numeric>

namespace kopt {
namespace {

const LineUse *at(const std::vector<LineUse> &lines, unsigned line) {
  for (const LineUse &use : lines)
    if (use.place.file == kSource && use.place.line == line)
      return &use;
  return nullptr;
}

class Lines : public testing::TestWithParam<const char *> {};
INSTANTIATE_TEST_SUITE_P(Architectures, Lines, testing::Values("sm_80", "sm_90"));

TEST_P(Lines, EveryInstructionBelongsToOneLine) {
  const SassListing listing = recorded(GetParam());
  for (const SassFunction &function : listing.functions) {
    std::uint64_t sum = 0;
    for (const LineUse &line : linesOf(listing, function.symbol))
      sum += line.mix.all;
    EXPECT_EQ(sum, function.instructions.size());
  }
}

TEST_P(Lines, TheInnerLoopComesFirst) {
  const std::vector<LineUse> lines = linesOf(recorded(GetParam()), kLoops);
  ASSERT_FALSE(lines.empty());
  EXPECT_TRUE(lines[0].place.line == 21 || lines[0].place.line == 22) << lines[0].place.line;
  EXPECT_EQ(lines[0].loopDepth, 2u);
  const LineUse *inner = at(lines, 22);
  ASSERT_TRUE(inner);
  EXPECT_EQ(inner->mix[SassClass::GlobalLoad], 1u);
  EXPECT_FALSE(inner->counted);
  ASSERT_TRUE(at(lines, 6)); // of the inlined function, not of its call
  EXPECT_GT(at(lines, 6)->mix[SassClass::Special], 0u);
}

TEST_P(Lines, HeadersCountForTheLineThatCallsThem) {
  for (const LineUse &line : linesOf(recorded(GetParam()), kTensor))
    EXPECT_TRUE(line.place.file == kSource) << line.place.file;
  const std::vector<LineUse> lines = linesOf(recorded(GetParam()), kShared);
  // atomicAdd of <sm_20_atomic_functions.hpp> at three lines, one of them on shared memory
  for (const unsigned line : {38u, 41u, 42u}) {
    ASSERT_TRUE(at(lines, line)) << line;
    EXPECT_GE(at(lines, line)->mix[SassClass::Atomic], 1u) << line;
  }
}

TEST_P(Lines, DoublesAndSpillsAreSaid) {
  const SassListing listing = recorded(GetParam());
  const std::vector<LineUse> accidental = linesOf(listing, kAccidental);
  ASSERT_TRUE(at(accidental, 29));
  EXPECT_NE(inWords(*at(accidental, 29)).find("2 conversions (2 of double)"), std::string::npos)
      << inWords(*at(accidental, 29));
  EXPECT_NE(inWords(*at(accidental, 29)).find("1 double operation"), std::string::npos);
  bool local = false;
  for (const LineUse &line : linesOf(listing, kSpilled))
    local |= inWords(line).find("local load") != std::string::npos;
  EXPECT_TRUE(local);
}

TEST_P(Lines, WhatWasCountedDecides) {
  const SassListing listing = recorded(GetParam());
  InstructionCounts counts;
  for (const SassInstruction &instruction : listing.find(kLoops)->instructions)
    if (instruction.root() == "STG")
      counts[instruction.offset] = {10, 4};
    else if (instruction.root() == "MUFU" && !instruction.frames.empty())
      counts[instruction.offset] = {1000, 0};
  const std::vector<LineUse> lines = linesOf(listing, kLoops, counts);
  EXPECT_EQ(lines[0].place.line, 24u); // samples before executed instructions
  EXPECT_EQ(lines[0].counted->samples, 4);
  EXPECT_EQ(lines[0].counted->executed, 10);
  EXPECT_EQ(lines[1].place.line, 6u);
  EXPECT_EQ(lines[1].counted->executed, 1000);
  EXPECT_FALSE(lines[2].counted);
}

TEST(SourceLines, WithoutLineInformationThereIsOnePlaceWithoutAName) {
  const auto listing =
      parseSassListing("\t.section\t.text.k,\n/*0000*/ FADD R0, R1, R2 ;\n/*0010*/ EXIT ;\n");
  ASSERT_TRUE(listing);
  const std::vector<LineUse> lines = linesOf(*listing, "k");
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(lines[0].place.file.empty());
  EXPECT_EQ(lines[0].mix.all, 2u);
  EXPECT_TRUE(linesOf(*listing, "other").empty());
}

TEST(SourceLines, WhichHeadersAreNobodys) {
  for (const char *file :
       {"/usr/local/cuda/bin/../targets/x86_64-linux/include/mma.hpp",
        "/opt/cuda/targets/sbsa-linux/include/mma.h", "/usr/include/c++/12/cmath",
        "/usr/local/cuda-13.0/include/cuda_fp16.hpp"})
    EXPECT_TRUE(isSystemHeader(file)) << file;
  for (const char *file : {"/home/a/project/include/kernel.cuh", "/usr/src/app/kernel.cu",
                           "/srv/targets/gpu/kernel.cu", "kernel.cu", ""})
    EXPECT_FALSE(isSystemHeader(file)) << file;
}

} // namespace
} // namespace kopt
