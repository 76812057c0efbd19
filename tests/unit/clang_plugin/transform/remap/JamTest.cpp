// SPDX-License-Identifier: Apache-2.0
#include "../Offers.h"

#include <gmock/gmock.h>

namespace kopt::frontend::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// A kernel with these statements, in blocks of 32 x 8 threads.
Question askJam(const std::string &body, const std::string &head = "") {
  return {.technique = "jam",
          .slice = head + "__global__ void k(const float *A, const float *B, float *C, int n) {\n" +
                   body + "}\n",
          .launches = {{{128, 512, 1}, {32, 8, 1}, 0, 1, {{"n", "4096"}}}}};
}

/// The body that the offer with this title writes with the first values of its parameters.
std::string bodyFor(const Question &question, const std::string &title) {
  auto reply = tryOffers(question);
  if (!reply) {
    ADD_FAILURE() << llvm::toString(reply.takeError());
    return "";
  }
  for (Offer &offer : reply->offers) {
    std::map<std::string, std::int64_t> values;
    for (const OfferParameter &parameter : offer.parameters)
      values[parameter.name] = parameter.values.front();
    const Offer chosen = withValues(std::move(offer), values);
    if (!llvm::StringRef(chosen.title).contains(title))
      continue;
    EXPECT_EQ(chosen.legality, Legality::Tested);
    const std::string text = applyEdits(question.slice, chosen.edits);
    return text.substr(text.find("{\n") + 2);
  }
  return "";
}

constexpr const char *kPlane = "  int row = blockIdx.y * blockDim.y + threadIdx.y;\n"
                               "  int col = blockIdx.x * blockDim.x + threadIdx.x;\n";
constexpr const char *kProduct = "    float sum = 0.0f;\n"
                                 "    for (int k = 0; k < n; ++k)\n"
                                 "      sum += A[row * n + k] * B[k * n + col];\n"
                                 "    C[row * n + col] = sum;\n";

TEST(Jam, ComputesATileOfAProductInRegisters) {
  const std::string body = bodyFor(
      askJam(std::string(kPlane) + "  if (row < n && col < n) {\n" + kProduct + "  }\n"), "8 x 8");
  EXPECT_EQ(body, R"(  // Each thread has the elements of 8 x 8 blocks, and computes them in step.
  int row[8];
#pragma unroll
  for (int i = 0; i < 8; ++i)
    row[i] = (blockIdx.y * 8 + i) * blockDim.y + threadIdx.y;
  int col[8];
#pragma unroll
  for (int j = 0; j < 8; ++j)
    col[j] = (blockIdx.x * 8 + j) * blockDim.x + threadIdx.x;
  if (row[8 - 1] < n && col[8 - 1] < n) {
    float sum[8][8];
#pragma unroll
    for (int i = 0; i < 8; ++i)
#pragma unroll
      for (int j = 0; j < 8; ++j)
        sum[i][j] = 0.0f;
#pragma unroll 2
    for (int k = 0; k < n; ++k) {
#pragma unroll
      for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j)
          sum[i][j] += A[row[i] * n + k] * B[k * n + col[j]];
    }
#pragma unroll
    for (int i = 0; i < 8; ++i)
#pragma unroll
      for (int j = 0; j < 8; ++j)
        C[row[i] * n + col[j]] = sum[i][j];
    return;
  }
#pragma unroll 1
  for (int i = 0; i < 8; ++i)
#pragma unroll 1
    for (int j = 0; j < 8; ++j) {
      int row = (blockIdx.y * 8 + i) * blockDim.y + threadIdx.y;
      int col = (blockIdx.x * 8 + j) * blockDim.x + threadIdx.x;
      if (row < n && col < n) {
        float sum = 0.0f;
        for (int k = 0; k < n; ++k)
          sum += A[row * n + k] * B[k * n + col];
        C[row * n + col] = sum;
      }
    }
}
)");
}

TEST(Jam, ChangesTheGridAlone) {
  auto reply =
      tryOffers(askJam(std::string(kPlane) + "  if (row < n && col < n) {\n" + kProduct + "  }\n"));
  ASSERT_TRUE(bool(reply));
  ASSERT_EQ(reply->offers.size(), 3u);
  const LaunchChange plane = *reply->offers[0].launch, rows = *reply->offers[1].launch;
  EXPECT_EQ(plane.grid[0], "(gridDim.x + ${COLUMNS} - 1) / ${COLUMNS}");
  EXPECT_EQ(plane.grid[1], "(gridDim.y + ${ROWS} - 1) / ${ROWS}");
  EXPECT_EQ(plane.block[0], "");
  EXPECT_THAT(rows.grid,
              ElementsAre("gridDim.x", "(gridDim.y + ${FACTOR} - 1) / ${FACTOR}", "gridDim.z"));
}

TEST(Jam, LeavesThreadsForTheWholeGpu) {
  Question question =
      askJam(std::string(kPlane) + "  if (row < n && col < n) {\n" + kProduct + "  }\n");
  question.launches.front() = {{128, 32, 1}, {16, 16, 1}, 0};
  auto reply = tryOffers(question);
  ASSERT_TRUE(bool(reply));
  ASSERT_EQ(reply->offers.size(), 3u);
  EXPECT_THAT(reply->offers[0].parameters[0].values, ElementsAre(4, 2));
  EXPECT_THAT(reply->offers[1].parameters[0].values, ElementsAre(4, 2, 8));
  question.launches.front() = {{16, 16, 1}, {16, 16, 1}, 0};
  EXPECT_THAT(titlesFor(question), testing::IsEmpty());
}

TEST(Jam, KeepsWhatTheElementsShareAsItIs) {
  // `b` is the same for all rows, `at` and the factor are the same for all elements.
  const std::string body =
      bodyFor(askJam(std::string(kPlane) + "  if (row >= n || col >= n)\n    return;\n"
                                           "  float sum = 0; // of products\n"
                                           "  int at = 0;\n"
                                           "  const float factor = B[0];\n"
                                           "#pragma unroll 4\n"
                                           "  for (int k = 0; k < n; ++k) {\n"
                                           "    const float b = B[at + col];\n"
                                           "    sum += factor * A[row * n + k] * b;\n"
                                           "    at += n;\n"
                                           "  }\n"
                                           "  C[row * n + col] = sum;\n"),
              "along y");
  EXPECT_THAT(body, HasSubstr(R"(  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (!(row[4 - 1] >= n || col >= n)) {
    float sum[4];
#pragma unroll
    for (int i = 0; i < 4; ++i)
      sum[i] = 0;
    // of products
    int at = 0;
    const float factor = B[0];
#pragma unroll 4
    for (int k = 0; k < n; ++k) {
      const float b = B[at + col];
#pragma unroll
      for (int i = 0; i < 4; ++i)
        sum[i] += factor * A[row[i] * n + k] * b;
      at += n;
    }
)"));
}

TEST(Jam, LeavesVariablesOfOneTurnAsTheyAre) {
  const std::string body = bodyFor(askJam("  int i = blockIdx.x * 32 + threadIdx.x;\n"
                                          "  if (i < n) {\n"
                                          "    const float x = A[i];\n"
                                          "    float sum = 0, most = 0;\n"
                                          "    for (int p = 0; p < n; p++) {\n"
                                          "      float d = x - B[p];\n"
                                          "      if (d > most) most = d;\n"
                                          "      sum += d * d;\n"
                                          "    }\n"
                                          "    C[i] = sum + most;\n"
                                          "  }\n"),
                                   "along x");
  EXPECT_THAT(body, HasSubstr(R"(    float x[4];
    float sum[4];
    float most[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      x[j] = A[i[j]];
      sum[j] = 0;
      most[j] = 0;
    }
#pragma unroll 2
    for (int p = 0; p < n; p++) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        float d = x[j] - B[p];
        if (d > most[j]) most[j] = d;
        sum[j] += d * d;
      }
    }
)"));
}

TEST(Jam, RunsALoopForEachElementWhoseLengthIsItsOwn) {
  const std::string body =
      bodyFor(askJam(std::string(kPlane) + "  if (row < n && col < n) {\n"
                                           "    float sum = 0;\n"
                                           "    for (int k = 0; k < n; ++k)\n"
                                           "      for (int l = 0; l < row; ++l)\n"
                                           "        sum += A[l] * B[col];\n"
                                           "    C[row * n + col] = sum;\n"
                                           "  }\n"),
              "along y");
  EXPECT_THAT(body, HasSubstr(R"(    for (int k = 0; k < n; ++k) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        for (int l = 0; l < row[i]; ++l)
          sum[i] += A[l] * B[col];
      }
    }
)"));
}

TEST(Jam, LeavesALoopThatBreaksToEachElement) {
  const std::vector<std::string> reasons =
      refusalsFor(askJam(std::string(kPlane) + "  if (row < n && col < n) {\n"
                                               "    float sum = 0;\n"
                                               "    for (int k = 0; k < n; ++k) {\n"
                                               "      sum += A[row] * B[k];\n"
                                               "      if (sum > 100) break;\n"
                                               "    }\n"
                                               "    C[row * n + col] = sum;\n"
                                               "  }\n"));
  EXPECT_THAT(reasons, ElementsAre("4: no loop has loads that several elements of a thread share"));
}

TEST(Jam, StoresOnceForEachElement) {
  // The place is the same for all columns, but each of them adds to it.
  const std::string body = bodyFor(askJam(std::string(kPlane) + "  if (row < n && col < n)\n"
                                                                "    for (int k = 0; k < n; ++k)\n"
                                                                "      C[row * n + k] += B[k];\n"),
                                   "4 x 8");
  EXPECT_EQ(body, "");
  EXPECT_THAT(bodyFor(askJam(std::string(kPlane) + "  if (row < n && col < n)\n"
                                                   "    for (int k = 0; k < n; ++k)\n"
                                                   "      C[row * n + k] += B[k];\n"),
                      "along x"),
              HasSubstr("#pragma unroll\n      for (int j = 0; j < 4; ++j)\n"
                        "        C[row * n + k] += B[k];\n"));
}

TEST(Jam, RefusesWithTheLine) {
  const auto refused = [](const std::string &body, const std::string &head = "") {
    return refusalsFor(askJam(body, head));
  };
  const std::string guarded = std::string(kPlane) + "  if (row < n && col < n) {\n" + kProduct;
  EXPECT_THAT(refused(std::string(kPlane) + kProduct),
              Contains("it does not begin with declarations and a test of its index"));
  EXPECT_THAT(refused(std::string(kPlane) + "  if (row < n) {\n" + kProduct + "  }\n"),
              Contains("4: it does not test each index against a bound"));
  EXPECT_THAT(
      refused(std::string(kPlane) + "  if (row < B[0] && col < n) {\n" + kProduct + "  }\n"),
      Contains("4: it does not compare a fixed index with a fixed bound"));
  EXPECT_THAT(refused(guarded + "  }\n  C[0] = 1;\n"),
              Contains("4: the test of its index is not around the whole work"));
  EXPECT_THAT(refused("  float first = atomicAdd(&C[1], 1.0f);\n" + guarded + "  }\n"),
              Contains("2: it does more than declare before its guard"));
  EXPECT_THAT(refused(guarded + "    if (sum > 1) return;\n    C[0] = 1;\n  }\n"),
              Contains("9: it returns beyond its guard"));
  EXPECT_THAT(refused(guarded + "    C[gridDim.x] = 1;\n  }\n"),
              Contains("9: the number of blocks, or which one it is, has another use"));
  EXPECT_THAT(refused("  C[1] = 0;\n" + guarded + "  }\n"),
              Contains("it does not begin with declarations and a test of its index"));
  EXPECT_THAT(refused(std::string(kPlane) + "  if (row < n && col < n) {\n"
                                            "    auto sum = 0.0f;\n"
                                            "    for (int k = 0; k < n; ++k)\n"
                                            "      sum += A[row * n + k] * B[k * n + col];\n"
                                            "    C[row * n + col] = sum;\n  }\n"),
              Contains("5: 'sum' cannot be an array"));
  EXPECT_THAT(refused(std::string(kPlane) + "  if (row < n && col < n) {\n"
                                            "    float sum = 0;\n"
                                            "    for (int k = 0; k < n; ++k)\n"
                                            "      ADD;\n"
                                            "    C[row * n + col] = sum;\n  }\n",
                      "#define ADD sum += A[row * n + k] * B[k]\n"),
              Contains("7: a macro spells a statement"));
  Question small = askJam(guarded + "  }\n");
  small.launches.front().grid = {127, 512, 1};
  EXPECT_THAT(refusalsFor(small), Contains("4: a launch has fewer threads than elements"));
  EXPECT_THAT(titlesFor({.technique = "jam", .slice = small.slice}), Not(Contains(HasSubstr("x"))));
}

TEST(Jam, ActsInTheFunctionThatTheKernelOnlyChoosesConstantsFor) {
  Question question =
      askJam("  if (n == 64)\n    work(A, B, C, 64);\n"
             "  else\n    work(A, B, C, n);\n",
             "static __device__ void work(const float *A, const float *B, float *C, "
             "int n) {\n" +
                 std::string(kPlane) + "  if (row < n && col < n) {\n" + kProduct + "  }\n}\n");
  EXPECT_THAT(bodyFor(question, "8 x 8"), HasSubstr("float sum[8][8];"));
}

/// The work of an element along x, with a loop that all elements run.
Question askLine(const std::string &work) {
  return askJam("  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n" + work);
}

TEST(Jam, KeepsFirstValuesThatAreCopied) {
  Question question = askLine("  float4 v = make_float4(A[i], 0, 0, 0);\n"
                              "  float4 w;\n"
                              "  for (int k = 0; k < n; ++k) { v.x += B[k]; w.x = B[k]; }\n"
                              "  C[i] = v.x + w.x;\n");
  EXPECT_THAT(bodyFor(question, "along x"),
              HasSubstr("    float4 v[4];\n#pragma unroll\n    for (int j = 0; j < 4; ++j)\n"
                        "      v[j] = make_float4(A[i[j]], 0, 0, 0);\n"));
}

TEST(Jam, KeepsBlocksOfTheirOwn) {
  const std::string body = bodyFor(askLine("  float x = B[0], s = 0;\n"
                                           "  for (int k = 0; k < n; ++k) s += B[k] * A[i];\n"
                                           "  { float x = A[i]; C[i] = s + x; }\n"
                                           "  C[i + n] = x;\n"),
                                   "along x");
  EXPECT_THAT(body, HasSubstr("{ float x = A[i[j]]; C[i[j]] = s[j] + x; }\n"));
}

TEST(Jam, RefusesWhatNamesVariablesElsewhere) {
  const auto refused = [](const std::string &work) { return refusalsFor(askLine(work)); };
  const std::string loop = "  for (int k = 0; k < n; ++k) *q += B[k] * A[i];\n  C[i] = s;\n";
  EXPECT_THAT(refused("  float s = 0;\n  float *q = &s;\n" + loop),
              Contains("5: the address of a variable is kept"));
  EXPECT_THAT(refused("  float s = 0, t[2] = {0, 0};\n  float *q = t;\n" + loop),
              Contains("5: the address of a variable is kept"));
  EXPECT_THAT(refused("  float s = 0;\n  float &q = s;\n"
                      "  for (int k = 0; k < n; ++k) q += B[k] * A[i];\n  C[i] = s;\n"),
              Contains("5: a reference names a variable"));
  EXPECT_THAT(refused("  struct P { float s, c; };\n  auto [s, c] = P{0, 1};\n"
                      "  for (int k = 0; k < n; ++k) s += B[k] * A[i];\n  C[i] = s;\n"),
              Contains("5: the kernel has structured bindings"));
  EXPECT_THAT(refused("  float s = 0;\n  for (int k = 0; k < n; ++k) s += B[k] * A[i];\n"
                      "#ifdef LATER\n  s = 0;\n#endif\n  C[i] = s;\n"),
              Contains("1: the body has directives"));
}

TEST(Jam, RefusesGuardsThatDoMoreOrMayWrap) {
  const std::string work = "  float s = 0;\n  for (int k = 0; k < n; ++k) s += B[k] * A[i];\n"
                           "  C[i] = s;\n";
  const auto refused = [&](const std::string &head) { return refusalsFor(askJam(head + work)); };
  EXPECT_THAT(
      refused("  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i++ >= n) return;\n"),
      Contains("3: the test of its index changes something"));
  EXPECT_THAT(refused("  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                      "  float f = B[blockIdx.x];\n  if (i >= n) return;\n"),
              Contains("3: it does more than declare before its guard"));
  EXPECT_THAT(
      refused("  short i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n"),
      testing::Not(testing::IsEmpty()));
  Question large = askLine(work);
  large.launches.front() = {{22369621, 1, 1}, {96, 1, 1}, 0};
  EXPECT_THAT(refusalsFor(large), Contains("3: the index may wrap beyond the last thread"));
}

TEST(Jam, LeavesKernelsThatDoMoreThanChooseTheirWork) {
  const std::string work =
      "static __device__ void work(const float *A, const float *B, float *C, int n) {\n" +
      std::string(kPlane) + "  if (row < n && col < n) {\n" + kProduct + "  }\n}\n";
  EXPECT_THAT(refusalsFor(askJam("  if (atomicAdd(&C[0], 1.0f) >= 0)\n    work(A, B, C, 64);\n"
                                 "  else\n    work(A, B, C, n);\n",
                                 work)),
              Contains("12: the test of its index is not around the whole work"));
}

TEST(Jam, KeepsPragmasAndSemicolonsOfLoopsOfEachElement) {
  const std::string body =
      bodyFor(askJam(std::string(kPlane) + "  if (row < n && col < n) {\n"
                                           "    float4 v;\n    float sum = 0;\n"
                                           "    for (int k = 0; k < n; ++k) {\n"
                                           "#pragma unroll 4\n"
                                           "      for (int l = 0; l < row; ++l)\n"
                                           "        sum += A[l] * B[col];\n"
                                           "    }\n"
                                           "    if (row == 0) v = float4{0, 0, 0, 0};\n"
                                           "    C[row * n + col] = sum + v.x;\n"
                                           "  }\n"),
              "along y");
  EXPECT_THAT(body, HasSubstr("      for (int i = 0; i < 4; ++i) {\n#pragma unroll 4\n"
                              "        for (int l = 0; l < row[i]; ++l)\n"));
  EXPECT_THAT(body, HasSubstr("if (row[i] == 0) v[i] = float4{0, 0, 0, 0};\n"));
}

TEST(Jam, RefusesCallsOfTheWorkWithOtherIndices) {
  EXPECT_THAT(
      refusalsFor(askJam("  if (n == 64)\n    work(A, B, C, 0, n);\n"
                         "  else\n    work(A, B, C, 1, n);\n",
                         "static __device__ void work(const float *A, const float *B, float *C, "
                         "int off, int n) {\n"
                         "  int i = blockIdx.x * blockDim.x + threadIdx.x + off;\n"
                         "  if (i >= n) return;\n  float s = 0;\n"
                         "  for (int k = 0; k < n; ++k) s += B[k] * A[i];\n  C[i] = s;\n}\n")),
      Contains("3: it does not compare a fixed index with a fixed bound"));
}

TEST(Jam, RefusesThreadsThatDependOnEachOther) {
  EXPECT_THAT(refusalsFor(askJam(std::string(kPlane) + "  if (row < n && col < n) {\n" + kProduct +
                                 "    __syncthreads();\n  }\n")),
              Contains("9: the kernel waits for other threads"));
}

} // namespace
} // namespace kopt::frontend::test
