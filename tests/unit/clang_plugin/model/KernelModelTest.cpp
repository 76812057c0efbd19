// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/model/KernelModel.h"

#include "clang_plugin/model/Describe.h"

#include <cstdlib>
#include <gmock/gmock.h>

namespace kopt::frontend::model::test {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

const std::string kStrided = R"cu(
#define STEP a[i] += 1; b[i] = 0
__device__ void put(float *to, int at) { to[at] = 3; }
__global__ void k(float *a, float *b, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
    a[i] *= 2;
    STEP;
    put(b, i);
  }
}
)cu";

KernelModel modelOf(const std::string &slice) {
  setenv("KOPT_CUDA_PATH", "none", 1);
  llvm::Expected<KernelModel> model = makeModel(KernelSource{slice, "k", "k", {}, "", "sm_90"});
  EXPECT_TRUE(bool(model)) << (model ? "" : llvm::toString(model.takeError()));
  return model ? *model : KernelModel();
}

std::vector<const Access *> onLine(const KernelModel &model, unsigned line) {
  std::vector<const Access *> found;
  for (const Access &access : model.accesses)
    if (access.place.line == line)
      found.push_back(&access);
  return found;
}

TEST(KernelModel, PlacesAreBytesOfTheSlice) {
  const KernelModel model = modelOf(kStrided);
  const auto own = onLine(model, 6);
  ASSERT_THAT(own, SizeIs(2)); // the load and the store of *=
  for (const Access *access : own) {
    ASSERT_TRUE(access->place.range);
    EXPECT_EQ(kStrided.substr(access->place.range->begin,
                              access->place.range->end - access->place.range->begin),
              "a[i]");
    EXPECT_THAT(access->calls, IsEmpty());
  }
  // A macro spells these: they have a line, but no text that could be edited.
  const auto spelled = onLine(model, 7);
  ASSERT_THAT(spelled, SizeIs(3));
  for (const Access *access : spelled) {
    EXPECT_FALSE(access->place.range);
    EXPECT_EQ(access->text, "");
    EXPECT_TRUE(access->offset);
  }
  const auto called = onLine(model, 3);
  ASSERT_THAT(called, SizeIs(1));
  EXPECT_EQ(called[0]->root, "b");
  ASSERT_THAT(called[0]->calls, SizeIs(1));
  EXPECT_EQ(called[0]->calls[0].line, 8u);
}

TEST(KernelModel, WhatIsAssumedHoldsForSomeLaunches) {
  const KernelModel model = modelOf(kStrided);
  const Access &access = *onLine(model, 6).front();
  ASSERT_THAT(access.assumptions, SizeIs(1));
  const auto holds = [&](std::uint32_t blocks, const char *n) {
    return hold(access.assumptions, model,
                LaunchShape{{blocks, 1, 1}, {256, 1, 1}, 0, 1, {{"n", n}}});
  };
  EXPECT_TRUE(holds(1000, "1000000"));
  EXPECT_FALSE(holds(1000, "2147483647")) << "the last step may overflow";
  EXPECT_FALSE(holds(10000000, "1"));
  EXPECT_FALSE(hold(access.assumptions, model, LaunchShape{{1000, 1, 1}, {256, 1, 1}})) << "n?";
}

TEST(KernelModel, LongSumsOfOtherValuesAreReadOnce) {
  // Each step has two sums: to try both would take 2^40 tries.
  std::string steps;
  for (int i = 0; i < 40; ++i)
    steps += "    u = (u + x[k]) + (u + " + std::to_string(i) + ".5f);\n";
  const KernelModel model = modelOf("__global__ void k(float *a, const float *x, int n) {\n"
                                    "  float t = 0, s = 0;\n"
                                    "  for (int k = 0; k < n; ++k) {\n"
                                    "    float u = x[n];\n" +
                                    steps +
                                    "    s += u * t;\n    t = u;\n  }\n"
                                    "  a[0] = s;\n}\n");
  ASSERT_THAT(model.loops, SizeIs(1));
  ASSERT_THAT(model.loops[0].reductions, SizeIs(1));
  EXPECT_EQ(model.loops[0].reductions[0].name, "s");
}

TEST(KernelModel, CountsWhatTheCodeHasWithoutNames) {
  const auto countsOf = [](const std::string &slice) {
    auto reply = describeModel({KernelSource{slice, "k", "k", {}, "", "sm_90"}, {}});
    EXPECT_TRUE(bool(reply));
    return reply ? reply->counts : std::map<std::string, double>();
  };
  EXPECT_THAT(countsOf(kStrided),
              testing::UnorderedElementsAre(testing::Pair("loop over the grid", 1),
                                            testing::Pair("global load, lanes adjacent", 2),
                                            testing::Pair("global store, lanes adjacent", 4)));
  const auto counts =
      countsOf("__global__ void k(float *a, const float *x, const int *at, int n) {\n"
               "  __shared__ float tile[32];\n"
               "  tile[threadIdx.x] = x[threadIdx.x * n];\n"
               "  __syncthreads();\n"
               "  float s = 0;\n"
               "  for (int i = 0; i < 32; ++i)\n"
               "    s += tile[i];\n"
               "  if (threadIdx.x < n)\n"
               "    a[at[threadIdx.x]] = s;\n"
               "}\n");
  EXPECT_THAT(counts,
              testing::UnorderedElementsAre(testing::Pair("loop of known length", 1),
                                            testing::Pair("reduction by fadd", 1),
                                            testing::Pair("barrier of block", 1),
                                            testing::Pair("condition that parts lanes", 1),
                                            testing::Pair("global load, lanes apart", 1),
                                            testing::Pair("global load, lanes adjacent", 1),
                                            testing::Pair("shared store, lanes adjacent", 1),
                                            testing::Pair("shared load, lanes same", 1),
                                            testing::Pair("global store, lanes unknown", 1)));
}

TEST(KernelModel, ASliceThatDoesNotParseIsAnError) {
  llvm::Expected<KernelModel> model =
      makeModel(KernelSource{"__global__ void k() { x = 1; }", "k", "k", {}, "", "sm_90"});
  ASSERT_FALSE(bool(model));
  EXPECT_THAT(llvm::toString(model.takeError()), testing::HasSubstr("does not parse"));
}

std::vector<std::int64_t> lanes(std::int64_t stride) {
  std::vector<std::int64_t> result(32);
  for (std::size_t lane = 0; lane < 32; ++lane)
    result[lane] = std::int64_t(lane) * stride;
  return result;
}

TEST(KernelModel, RequestsAreCountedInSectorsAndBanks) {
  EXPECT_EQ(sectorsOf(lanes(4), 4), 4u);
  EXPECT_EQ(sectorsOf(lanes(-4), 4), 5u) << "down from an aligned one";
  EXPECT_EQ(sectorsOf(lanes(8), 4), 8u);
  EXPECT_EQ(sectorsOf(lanes(4096), 16), 32u);
  EXPECT_EQ(sectorsOf(lanes(0), 8), 1u);
  EXPECT_EQ(bankPassesOf(lanes(4), 4), 1u);
  EXPECT_EQ(bankPassesOf(lanes(8), 4), 2u);
  EXPECT_EQ(bankPassesOf(lanes(128), 4), 32u);
  EXPECT_EQ(bankPassesOf(lanes(132), 4), 1u);
  EXPECT_EQ(bankPassesOf(lanes(0), 4), 1u);
}

TEST(Polynomial, ComputesAndRefusesWhatDoesNotFit) {
  const Polynomial x = Polynomial::ofSymbol(0), y = Polynomial::ofSymbol(1);
  const Polynomial both = *sum(x, y), square = *product(both, both); // x² + 2xy + y²
  EXPECT_EQ(square.terms.size(), 3u);
  EXPECT_EQ(square.growth(0), std::nullopt);
  EXPECT_EQ(*product(both, y)->growth(0), y);
  EXPECT_TRUE(difference(square, square)->isZero());
  EXPECT_EQ(Polynomial::of(-3).constant(), -3);
  EXPECT_EQ(both.constant(), std::nullopt);
  EXPECT_EQ(sum(Polynomial::of(INT64_MAX), Polynomial::of(1)), std::nullopt);
  EXPECT_EQ(product(Polynomial::of(INT64_MIN), Polynomial::of(-1)), std::nullopt);
}

} // namespace
} // namespace kopt::frontend::model::test
