// SPDX-License-Identifier: Apache-2.0
#include "../Offers.h"

#include <gmock/gmock.h>

namespace kopt::frontend::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// A kernel with these statements, launched in 4000 blocks of 256 threads with n == 1000.
Question askTrim(const std::string &body) {
  Question question{.technique = "trim-grid",
                    .slice = "__global__ void k(float *out, const float *in, int n, int halo) {\n" +
                             body + "\n}\n"};
  question.launches[0].grid = {4000, 1, 1};
  question.launches[0].scalars = {{"n", "1000"}, {"halo", "3"}};
  return question;
}

std::vector<std::string> trimmedFor(const Question &question) {
  std::vector<std::string> grids;
  for (const Offer &offer : offersFor(question)) {
    EXPECT_THAT(offer.edits, IsEmpty());
    EXPECT_EQ(offer.legality, Legality::Tested);
    grids.push_back(offer.launch->grid[0]);
  }
  return grids;
}

constexpr const char *kGlobalIndex = "int i = blockIdx.x * blockDim.x + threadIdx.x;\n";

std::vector<std::string> trimmedBehind(const std::string &rest) {
  return trimmedFor(askTrim(kGlobalIndex + rest));
}

TEST(TrimGrid, EndsWithTheBlockOfTheLastElement) {
  const auto grid =
      ElementsAre("0 <= n - 1 && (n - 1) / (blockDim.x) < gridDim.x ? (n - 1) / (blockDim.x) + 1 "
                  ": gridDim.x");
  EXPECT_THAT(trimmedBehind("if (i < n) out[i] = 2 * in[i];"), grid);
  EXPECT_THAT(trimmedBehind("if (i >= n) return;\nout[i] = 2 * in[i];"), grid);
  EXPECT_THAT(trimmedBehind("if (n > i) out[i] = 2 * in[i];"), grid);
  EXPECT_THAT(trimmedBehind("if (i <= n - 1) out[i] = 2 * in[i];"), grid);
  EXPECT_THAT(trimmedBehind("if (i <= n) out[i] = 2 * in[i];"),
              ElementsAre("0 <= n && (n) / (blockDim.x) < gridDim.x ? (n) / (blockDim.x) + 1 : "
                          "gridDim.x"));
}

TEST(TrimGrid, TakesTheIndexOfThreadZero) {
  EXPECT_THAT(
      trimmedFor(askTrim("int i = (blockDim.x - 2 * halo) * blockIdx.x + threadIdx.x - halo;\n"
                         "if (i >= 0 && i < n) out[i] = 2 * in[i];")),
      ElementsAre("0 < blockDim.x - 2 * halo && 0 <= halo + n - 1 && "
                  "(halo + n - 1) / (blockDim.x - 2 * halo) < gridDim.x ? "
                  "(halo + n - 1) / (blockDim.x - 2 * halo) + 1 : gridDim.x"));
}

TEST(TrimGrid, AsksForBlocksToSpare) {
  Question question = askTrim(std::string(kGlobalIndex) + "if (i < n) out[i] = 2 * in[i];");
  question.launches[0].grid[0] = 7;
  EXPECT_THAT(trimmedFor(question), IsEmpty());
  EXPECT_THAT(refusalsFor(question),
              ElementsAre("no guard shows that more than half of the blocks have no work"));
  question.launches[0].grid[0] = 8;
  EXPECT_EQ(trimmedFor(question).size(), 1U);
  question.launches.push_back(question.launches[0]);
  question.launches[1].scalars[0].literal = "2000";
  EXPECT_THAT(trimmedFor(question), IsEmpty()) << "the second launch needs all its blocks";
}

TEST(TrimGrid, RefusesIndicesThatWrap) {
  Question question = askTrim(std::string(kGlobalIndex) + "if (i < n) out[i] = 2 * in[i];");
  question.launches[0].grid[0] = 20'000'000;
  EXPECT_THAT(trimmedFor(question), IsEmpty()) << "the last blocks have small indices again";
}

TEST(TrimGrid, RefusesBlocksThatMayHaveWork) {
  const auto why = [](const std::string &rest) {
    return refusalsFor(askTrim(kGlobalIndex + rest));
  };
  const std::string none = "no guard shows that more than half of the blocks have no work";
  EXPECT_THAT(why("if (i < n) out[i] = 1;\nout[blockIdx.x + n] = in[0];"),
              ElementsAre("4: a store has nothing to do with where blocks have work", none));
  EXPECT_THAT(why("if (i < n) out[i] = 1;\nif (i < 2 * halo) out[i + n] = in[0];"),
              ElementsAre("4: another guard limits the same axis otherwise", none));
  EXPECT_THAT(why("if (i < n) out[i] = 1;\nif (threadIdx.x == 0) atomicAdd(out + n, in[0]);"),
              ElementsAre("4: a store has nothing to do with where blocks have work", none));
  EXPECT_THAT(why("if (i < n) out[i] = gridDim.x;"),
              ElementsAre("it may depend on the size of the grid"));
  EXPECT_THAT(why("if (i > n) out[i] = 1;"),
              ElementsAre("3: a store has nothing to do with where blocks have work", none));
  EXPECT_THAT(why("if (-i < n) out[i] = 1;"),
              ElementsAre("3: a store has nothing to do with where blocks have work", none));
  EXPECT_THAT(why("if (i < in[0]) out[i] = 1;"), ElementsAre(none));
}

} // namespace
} // namespace kopt::frontend::test
