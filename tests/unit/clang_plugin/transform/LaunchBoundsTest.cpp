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

Question askBounds(std::string slice) {
  return {.technique = "launch-bounds", .slice = std::move(slice)};
}

TEST(LaunchBounds, GoesBeforeTheName) {
  EXPECT_THAT(textsFor(askBounds("__global__ void k(float *a) { a[0] = 1; }\n")),
              ElementsAre("__global__ void __launch_bounds__(256, 4) k(float *a) { a[0] = 1; }\n",
                          "__global__ void __launch_bounds__(256, 8) k(float *a) { a[0] = 1; }\n",
                          "__global__ void __launch_bounds__(256, 1) k(float *a) { a[0] = 1; }\n"));
}

TEST(LaunchBounds, GoesBeforeAQualifiedName) {
  Question question = askBounds("namespace n { __global__ void k(float *a); }\n"
                                "__global__ void n::k(float *a) { a[0] = 1; }\n");
  question.kernel = question.expression = "n::k";
  EXPECT_THAT(textsFor(question), Contains(HasSubstr("void __launch_bounds__(256, 4) n::k(")));
}

TEST(LaunchBounds, ReplacesWhatStandsThere) {
  const auto texts =
      textsFor(askBounds("__global__ void __launch_bounds__(128, 2) k(float *a) { a[0] = 1; }\n"));
  EXPECT_THAT(texts, SizeIs(3));
  EXPECT_THAT(texts,
              Contains("__global__ void __launch_bounds__(256, 8) k(float *a) { a[0] = 1; }\n"));
}

TEST(LaunchBounds, LeavesOutWhatStandsThereAlready) {
  EXPECT_THAT(
      titlesFor(askBounds(
          "#define T 256\n__global__ void __launch_bounds__(T, 8) k(float *a) { a[0] = 1; }\n")),
      ElementsAre("change to __launch_bounds__(256, 4)", "change to __launch_bounds__(256, 1)"));
}

TEST(LaunchBounds, ReplacesOnTheDeclarationThatHasThem) {
  EXPECT_THAT(textsFor(askBounds("extern \"C\" __global__ void __launch_bounds__(64) k(float *a);\n"
                                 "extern \"C\" __global__ void k(float *a) { a[0] = 1; }\n")),
              Contains("extern \"C\" __global__ void __launch_bounds__(256, 1) k(float *a);\n"
                       "extern \"C\" __global__ void k(float *a) { a[0] = 1; }\n"));
}

TEST(LaunchBounds, HandlesTemplatesWithDependentBounds) {
  Question question = askBounds(
      "template <int N> __global__ void __launch_bounds__(N * 2) k(float *a) { a[0] = N; }\n"
      "template __global__ void k<128>(float *);\n");
  question.expression = "k<128>";
  const auto texts = textsFor(question);
  EXPECT_THAT(texts, SizeIs(2)); // N * 2 is 256 already
  EXPECT_THAT(texts,
              Contains(HasSubstr("void __launch_bounds__(256, 4) k(float *a) { a[0] = N; }")));
}

TEST(LaunchBounds, StaysWithinTheThreadsOfAMultiprocessor) {
  Question question = askBounds("__global__ void k(float *a) { a[0] = 1; }\n");
  question.launches = {{{1, 1, 1}, {32, 8, 1}, 0}, {{1, 1, 1}, {1024, 1, 1}, 0}};
  EXPECT_THAT(titlesFor(question),
              ElementsAre("add __launch_bounds__(1024, 1)", "add __launch_bounds__(1024, 2)"));
  question.arch = "sm_89";
  EXPECT_THAT(titlesFor(question), ElementsAre("add __launch_bounds__(1024, 1)"));
}

TEST(LaunchBounds, RefusesAKernelWithoutLaunches) {
  Question question = askBounds("__global__ void k(float *a) { a[0] = 1; }\n");
  question.launches.clear();
  EXPECT_THAT(offersFor(question), IsEmpty());
}

TEST(LaunchBounds, RefusesABlockThatNoDeviceTakes) {
  Question question = askBounds("__global__ void k(float *a) { a[0] = 1; }\n");
  question.launches = {{{1, 1, 1}, {2048, 1, 1}, 0}};
  EXPECT_THAT(offersFor(question), IsEmpty());
}

TEST(LaunchBounds, RefusesARegisterLimit) {
  EXPECT_THAT(
      offersFor(askBounds(
          "#define __maxnreg__(n)\n__global__ void __maxnreg__(64) k(float *a) { a[0] = 1; }\n")),
      IsEmpty());
}

TEST(LaunchBounds, RefusesBoundsOutOfAMacro) {
  EXPECT_THAT(
      offersFor(askBounds("#define BOUNDS __launch_bounds__(64)\n__global__ void BOUNDS k(float "
                          "*a) { a[0] = 1; }\n")),
      IsEmpty());
}

TEST(LaunchBounds, RefusesANameOutOfAMacro) {
  EXPECT_THAT(
      offersFor(askBounds(
          "#define KERNEL(name) __global__ void name(float *a) { a[0] = 1; }\nKERNEL(k)\n")),
      IsEmpty());
}

TEST(Catalogue, SaysWhyASliceCannotBeRead) {
  auto broken = tryOffers(askBounds("__global__ void k(float *a) { a[0] = }\n"));
  ASSERT_FALSE(static_cast<bool>(broken));
  EXPECT_THAT(llvm::toString(broken.takeError()), HasSubstr("expected expression"));
  auto missing = tryOffers(askBounds("__global__ void other(float *a) { a[0] = 1; }\n"));
  ASSERT_FALSE(static_cast<bool>(missing));
  EXPECT_THAT(llvm::toString(missing.takeError()), HasSubstr("no kernel 'k'"));
}

TEST(Catalogue, TellsSpecializationsApart) {
  Question question = askBounds("template <typename T, int N> __global__ void k(T *a) {\n"
                                "  for (int i = 0; i < N; ++i)\n    a[i] = N;\n}\n"
                                "template __global__ void k<float, 4>(float *);\n"
                                "template __global__ void k<double, 1>(double *);\n");
  question.technique = "unroll";
  question.expression = "k<float, 4>";
  EXPECT_THAT(offersFor(question), SizeIs(3)); // fully, by 2, not
  question.expression = "k<double, 1>";
  EXPECT_THAT(offersFor(question), IsEmpty());
}

} // namespace
} // namespace kopt::frontend::test
