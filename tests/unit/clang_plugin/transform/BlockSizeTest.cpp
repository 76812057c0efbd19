// SPDX-License-Identifier: Apache-2.0
#include "Offers.h"

#include <gmock/gmock.h>

namespace kopt::frontend::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

using Shape = std::array<unsigned, 3>;

Question askBody(const std::string &body, Shape block = {256, 1, 1},
                 const std::string &before = "") {
  return {.technique = "block-size",
          .slice = before + "__global__ void k(const float *in, float *out, int n, int w) {\n" +
                   body + "\n}\n",
          .launches = {{{64, 64, 1}, block, 0}}};
}

std::vector<Shape> shapes(const Question &question) {
  std::vector<Shape> result;
  for (const Offer &offer : offersFor(question)) {
    const std::array<std::string, 3> block = offer.launch.value_or(LaunchChange{}).block;
    result.push_back({unsigned(std::stoul(block[0])), unsigned(std::stoul(block[1])),
                      unsigned(std::stoul(block[2]))});
  }
  return result;
}

const char kGuarded[] = "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = in[i];";

TEST(BlockSize, RetargetsAGuardedLine) {
  const auto offers = offersFor(askBody(kGuarded));
  EXPECT_THAT(shapes(askBody(kGuarded)),
              ElementsAre(Shape{128, 1, 1}, Shape{512, 1, 1}, Shape{64, 1, 1}, Shape{1024, 1, 1}));
  for (const Offer &offer : offers) {
    EXPECT_EQ(offer.launch->grid[0], "(gridDim.x * blockDim.x + " +
                                         std::to_string(std::stoul(offer.launch->block[0]) - 1) +
                                         ") / " + offer.launch->block[0]);
    EXPECT_EQ(offer.launch->grid[1], "gridDim.y * blockDim.y");
    EXPECT_TRUE(offer.launch->sharedBytes.empty());
    EXPECT_TRUE(offer.edits.empty());
  }
}

TEST(BlockSize, RetargetsGridStrideLoops) {
  EXPECT_THAT(
      shapes(askBody(
          "for (int i = threadIdx.x + blockDim.x * blockIdx.x; i < n; i += gridDim.x * blockDim.x)"
          " out[i] = in[i];")),
      Contains(Shape{512, 1, 1}));
}

TEST(BlockSize, KeepsTheGridOfARowPerBlock) {
  const auto offers = offersFor(askBody(
      "for (int i = threadIdx.x; i < w; i += blockDim.x) out[blockIdx.x * w + i] = in[i];"));
  ASSERT_THAT(offers, Not(IsEmpty()));
  for (const Offer &offer : offers)
    EXPECT_TRUE(offer.launch->grid[0].empty());
}

TEST(BlockSize, RetargetsPlanes) {
  const std::string body =
      "int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;"
      " if (x < w && y < n) out[y * w + x] = in[y * w + x];";
  const auto found = shapes(askBody(body, {16, 16, 1}));
  EXPECT_THAT(found, Contains(Shape{32, 8, 1}));
  EXPECT_THAT(found, Contains(Shape{64, 4, 1}));
  EXPECT_THAT(found, Not(Contains(Shape{16, 16, 1})));
}

TEST(BlockSize, KeepsSquaresWhereAxesChangePlaces) {
  const std::string body =
      "int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;"
      " int u = blockIdx.y * blockDim.y + threadIdx.x, v = blockIdx.x * blockDim.x + threadIdx.y;"
      " if (x < n && y < n) out[v * n + u] = in[y * n + x];";
  EXPECT_THAT(shapes(askBody(body, {16, 16, 1})), ElementsAre(Shape{32, 32, 1}, Shape{8, 8, 1}));
}

TEST(BlockSize, ScalesDynamicSharedMemory) {
  Question question = askBody(
      std::string("extern __shared__ float s[]; s[threadIdx.x] = 1; __syncthreads();") + kGuarded);
  question.launches = {{{64, 1, 1}, {256, 1, 1}, 1024}};
  const auto offers = offersFor(question);
  ASSERT_THAT(offers, Not(IsEmpty()));
  EXPECT_EQ(shapes(question).front(), (Shape{128, 1, 1}));
  EXPECT_EQ(offers.front().launch->sharedBytes, "512");
  question.launches = {{{64, 1, 1}, {256, 1, 1}, 1000}};
  EXPECT_THAT(offersFor(question), IsEmpty());
}

TEST(BlockSize, IsBoundedByStaticSharedArrays) {
  EXPECT_THAT(
      shapes(askBody(std::string("__shared__ float s[512]; s[threadIdx.x] = 1; __syncthreads();") +
                     kGuarded)),
      ElementsAre(Shape{128, 1, 1}, Shape{512, 1, 1}, Shape{64, 1, 1}));
  EXPECT_THAT(shapes(askBody(
                  std::string("__shared__ float s[32]; int warp = threadIdx.x / 32; s[warp] = 1;") +
                  kGuarded)),
              Contains(Shape{1024, 1, 1}));
}

TEST(BlockSize, IsBoundedByLaunchBounds) {
  Question question = askBody(kGuarded);
  question.slice.insert(question.slice.find("k(const"), "__launch_bounds__(512) ");
  EXPECT_THAT(shapes(question), Not(Contains(Shape{1024, 1, 1})));
}

TEST(BlockSize, SaysThatTheGridGrows) {
  Question question = askBody(kGuarded);
  question.launches = {{{3, 1, 1}, {256, 1, 1}, 0}};
  for (const Offer &offer : offersFor(question))
    EXPECT_EQ(offer.note.empty(), 768 % std::stoul(offer.launch->block[0]) == 0) << offer.title;
}

TEST(BlockSize, HasNoMoreThreadsWhereNoGuardStopsThem) {
  const std::string indices =
      "int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;";
  const auto shapesOf = [&](const std::string &work) {
    Question question = askBody(indices + work, {16, 16, 1});
    question.launches.front().grid = {188, 188, 1}; // 3008: 23.5 blocks of 128
    return shapes(question);
  };
  const auto unguarded = shapesOf("if (in[x] < in[y]) out[y * w + x] = in[x];");
  EXPECT_THAT(unguarded, Contains(Shape{64, 4, 1}));
  EXPECT_THAT(unguarded, Not(Contains(Shape{128, 2, 1})));
  EXPECT_THAT(unguarded, Not(Contains(Shape{8, 128, 1})));
  // A limit along x alone; one from below; both; both, and what all threads read.
  const auto wide = shapesOf("if (x < w) out[y * w + x] = in[x];");
  EXPECT_THAT(wide, Contains(Shape{128, 2, 1}));
  EXPECT_THAT(wide, Not(Contains(Shape{8, 128, 1})));
  EXPECT_THAT(shapesOf("if (x >= w && y > 0) out[y * w + x] = in[x];"),
              Not(Contains(Shape{128, 2, 1})));
  EXPECT_THAT(shapesOf("if (x >= w || y >= n) return; out[y * w + x] = in[x];"),
              Contains(Shape{8, 128, 1}));
  EXPECT_THAT(shapesOf("float f = in[w]; if (x < w && y < n) out[y * w + x] = f;"),
              Contains(Shape{8, 128, 1}));
}

TEST(BlockSize, RefusesAnArgumentThatIsTheBlock) {
  const auto shapesOf = [&](const std::string &shared, const std::string &width) {
    Question question = askBody(shared + kGuarded + " if (i + w < n) out[i + w] = 0;");
    question.launches = {{{64, 1, 1}, {256, 1, 1}, 1024, 1, {{"n", "9999"}, {"w", width}}}};
    return shapes(question);
  };
  const std::string shared = "extern __shared__ float s[]; s[threadIdx.x] = 1; __syncthreads();";
  EXPECT_THAT(shapesOf(shared, "256"), IsEmpty());
  EXPECT_THAT(shapesOf(shared, "250"), Not(IsEmpty()));
  EXPECT_THAT(shapesOf("", "256"), Not(IsEmpty()));
}

TEST(BlockSize, RefusesWhatOneThreadOfEachBlockDoes) {
  EXPECT_THAT(
      shapes(askBody(std::string("int t = threadIdx.x; if (t == 11) out[n - 1] = t;") + kGuarded)),
      IsEmpty());
  EXPECT_THAT(shapes(askBody(std::string("if (threadIdx.x == 0) out[n - 1] = 1;") + kGuarded)),
              Not(IsEmpty()));
}

TEST(BlockSize, RefusesConstantsTiedToTheBlock) {
  EXPECT_THAT(offersFor(askBody(std::string("if (threadIdx.x == 255) out[n] = 1;") + kGuarded)),
              IsEmpty());
  EXPECT_THAT(
      offersFor(askBody("int i = blockIdx.x * blockDim.x + threadIdx.x; out[i] = in[i + B / 4];",
                        {256, 1, 1}, "constexpr int B = 1024;\n")),
      IsEmpty());
  EXPECT_THAT(
      offersFor(askBody("int i = blockIdx.x * 256 + threadIdx.x; if (i < n) out[i] = in[i];")),
      IsEmpty());
}

TEST(BlockSize, RefusesKernelsThatDoNotReadBlockDim) {
  EXPECT_THAT(offersFor(askBody("out[threadIdx.x] = in[threadIdx.x];")), IsEmpty());
  EXPECT_THAT(
      offersFor(askBody("int x = blockIdx.x * blockDim.x + threadIdx.x; out[x] = in[threadIdx.y];",
                        {32, 8, 1})),
      IsEmpty());
}

TEST(BlockSize, RefusesBlockIndicesInMixedRoles) {
  EXPECT_THAT(
      offersFor(askBody(std::string(kGuarded) + " if (threadIdx.x == 0) out[blockIdx.x] = 1;")),
      IsEmpty());
  EXPECT_THAT(
      offersFor(askBody(std::string(kGuarded) + " if (threadIdx.x == 0) out[n] = gridDim.x;")),
      IsEmpty());
}

TEST(BlockSize, RefusesBlocksThatOverlap) {
  EXPECT_THAT(offersFor(askBody("int i = blockIdx.x * (blockDim.x - 2 * w) + threadIdx.x - w;\n"
                                "if (i >= 0 && i < n) out[i] = in[i];")),
              IsEmpty());
  EXPECT_THAT(
      offersFor(askBody("int i = blockIdx.x * (2 * blockDim.x) + threadIdx.x;\n"
                        "if (i + blockDim.x < n) atomicAdd(out, in[i] + in[i + blockDim.x]);")),
      Not(IsEmpty()));
}

// A thread of the second kind loads eight elements, a block apart, and stores one.
TEST(BlockSize, RefusesPlacesThatOtherBlocksWouldNotReach) {
  const std::string begin = "int i = blockIdx.x * blockDim.x * 8 + threadIdx.x; float s[8];"
                            "for (int j = 0; j < 8; j++) s[j] = in[i + j * blockDim.x];";
  EXPECT_THAT(shapes(askBody(begin + "for (int j = 0; j < 8; j++) if (i + j * blockDim.x < n)"
                                     " out[i + j * blockDim.x] = s[j] * w;")),
              Contains(Shape{512, 1, 1}));
  EXPECT_THAT(shapes(askBody(
                  begin + "for (int j = 1; j < 8; j++) s[0] *= s[j]; if (i < n) out[i] = s[0];")),
              IsEmpty());
  EXPECT_THAT(shapes(askBody("int i = blockIdx.x * (2 * blockDim.x) + threadIdx.x;"
                             "if (i + blockDim.x < n) out[i] = in[i] + in[i + blockDim.x];")),
              IsEmpty());
  EXPECT_THAT(
      shapes(askBody("int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) "
                     "out[blockIdx.x * blockDim.x + blockDim.x - 1 - threadIdx.x] = in[i];")),
      IsEmpty());
}

// The place is computed anew in each iteration, not stepped on by the block.
TEST(BlockSize, RefusesAnIndexThatIsNoStepOfALoop) {
  EXPECT_THAT(
      shapes(askBody("for (int s = blockIdx.x; s < n; s += gridDim.x) {"
                     " int i; i = s * blockDim.x + threadIdx.x; if (i < w) out[i] = in[i]; }")),
      IsEmpty());
}

TEST(BlockSize, RefusesCooperativeGroupsAndWholeCoordinates) {
  EXPECT_THAT(
      offersFor(askBody(std::string(kGuarded) + " cooperative_groups::this_thread_block().sync();",
                        {256, 1, 1}, "#include <cooperative_groups.h>\n")),
      IsEmpty());
  EXPECT_THAT(
      offersFor(askBody(std::string(kGuarded) + " dim3 shape = blockDim; out[n] = shape.x;")),
      IsEmpty());
}

TEST(BlockSize, RefusesThreeDimensions) {
  EXPECT_THAT(
      offersFor(askBody(std::string(kGuarded) + " out[threadIdx.z] = blockDim.z;", {16, 2, 8})),
      IsEmpty());
}

} // namespace
} // namespace kopt::frontend::test
