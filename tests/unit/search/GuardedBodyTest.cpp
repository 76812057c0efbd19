// SPDX-License-Identifier: Apache-2.0
// Kernels of which a condition chooses one of two bodies.
#include "driver/search/proposers/GuardedBody.h"

#include "driver/search/proposers/BodyTokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopt {
namespace {

const BodyGuard kLarge{"n >= 65536", "n"};

std::string kernel(const std::string &body) {
  return "template <typename T> __global__ void k(T *x, int n) {\n" + body + "}";
}

std::optional<std::string> guarded(const std::string &usual, const std::string &special,
                                   const BodyGuard &guard = kLarge) {
  return guardedKernel(kernel(usual), kernel(special), guard);
}

TEST(GuardedBodyTest, WhatBothBeginWithStaysBeforeTheCondition) {
  EXPECT_EQ(guarded("  int i = threadIdx.x; // mine\n"
                    "  if (i >= n)\n"
                    "    return;\n"
                    "\n"
                    "  for (; i < n; i += 32)\n"
                    "    x[i] = 0;\n",
                    "  int i = threadIdx.x; // mine\n"
                    "  if (i >= n)\n"
                    "    return;\n"
                    "\n"
                    "#pragma unroll 4\n"
                    "  for (; i < n; i += 32)\n"
                    "    x[i] = 0;\n"),
            kernel("  int i = threadIdx.x; // mine\n"
                   "  if (i >= n)\n"
                   "    return;\n"
                   "  if (n >= 65536) {\n"
                   "#pragma unroll 4\n"
                   "    for (; i < n; i += 32)\n"
                   "      x[i] = 0;\n"
                   "  } else {\n"
                   "    for (; i < n; i += 32)\n"
                   "      x[i] = 0;\n"
                   "  }\n"));
}

TEST(GuardedBodyTest, ABodyOfOneLineGetsLines) {
  EXPECT_EQ(guardedKernel("__global__ void k(int *x, int n) { x[0] = n; }",
                          "__global__ void k(int *x, int n) { x[0] = 2 * n; }", kLarge),
            "__global__ void k(int *x, int n) {\n"
            "  if (n >= 65536) {\n"
            "    x[0] = 2 * n;\n"
            "  } else {\n"
            "    x[0] = n;\n"
            "  }\n"
            "}");
}

TEST(GuardedBodyTest, IndentationIsTheUsers) {
  EXPECT_EQ(guardedKernel("\t__global__ void k(int *x, int n)\n\t{\n\t\tx[0] = n;\n\t}",
                          "\t__global__ void k(int *x, int n)\n\t{\n\t\tx[0] = 1;\n\t}", kLarge),
            "\t__global__ void k(int *x, int n)\n\t{\n"
            "\t\tif (n >= 65536) {\n\t\t\tx[0] = 1;\n\t\t} else {\n\t\t\tx[0] = n;\n\t\t}\n"
            "\t}");
}

TEST(GuardedBodyTest, TheConditionIsTestedBeforeItsVariableChanges) {
  const auto text = guarded("  n /= 4;\n  x[0] = 1;\n", "  n /= 4;\n  x[0] = 2;\n");
  ASSERT_TRUE(text);
  EXPECT_LT(text->find("if (n >= 65536) {"), text->find("n /= 4;"));
  for (const char *change : {"++n;", "n--;", "int *p = &n;", "halve(n);", "n <<= 1;"}) {
    const std::string first = std::string("  ") + change + "\n";
    const auto changed = guarded(first + "  x[0] = 1;\n", first + "  x[0] = 2;\n");
    ASSERT_TRUE(changed) << change;
    EXPECT_LT(changed->find("if (n"), changed->find(change)) << change;
  }
  const auto compared = guarded("  bool a = n == 4 || n <= 2;\n  x[0] = 1;\n",
                                "  bool a = n == 4 || n <= 2;\n  x[0] = 2;\n");
  ASSERT_TRUE(compared);
  EXPECT_GT(compared->find("if (n >="), compared->find("bool a"));
}

TEST(GuardedBodyTest, StatementsAreNotTornApart) {
  // The else belongs to the if above it, and the while to its do.
  EXPECT_EQ(guarded("  if (a)\n    b();\n  else\n    c();\n", "  if (a)\n    b();\n  d();\n"),
            kernel("  if (n >= 65536) {\n    if (a)\n      b();\n    d();\n  } else {\n"
                   "    if (a)\n      b();\n    else\n      c();\n  }\n"));
  EXPECT_EQ(
      guarded("  do {\n    b();\n  }\n  while (a);\n", "  do {\n    b();\n  }\n  while (c);\n"),
      kernel("  if (n >= 65536) {\n    do {\n      b();\n    }\n    while (c);\n  } else {\n"
             "    do {\n      b();\n    }\n    while (a);\n  }\n"));
}

TEST(GuardedBodyTest, ConditionalsOfThePreprocessorStayWhole) {
  EXPECT_EQ(guarded("#if WIDE\n  a(); {\n#else\n  b(); {\n#endif\n  }\n  c();\n",
                    "#if WIDE\n  a(); {\n#else\n  b(); {\n#endif\n  }\n  d();\n"),
            kernel("#if WIDE\n  a(); {\n#else\n  b(); {\n#endif\n  }\n"
                   "  if (n >= 65536) {\n    d();\n  } else {\n    c();\n  }\n"));
  EXPECT_EQ(guarded("#ifdef A\n  a();\n  b();\n#endif\n", "#ifdef A\n  a();\n  c();\n#endif\n"),
            kernel("  if (n >= 65536) {\n#ifdef A\n    a();\n    c();\n#endif\n  } else {\n"
                   "#ifdef A\n    a();\n    b();\n#endif\n  }\n"));
  // A brace in one part alone: where the body ends is not known.
  EXPECT_FALSE(guarded("#ifdef A\n  if (a) {\n#endif\n  b();\n", "  c();\n"));
}

TEST(GuardedBodyTest, WhatCannotStandTwiceIsRefused) {
  const auto differ = [](const std::string &both) {
    return guarded("  a();\n" + both, "  b();\n" + both);
  };
  EXPECT_TRUE(differ("  return;\n"));
  EXPECT_TRUE(differ("  extern __shared__ float all[];\n"));
  EXPECT_TRUE(differ("  static constexpr int kFour = 4;\n"));
  EXPECT_TRUE(differ("  x[0] = a ? b : c;\n  switch (n) { case 1: a(); break; default: b(); }\n"));
  EXPECT_FALSE(differ("  __shared__ float tile[32];\n"));
  EXPECT_FALSE(differ("  static int calls;\n"));
  EXPECT_FALSE(differ("  goto end;\n"));
  EXPECT_FALSE(differ("end:\n  c();\n"));
  EXPECT_FALSE(differ("#define TWICE 2\n"));
  EXPECT_FALSE(differ("  print(R\"(a\nb)\");\n"));
  // In one of the bodies alone it is there once, and before both, too.
  EXPECT_TRUE(guarded("  a();\n", "  __shared__ float tile[32];\n  b();\n"));
  EXPECT_TRUE(
      guarded("  __shared__ float tile[32];\n  a();\n", "  __shared__ float tile[32];\n  b();\n"));
}

TEST(GuardedBodyTest, MoreThanTheBodyIsRefused) {
  EXPECT_FALSE(guardedKernel("__global__ void k(int n) { a(); }",
                             "__global__ void __launch_bounds__(64) k(int n) { b(); }", kLarge));
  EXPECT_FALSE(guarded("  a();\n", "  a();\n"));
  EXPECT_FALSE(guarded("  a();\n", ""));
  EXPECT_FALSE(guardedKernel("__global__ void k(int n);", "__global__ void k(int n);", kLarge));
}

TEST(GuardedBodyTest, AConstantOfOneBodyHidesTheFiles) {
  BodyGuard guard = kLarge;
  guard.constants = {{"UNROLL", "constexpr int UNROLL = 8;"}};
  const std::string body = "  int i = threadIdx.x;\n#pragma unroll UNROLL\n  for (; i < n; ++i)\n"
                           "    x[i] = UNROLL;\n";
  EXPECT_EQ(guarded(body, body, guard), kernel("  int i = threadIdx.x;\n"
                                               "  if (n >= 65536) {\n"
                                               "    constexpr int UNROLL = 8;\n"
                                               "#pragma unroll UNROLL\n"
                                               "    for (; i < n; ++i)\n"
                                               "      x[i] = UNROLL;\n"
                                               "  } else {\n"
                                               "#pragma unroll UNROLL\n"
                                               "    for (; i < n; ++i)\n"
                                               "      x[i] = UNROLL;\n"
                                               "  }\n"));
}

TEST(GuardedBodyTest, ASecondConditionIsAnElseIf) {
  const std::string usual =
      "  int i = 0;\n  if (n >= 65536) {\n    a();\n  } else {\n    b();\n  }\n";
  BodyGuard small{"n <= 64", "n"};
  small.extendsChain = true;
  EXPECT_EQ(guarded(usual, "  int i = 0;\n  c();\n", small),
            kernel("  int i = 0;\n  if (n <= 64) {\n    c();\n  } else if (n >= 65536) {\n"
                   "    a();\n  } else {\n    b();\n  }\n"));
  // Where more follows, the chain is a block of its own.
  EXPECT_EQ(guarded(usual + "  d();\n", "  int i = 0;\n  c();\n", small),
            kernel("  int i = 0;\n  if (n <= 64) {\n    c();\n  } else {\n    if (n >= 65536) {\n"
                   "      a();\n    } else {\n      b();\n    }\n    d();\n  }\n"));
}

TEST(GuardedBodyTest, CommentsAndStringsHaveNoBraces) {
  const auto text = guarded("  a(\"{\"); // }\n  /* { */ char c = '}';\n  b();\n",
                            "  a(\"{\"); // }\n  /* { */ char c = '}';\n  d();\n");
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, testing::HasSubstr("char c = '}';\n  if (n >= 65536) {\n    d();\n"));
  EXPECT_TRUE(usesWord("#pragma unroll UNROLL\n", "UNROLL"));
  EXPECT_FALSE(usesWord("// UNROLL\nf(\"UNROLL\", UNROLLED)", "UNROLL"));
}

} // namespace
} // namespace kopt
