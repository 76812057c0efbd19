// SPDX-License-Identifier: Apache-2.0
#include "../Offers.h"

#include <gmock/gmock.h>

namespace kopt::frontend::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// A kernel with these parameters and this work for each element, in blocks of 256 threads.
Question askVectorize(const std::string &parameters, const std::string &work) {
  return {.technique = "vectorize",
          .slice = "__global__ void k(" + parameters +
                   ", int n) {\n"
                   "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                   "  if (i < n) {\n" +
                   work + "  }\n}\n",
          .launches = {{{4096, 1, 1}, {256, 1, 1}, 0, 1, {{"n", "1048576"}}}}};
}

std::string bodyFor(const Question &question) {
  const std::vector<std::string> texts = textsFor(question);
  return texts.empty() ? "" : texts.front().substr(texts.front().find("{\n") + 2);
}

TEST(Vectorize, LoadsAndStoresNeighboursAtOnce) {
  const Question question =
      askVectorize("const float *x, float *y", "    y[i] = 2 * x[i] + i; // twice\n");
  EXPECT_EQ(bodyFor(question),
            R"(  // Each thread has 4 neighbouring elements, which are loaded and stored at once.
  int i[4];
#pragma unroll
  for (int j = 0; j < 4; ++j)
    i[j] = ((blockIdx.x * blockDim.x + threadIdx.x) * 4 + j);
  if (i[4 - 1] < n && reinterpret_cast<size_t>(x) % (4 * sizeof(float)) == 0 && reinterpret_cast<size_t>(y) % (4 * sizeof(float)) == 0) {
    alignas(4 * sizeof(float)) float yPart[4];
    alignas(4 * sizeof(float)) float xPart[4];
    *reinterpret_cast<float4 *>(xPart) = *reinterpret_cast<const float4 *>(&x[i[0]]);
#pragma unroll
    for (int j = 0; j < 4; ++j)
      yPart[j] = 2 * xPart[j] + i[j];
    *reinterpret_cast<float4 *>(&y[i[0]]) = *reinterpret_cast<float4 *>(yPart);
    return;
  }
#pragma unroll 1
  for (int j = 0; j < 4; ++j) {
    int i = ((blockIdx.x * blockDim.x + threadIdx.x) * 4 + j);
    if (i < n) {
      y[i] = 2 * x[i] + i; // twice
    }
  }
}
)");
  const std::vector<Offer> offers = offersFor(question);
  ASSERT_EQ(offers.size(), 2u);
  EXPECT_THAT(offers[1].launch->grid,
              ElementsAre("(gridDim.x + 2 - 1) / 2", "gridDim.y", "gridDim.z"));
  EXPECT_EQ(offers[1].legality, Legality::Tested);
}

TEST(Vectorize, ReadsFirstWhatItChanges) {
  EXPECT_THAT(bodyFor(askVectorize("float *y", "    y[i] += 1;\n")),
              HasSubstr("    *reinterpret_cast<float4 *>(yPart) = *reinterpret_cast<const float4 "
                        "*>(&y[i[0]]);\n"
                        "#pragma unroll\n    for (int j = 0; j < 4; ++j)\n"
                        "      yPart[j] += 1;\n"
                        "    *reinterpret_cast<float4 *>(&y[i[0]]) = "));
}

TEST(Vectorize, TakesAsManyAsSixteenBytesHold) {
  EXPECT_THAT(titlesFor(askVectorize("const float *x, double *y", "    y[i] = x[i];\n")),
              ElementsAre("load and store 2 neighbouring elements at once"));
  EXPECT_THAT(bodyFor(askVectorize("const unsigned char *x, long long *y", "    y[i] = x[i];\n")),
              testing::AllOf(HasSubstr("<const uchar2 *>(&x[i[0]])"),
                             HasSubstr("<longlong2 *>(&y[i[0]])")));
}

TEST(Vectorize, StoresTogetherWhatAllBranchesStore) {
  const std::string both =
      "    if (x[i] < 0)\n      y[i] = 0;\n    else {\n      y[i] = 1;\n    }\n";
  EXPECT_THAT(bodyFor(askVectorize("const float *x, float *__restrict__ y", both)),
              testing::AllOf(HasSubstr("      if (xPart[j] < 0)\n        yPart[j] = 0;\n"),
                             HasSubstr("<float4 *>(&y[i[0]])")));
  // Without the promise, x may be y; then the order matters.
  EXPECT_THAT(bodyFor(askVectorize("const float *x, float *y", both)),
              HasSubstr("      if (xPart[j] < 0)\n        y[i[j]] = 0;\n"));
  EXPECT_THAT(bodyFor(askVectorize("const float *x, float *__restrict__ y",
                                   "    if (x[i] < 0)\n      y[i] = 0;\n")),
              HasSubstr("      if (xPart[j] < 0)\n        y[i[j]] = 0;\n"));
}

TEST(Vectorize, ReadsNothingThatMayNotBeThere) {
  // x may end where m is 0.
  EXPECT_THAT(bodyFor(askVectorize("const int *m, const float *x, float *y",
                                   "    y[i] = m[i] ? x[i] : 0;\n")),
              HasSubstr("yPart[j] = mPart[j] ? x[i[j]] : 0;\n"));
  EXPECT_THAT(bodyFor(askVectorize("const float *m, const float *x, float *y",
                                   "    y[i] = m[i] ?: x[i];\n")),
              HasSubstr("yPart[j] = m[i[j]] ?: x[i[j]];\n"));
  EXPECT_THAT(bodyFor(askVectorize("const int *m, const float *x, float *y",
                                   "    float a = x[i];\n    y[i] = m[i] ? x[i] + a : a;\n")),
              HasSubstr("yPart[j] = mPart[j] ? xPart2[j] + a[j] : a[j];\n"));
}

TEST(Vectorize, RefusesAnIndexThatAMacroBegins) {
  Question question = askVectorize("const float *x, float *y", "    y[i] = x[i];\n");
  question.slice.insert(0, "#define SIZE int\n");
  question.slice.replace(question.slice.find("blockIdx.x"), 10, "SIZE(blockIdx.x)");
  EXPECT_THAT(refusalsFor(question), testing::Not(testing::IsEmpty()));
  EXPECT_THAT(titlesFor(question), testing::IsEmpty());
}

TEST(Vectorize, KeepsTheOrderOfAStatement) {
  // Nothing of these may be loaded before, or stored after, the rest of its statement.
  const auto refused = [](const std::string &work) {
    return refusalsFor(askVectorize("float *__restrict__ p, float *__restrict__ out, int m", work));
  };
  const std::string none = "3: no access is to neighbouring places";
  EXPECT_THAT(refused("    float *r = p + i;\n"
                      "    if (m > 0) { *r = 2; out[i] = p[i]; } else out[i] = p[i];\n"),
              ElementsAre(none));
  EXPECT_THAT(refused("    if (atomicAdd(&p[i], 1) > 3)\n      out[2 * i] = p[i];\n"),
              ElementsAre(none));
  EXPECT_THAT(refused("    if (m > 0) { p[i] = 1; out[2 * i] = *(p + i); } else p[i] = 2;\n"),
              ElementsAre(none));
  EXPECT_THAT(refused("    for (int t = 0; t < m; ++t)\n      out[2 * i] += p[i];\n"
                      "    if (out[3 * i] > 0)\n      out[2 * i] = p[i];\n"),
              testing::Not(Contains(HasSubstr("Part"))));
}

TEST(Vectorize, LeavesOtherPlacesAsTheyAre) {
  EXPECT_THAT(
      bodyFor(askVectorize("const float *x, float *y", "    y[i] = x[i + 1] + x[2 * i];\n")),
      HasSubstr("yPart[j] = x[i[j] + 1] + x[2 * i[j]];\n"));
}

TEST(Vectorize, RefusesWithTheLine) {
  EXPECT_THAT(refusalsFor(askVectorize("const float *x, float *y", "    y[2 * i] = x[i + 1];\n")),
              ElementsAre("3: no access is to neighbouring places"));
  EXPECT_THAT(
      refusalsFor(askVectorize("const float *x, float *y", "    y[i] = x[i] + threadIdx.x;\n")),
      Contains("4: the place of the thread along x has another use"));
  EXPECT_THAT(
      refusalsFor(askVectorize("const float *x, float *y", "    y[i] = x[i];\n    return;\n")),
      Contains("5: it returns beyond its guard"));
  EXPECT_THAT(refusalsFor(askVectorize("const float3 *x, float3 *y", "    y[i] = x[i];\n")),
              ElementsAre("3: no access is to neighbouring places"));
  Question small = askVectorize("const float *x, float *y", "    y[i] = x[i];\n");
  small.launches.front().grid[0] = 4095;
  EXPECT_THAT(refusalsFor(small), Contains("3: a launch has fewer threads than elements"));
}

TEST(Vectorize, RefusesTemplatesOverTypes) {
  Question question = askVectorize("const T *x, T *y", "    y[i] = x[i];\n");
  question.slice = "template <class T> " + question.slice +
                   "template __global__ void k<float>(const float *, float *, int);\n";
  question.expression = "k<float>";
  EXPECT_THAT(refusalsFor(question), ElementsAre("1: the kernel is a template over types"));
}

TEST(Vectorize, IsNotOfferedTwice) {
  Question question = askVectorize("const float *x, float *y", "    y[i] = x[i];\n");
  question.slice = textsFor(question).front();
  EXPECT_THAT(titlesFor(question), Not(Contains(HasSubstr("at once"))));
}

} // namespace
} // namespace kopt::frontend::test
