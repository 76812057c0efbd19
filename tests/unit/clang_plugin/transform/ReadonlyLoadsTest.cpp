// SPDX-License-Identifier: Apache-2.0
#include "Offers.h"

#include <gmock/gmock.h>

namespace kopt::frontend::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Question askReadonly(std::string slice) {
  return {.technique = "readonly-loads", .slice = std::move(slice)};
}

/// Whether loads through `in` are offered for `__ldg`: that is, whether `in` is known to be read
/// only.
bool isReadonly(const std::string &body, const std::string &before = "") {
  for (const std::string &title :
       titlesFor(askReadonly(before + "__global__ void k(float *in, float *out, int n) {\n" + body +
                             "\nout[0] = in[n];\n}\n")))
    if (title == "load through __ldg(): in")
      return true;
  return false;
}

TEST(ReadonlyLoads, RestrictsEveryPointerAndWrapsLoads) {
  EXPECT_THAT(
      textsFor(askReadonly(
          "__global__ void k(const float *in, float *out, int n) {\n"
          "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) out[i] = in[i] "
          "+ *(in + n);\n}\n")),
      ElementsAre(
          "__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {\n"
          "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) out[i] = in[i] + *(in + "
          "n);\n}\n",
          "__global__ void k(const float *in, float *out, int n) {\n"
          "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
          "  if (i < n) out[i] = __ldg(&in[i]) + __ldg(&*(in + n));\n}\n"));
}

TEST(ReadonlyLoads, SaysThatBuffersMustNotOverlap) {
  for (const Offer &offer : offersFor(
           askReadonly("__global__ void k(const float *in, float *out) { out[0] = in[1]; }\n")))
    EXPECT_THAT(offer.note, HasSubstr("overlap"));
}

TEST(ReadonlyLoads, AddsWhatIsMissingOnly) {
  EXPECT_THAT(
      textsFor(askReadonly(
          "__global__ void k(const float *__restrict__ in, float *out) { out[0] = in[1]; }\n")),
      Contains("__global__ void k(const float *__restrict__ in, float *__restrict__ out) { out[0] "
               "= in[1]; }\n"));
}

TEST(ReadonlyLoads, OffersEachBufferByItself) {
  EXPECT_THAT(titlesFor(askReadonly("__global__ void k(const float *__restrict__ a, const int "
                                    "*__restrict__ b, float *__restrict__ o) {"
                                    " o[0] = a[b[0]]; }\n")),
              ElementsAre("load through __ldg(): a, b", "load through __ldg(): a",
                          "load through __ldg(): b"));
}

TEST(ReadonlyLoads, NestsLoadsInIndices) {
  EXPECT_THAT(
      textsFor(askReadonly(
          "__global__ void k(const float *a, const int *b, float *o) { o[0] = a[b[0]]; }\n")),
      Contains(HasSubstr("o[0] = __ldg(&a[__ldg(&b[0])]);")));
}

TEST(ReadonlyLoads, ReadsComponentsOfVectors) {
  EXPECT_THAT(
      textsFor(askReadonly("__global__ void k(const float4 *a, float4 *o) { float4 v = a[1]; o[0] "
                           "= v; o[1].x = a[2].y; }\n")),
      Contains(HasSubstr("float4 v = __ldg(&a[1]); o[0] = v; o[1].x = __ldg(&a[2]).y;")));
}

TEST(ReadonlyLoads, FollowsAliasesCastsAndCalls) {
  EXPECT_TRUE(isReadonly("const float *p = in + n; ++p; out[1] = p[2];"));
  EXPECT_TRUE(isReadonly("out[1] = reinterpret_cast<float4 *>(in)[1].x;"));
  EXPECT_TRUE(
      isReadonly("out[1] = f(in + 1);", "__device__ float f(float *p) { return p[0] + p[1]; }\n"));
  EXPECT_TRUE(isReadonly("if (in != nullptr && in < out) out[1] = sizeof(*in);"));
}

TEST(ReadonlyLoads, WrapsLoadsThroughAnAlias) {
  EXPECT_THAT(textsFor(askReadonly("__global__ void k(const float *in, float *out, int n) {"
                                   " const float *row = in + n; row += 4; out[0] = row[1]; }\n")),
              Contains(HasSubstr("out[0] = __ldg(&row[1]);")));
}

TEST(ReadonlyLoads, DoesNotWrapAnAliasOfTwoBuffers) {
  const auto titles =
      titlesFor(askReadonly("__global__ void k(const float *a, const float *b, float *o, int n) {"
                            " const float *p = a; if (n) p = b; o[0] = p[1]; }\n"));
  EXPECT_THAT(titles, ElementsAre("add __restrict__ to a, b, o"));
}

TEST(ReadonlyLoads, DoesNotWrapSharedMemory) {
  EXPECT_THAT(titlesFor(askReadonly(
                  "__global__ void k(const float *a, float *o, int n) { __shared__ float s[32];"
                  " const float *p = n ? a : s; s[0] = 1; o[0] = p[1] + s[0]; }\n")),
              ElementsAre("add __restrict__ to a, o"));
}

TEST(ReadonlyLoads, SeesDirectWrites) {
  EXPECT_FALSE(isReadonly("in[1] = 2;"));
  EXPECT_FALSE(isReadonly("*in++ += 2;"));
  EXPECT_FALSE(isReadonly("++in[3];"));
}

TEST(ReadonlyLoads, SeesWritesThroughAliases) {
  EXPECT_FALSE(isReadonly("float *p = in; p[1] = 2;"));
  EXPECT_FALSE(isReadonly("float *p, *q; q = out; p = in; q = p; q[1] = 2;"));
  EXPECT_FALSE(isReadonly("reinterpret_cast<float4 *>(in)[1].x = 3;"));
  EXPECT_FALSE(isReadonly("float &r = in[1]; r = 2;"));
  EXPECT_FALSE(isReadonly("(n ? in : out)[1] = 2;"));
}

TEST(ReadonlyLoads, SeesWritesInCallees) {
  EXPECT_FALSE(isReadonly("f(in);", "__device__ void f(float *p) { p[0] = 1; }\n"));
  EXPECT_FALSE(isReadonly("f(in[2]);", "__device__ void f(float &p) { p = 1; }\n"));
  EXPECT_FALSE(isReadonly("atomicAdd(&in[1], 1.0f);"));
  EXPECT_FALSE(isReadonly("atomicAdd(in, 1.0f);"));
}

TEST(ReadonlyLoads, GivesUpWhereAPointerEscapes) {
  EXPECT_FALSE(isReadonly("S s{in}; s.p[0] = 1;", "struct S { float *p; };\n"));
  EXPECT_FALSE(isReadonly("unsigned long long bits = (unsigned long long)in; *(float *)bits = 1;"));
  EXPECT_FALSE(isReadonly("float **p = &in; (*p)[0] = 1;"));
  EXPECT_FALSE(isReadonly("*f(in) = 1;", "__device__ float *f(float *p) { return p; }\n"));
  EXPECT_FALSE(isReadonly("const float *p = in; const_cast<float *>(p)[0] = 1;"));
  EXPECT_FALSE(isReadonly("const float *p = in; ((float *)p)[0] = 1;"));
}

TEST(ReadonlyLoads, RefusesVolatileAndTypesWithoutLdg) {
  EXPECT_THAT(offersFor(askReadonly("__global__ void k(const volatile float *__restrict__ a, float "
                                    "*__restrict__ o) { o[0] = a[0]; }\n")),
              IsEmpty());
  EXPECT_THAT(
      offersFor(askReadonly(
          "struct P { float x[3]; };\n"
          "__global__ void k(const P *__restrict__ a, P *__restrict__ o) { o[0] = a[0]; }\n")),
      IsEmpty());
}

TEST(ReadonlyLoads, RefusesAKernelWithOneWrittenPointer) {
  EXPECT_THAT(offersFor(askReadonly("__global__ void k(float *a) { a[0] = a[1]; }\n")), IsEmpty());
}

} // namespace
} // namespace kopt::frontend::test
