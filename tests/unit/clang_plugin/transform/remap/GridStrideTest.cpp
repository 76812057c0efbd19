// SPDX-License-Identifier: Apache-2.0
#include "../Offers.h"

#include <gmock/gmock.h>

namespace kopt::frontend::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char *kStrideHead = "__global__ void k(float *out, const float *in, int n) {\n";

/// A kernel with these statements, launched in 4096 blocks of 256 threads.
Question askStride(const std::string &body) {
  return {.technique = "grid-stride",
          .slice = kStrideHead + body + "}\n",
          .launches = {{{4096, 1, 1}, {256, 1, 1}, 0}}};
}

constexpr const char *kTested = "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                "  if (i < n) {\n    out[i] = 2 * in[i];\n  }\n";

std::string firstStride(const Question &question) {
  const std::vector<std::string> texts = textsFor(question);
  return texts.empty() ? "" : texts.front();
}

TEST(GridStride, ATestBecomesALoop) {
  EXPECT_EQ(firstStride(askStride(kTested)),
            kStrideHead +
                std::string("  // Each thread takes the elements that are a grid apart.\n"
                            "  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; "
                            "i += gridDim.x * blockDim.x) {\n"
                            "    out[i] = 2 * in[i];\n  }\n}\n"));
}

TEST(GridStride, AReturnBecomesALoop) {
  EXPECT_EQ(firstStride(askStride("  unsigned i = 256 * blockIdx.x + threadIdx.x;\n"
                                  "  const float factor = 2;\n"
                                  "  if (i >= n)\n    return;\n"
                                  "  if (in[i] < 0)\n    return;\n"
                                  "  out[i] = factor * in[i];\n")),
            kStrideHead + std::string("  const float factor = 2;\n"
                                      "  // Each thread takes the elements that are a grid apart.\n"
                                      "  for (unsigned i = 256 * blockIdx.x + threadIdx.x; i < n; "
                                      "i += gridDim.x * 256) {\n"
                                      "    if (in[i] < 0)\n      continue;\n"
                                      "    out[i] = factor * in[i];\n  }\n}\n"));
  EXPECT_THAT(firstStride(askStride("  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                    "  if (i >= n) { return; }\n  out[i] = 1;\n")),
              HasSubstr("gridDim.x * blockDim.x) {\n    out[i] = 1;\n  }\n}\n"));
}

TEST(GridStride, LaunchesAPartOrWhatRunsAtOnce) {
  Question question = askStride(kTested);
  question.launches[0].scalars = {{"n", "1048576"}};
  std::vector<std::string> grids;
  for (const Offer &offer : offersFor(question)) {
    grids.push_back(offer.launch->grid[0]);
    EXPECT_EQ(offer.legality, Legality::Tested);
  }
  EXPECT_THAT(grids, ElementsAre("(gridDim.x + 4 - 1) / 4", "(gridDim.x + 2 - 1) / 2",
                                 "(gridDim.x + 8 - 1) / 8", "gridDim.x < 1056 ? gridDim.x : 1056"));
  question.launches[0].scalars = {{"n", "1048577"}};
  EXPECT_THAT(refusalsFor(question), ElementsAre("3: a launch has fewer threads than elements"));
}

TEST(GridStride, RefusesOtherBeginnings) {
  const std::string index = "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n";
  EXPECT_THAT(refusalsFor(askStride(index + "  out[i] = 1;\n")),
              ElementsAre("it does not begin with declarations and a test of its index"));
  EXPECT_THAT(refusalsFor(askStride(index + "  if (i < n) out[i] = 1;\n  out[0] = 1;\n")),
              ElementsAre("3: the test of its index is not around the whole work"));
  EXPECT_THAT(refusalsFor(askStride(index + "  if (i < in[0]) out[i] = 1;\n")),
              ElementsAre("3: it does not compare a fixed index with a fixed bound"));
  EXPECT_THAT(refusalsFor(askStride(index + "  if (i < gridDim.x * 100) out[i] = 1;\n")),
              ElementsAre("3: it does not compare a fixed index with a fixed bound"));
  EXPECT_THAT(refusalsFor(askStride("  int i = blockIdx.x * 4 + threadIdx.x % 4;\n"
                                    "  if (i < n) out[i] = 1;\n")),
              ElementsAre("3: the index is not blockIdx * b + threadIdx"));
  EXPECT_THAT(refusalsFor(askStride("  int i = blockIdx.x * 2 * 128 + threadIdx.x;\n"
                                    "  if (i < n) out[i] = 1;\n")),
              ElementsAre("2: the index is not blockIdx.x * b + threadIdx.x"));
  EXPECT_THAT(refusalsFor(askStride("  int i = blockIdx.x * 128 + threadIdx.x;\n"
                                    "  if (i < n) out[i] = 1;\n")),
              ElementsAre("3: a launch has blocks of another width than the index"));
}

TEST(GridStride, RefusesOtherUsesOfThePlaceAndOfWhatIsDeclared) {
  const std::string index = "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n";
  EXPECT_THAT(refusalsFor(askStride(index + "  if (i < n)\n    out[i] = threadIdx.x;\n")),
              ElementsAre("4: the place of the thread along x has another use"));
  EXPECT_THAT(refusalsFor(askStride(index + "  float sum = 0;\n  if (i < n)\n    sum += in[i];\n")),
              ElementsAre("3: a declaration before the test is not fixed"));
  EXPECT_THAT(refusalsFor(askStride(index + "  int j = i + 1;\n  if (i < n)\n    out[i] = j;\n")),
              ElementsAre("3: a declaration before the test is not fixed"));
  EXPECT_THAT(textsFor(askStride(index + "  if (i < n) {\n    out += 1;\n    out[i] = 1;\n  }\n")),
              IsEmpty());
}

} // namespace
} // namespace kopt::frontend::test
