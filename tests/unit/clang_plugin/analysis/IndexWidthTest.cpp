// SPDX-License-Identifier: Apache-2.0
// Indices that are computed in fewer bits than the baseline's.
#include "unit/clang_plugin/screen/ScreenSample.h"

#include <llvm/ADT/STLExtras.h>

namespace kopt::frontend {
namespace {

const char kWide[] = R"(__device__ float at(const float *from, size_t i) { return from[i]; }
__global__ void k(const float *in, float *out, int rows, int columns) {
  const size_t row = blockIdx.x;
  for (size_t c = threadIdx.x; c < columns; c += blockDim.x)
    out[row * columns + c] = at(in, row * columns + c);
}
)";

bool isNarrower(const std::string &from, const std::string &to) {
  const auto findings = screen(replaced(kWide, from, to), kWide);
  return llvm::any_of(findings,
                      [](const ScreenFinding &finding) { return finding.id == "narrow-index"; });
}

TEST(Screen, IndicesOf64BitsMayNotSilentlyHave32) {
  EXPECT_TRUE(isNarrower("const size_t row", "const int row"));
  EXPECT_TRUE(isNarrower("out[row * columns + c]", "out[int(row) * columns + int(c)]"));
  EXPECT_TRUE(isNarrower("size_t i)", "unsigned i)")); // in what the kernel calls
  EXPECT_TRUE(isNarrower("out[row * columns + c] =", "*(out + int(row * columns + c)) ="));
  EXPECT_FALSE(isNarrower("out[row * columns + c]", "out[c + row * (unsigned)columns]"));
  EXPECT_FALSE(
      isNarrower("out[row * columns + c] =", "float *line = out + row * columns; line[c] ="));
  EXPECT_FALSE(isNarrower("blockIdx.x;", "blockIdx.x; out[0] = 0;"));
  EXPECT_FALSE(isNarrower("out[row * columns + c]", // a row's number is no index of elements
                          "const int mine = blockIdx.x * (blockDim.x / 32 + rows); "
                          "out[size_t(mine) * columns + c]"));
  // What a comparison keeps below a parameter plainly fits, other than a product or a sum of many.
  for (const auto &[to, isFlagged] : {std::pair{"int c = threadIdx.x; c < n; ++c) out[c]", false},
                                      {"int c = 0; c < n * n; ++c) out[c]", true},
                                      {"int c = 0; c < 9; c += n) out[c]", false}})
    EXPECT_EQ(isNarrower("for (size_t c = threadIdx.x; c < columns; c += blockDim.x)\n"
                         "    out[row * columns + c]",
                         "int n = columns; for (" + std::string(to)),
              isFlagged)
        << to;
}

const char kLabels[] =
    R"(__global__ void k(const float *in, const int *label, float *out, int rows, long columns) {
  for (int r = threadIdx.x; r < rows; r += blockDim.x) {
    const int at = label[r];
    out[r] = in[r * columns + at];
  }
}
)";

TEST(Screen, WhatARemainderKeepsSmallDoesNotMakeTheBaselineNarrow) {
  const std::string baseline = replaced(kLabels, "in[r * columns + at]",
                                        "in[r * columns + (r % 4 * 256 + threadIdx.x) * 8]");
  const auto findings =
      screen(replaced(baseline, "in[r * columns +", "in[r * (int)columns +"), baseline);
  EXPECT_TRUE(llvm::any_of(
      findings, [](const ScreenFinding &finding) { return finding.id == "narrow-index"; }));
}

TEST(Screen, IndicesInALocalArrayAreComputedUnlessTheyAreLoaded) {
  const std::string baseline =
      replaced(kWide, "at(in, row * columns + c)", "in[row * columns + c]");
  const auto isFlagged = [&](const std::string &kept, const std::string &value) {
    return llvm::any_of(screen(replaced(baseline, "out[row * columns + c] = in[row * columns + c];",
                                        "{ int at[2]; at[0] = " + value + "; at[1] = " + kept +
                                            "; out[at[0]] = in[row * columns + c]; }"),
                               baseline),
                        [](const ScreenFinding &finding) { return finding.id == "narrow-index"; });
  };
  EXPECT_TRUE(isFlagged("0", "blockIdx.x * columns + c"));
  EXPECT_FALSE(isFlagged("0", "threadIdx.x + 32"));
  EXPECT_FALSE(isFlagged("int(in[c])", "blockIdx.x * columns + c")); // contents show overflows
}

TEST(Screen, WhatIsAddedToALoadedIndexMayNotSilentlyHave32Bits) {
  const auto isFlagged = [](const std::string &to) {
    return llvm::any_of(screen(replaced(kLabels, "out[r] = in[r * columns + at]", to), kLabels),
                        [](const ScreenFinding &finding) { return finding.id == "narrow-index"; });
  };
  EXPECT_TRUE(isFlagged("const int c = columns; out[r] = in[r * c + at]"));
  EXPECT_TRUE(isFlagged("const int c = columns; const int i = at + r * c; out[r] = in[i]"));
  EXPECT_TRUE(isFlagged("out[r] = in[int(r * columns + at)]"));
  EXPECT_FALSE(isFlagged("const long i = r * columns; out[r] = in[i + label[r]]"));
  EXPECT_FALSE(isFlagged("out[r] = in[at + r * columns]; if (at < 0) out[r] = in[at]"));
}

} // namespace
} // namespace kopt::frontend
