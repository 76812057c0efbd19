// SPDX-License-Identifier: Apache-2.0
#include "driver/support/MergeTexts.h"

#include <gtest/gtest.h>

namespace kopt {
namespace {

constexpr char kBase[] = "__global__ void k(float *x, int n) {\n"
                         "  for (int i = 0; i < n; i++)\n"
                         "    x[i] = 2 * x[i];\n"
                         "}\n";

TEST(MergeTexts, ChangesOfOneLineDoNotMeet) {
  EXPECT_EQ(mergeTexts("void k(float *x, int n)", "void __launch_bounds__(64) k(float *x, int n)",
                       "void k(float *__restrict__ x, int n)"),
            "void __launch_bounds__(64) k(float *__restrict__ x, int n)");
}

TEST(MergeTexts, OrderOfTheSidesDoesNotMatter) {
  std::string unrolled = kBase, added = kBase;
  unrolled.insert(unrolled.find("  for"), "#pragma unroll 4\n");
  added.replace(added.find("2 * x[i]"), 8, "x[i] + x[i]");
  const auto merged = mergeTexts(kBase, unrolled, added);
  EXPECT_EQ(merged, "__global__ void k(float *x, int n) {\n"
                    "#pragma unroll 4\n"
                    "  for (int i = 0; i < n; i++)\n"
                    "    x[i] = x[i] + x[i];\n"
                    "}\n");
  EXPECT_EQ(mergeTexts(kBase, added, unrolled), merged);
}

TEST(MergeTexts, AChangeThatBothMakeCountsOnce) {
  EXPECT_EQ(mergeTexts("a b c d e", "a x c d e", "a x c d y"), "a x c d y");
  EXPECT_EQ(mergeTexts("a b", "a b", "a c"), "a c");
  EXPECT_EQ(mergeTexts("", "", "a"), "a");
}

TEST(MergeTexts, ChangesThatMeetAreNotMerged) {
  EXPECT_EQ(mergeTexts("a b c", "a x c", "a y c"), std::nullopt);
  EXPECT_EQ(mergeTexts("a;b", "a+b", "a;c"), std::nullopt); // neighbours
  EXPECT_EQ(mergeTexts("a c", "a x c", "a y c"), std::nullopt);
  EXPECT_EQ(mergeTexts("a b c d", "a d", "a b x d"), std::nullopt); // one removes what one changes
}

} // namespace
} // namespace kopt
