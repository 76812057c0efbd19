// SPDX-License-Identifier: Apache-2.0
// Kernels of which a condition chooses one of two bodies.
#include "clang_plugin/transform/GuardedBody.h"

#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopt::frontend::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const BodyGuard kLarge{"n >= 65536", {"n"}, {}, false};

const std::string kBefore = "#include <cuda_runtime.h>\n"
                            "constexpr int UNROLL = 4;\n"
                            "__device__ void a(); __device__ void b(); __device__ void c();\n"
                            "__device__ void d(); __device__ void take(const char *);\n"
                            "__device__ void halve(int &n); __device__ int half(int n);\n";

std::string kernel(const std::string &body) {
  return "template <typename T> __global__ void k(T *x, int n) {\n" + body + "}";
}

struct Bodies {
  std::string usual, special;
  BodyGuard guard = kLarge;
  std::string before = kBefore, beforeSpecial = kBefore, after = "\n", expression = "k";
};

ChunkReply ask(const Bodies &bodies) {
  setenv("KOPT_CUDA_PATH", "none", 1);
  const auto chunkIn = [](const std::string &before, const std::string &chunk) {
    return TextRange{before.size(), before.size() + chunk.size()};
  };
  GuardRequest request;
  request.source.slice = bodies.before + bodies.usual + bodies.after;
  request.source.kernel = "k";
  request.source.expression = request.specialExpression = bodies.expression;
  request.source.directory = "/tmp";
  request.source.arch = "sm_90";
  request.chunk = chunkIn(bodies.before, bodies.usual);
  request.special = bodies.beforeSpecial + bodies.special + bodies.after;
  request.specialChunk = chunkIn(bodies.beforeSpecial, bodies.special);
  request.guard = bodies.guard;
  auto reply = guardBody(request);
  if (!reply)
    return {"", llvm::toString(reply.takeError())};
  EXPECT_NE(reply->text.empty(), reply->refusal.empty());
  return *reply;
}

ChunkReply askOf(const std::string &usual, const std::string &special,
                 const BodyGuard &guard = kLarge) {
  return ask({.usual = kernel(usual),
              .special = kernel(special),
              .guard = guard,
              .after = "\ntemplate __global__ void k<int>(int *, int);\n",
              .expression = "k<int>"});
}

/// The text, or why there is none.
std::string guarded(const std::string &usual, const std::string &special,
                    const BodyGuard &guard = kLarge) {
  const ChunkReply reply = askOf(usual, special, guard);
  return reply.text + reply.refusal;
}

std::string refusal(const std::string &usual, const std::string &special) {
  return askOf(usual, special).refusal;
}

TEST(GuardedBody, KeepsWhatBothBeginWithBeforeTheCondition) {
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

TEST(GuardedBody, GivesABodyOfOneLineItsLines) {
  EXPECT_EQ(ask({.usual = "__global__ void k(int *x, int n) { x[0] = n; }",
                 .special = "__global__ void k(int *x, int n) { x[0] = 2 * n; }"})
                .text,
            "__global__ void k(int *x, int n) {\n"
            "  if (n >= 65536) {\n"
            "    x[0] = 2 * n;\n"
            "  } else {\n"
            "    x[0] = n;\n"
            "  }\n"
            "}");
}

TEST(GuardedBody, IndentsAsTheUserDoes) {
  EXPECT_EQ(ask({.usual = "\t__global__ void k(int *x, int n)\n\t{\n\t\tx[0] = n;\n\t}",
                 .special = "\t__global__ void k(int *x, int n)\n\t{\n\t\tx[0] = 1;\n\t}"})
                .text,
            "\t__global__ void k(int *x, int n)\n\t{\n"
            "\t\tif (n >= 65536) {\n\t\t\tx[0] = 1;\n\t\t} else {\n\t\t\tx[0] = n;\n\t\t}\n"
            "\t}");
}

TEST(GuardedBody, TestsTheConditionBeforeItsVariablesChange) {
  for (const char *change : {"n /= 4;", "++n;", "n--;", "int *p = &n;", "halve(n);", "n <<= 1;",
                             "int &m = n;", "(n) = 3;", "auto f = [&] { ++n; };"}) {
    const std::string first = std::string("  a();\n  ") + change + "\n  c();\n";
    const std::string text = guarded(first + "  x[0] = 1;\n", first + "  x[0] = 2;\n");
    EXPECT_LT(text.find("a();\n  if (n >= 65536) {"), text.find(change)) << text;
  }
  for (const char *use : {"bool o = n == 4 || n <= 2;", "x[n] = n;", "int m = half(n);", "x += n;",
                          "T v = n * x[0];"}) {
    const std::string first = std::string("  ") + use + "\n";
    const std::string text = guarded(first + "  x[0] = 1;\n", first + "  x[0] = 2;\n");
    EXPECT_THAT(text, HasSubstr(first + "  if (n >= 65536) {")) << text;
  }
}

TEST(GuardedBody, TestsSeveralVariables) {
  const BodyGuard vectors{
      "reinterpret_cast<unsigned long long>(x) % 16 == 0 && n % 4 == 0", {"x", "n"}, {}, false};
  const std::string text =
      guarded("  *x = 1;\n  x += 4;\n  a();\n", "  *x = 1;\n  x += 4;\n  b();\n", vectors);
  EXPECT_THAT(text, HasSubstr("  *x = 1;\n  if (" + vectors.condition + ") {\n    x += 4;\n"));
  BodyGuard unknown = kLarge;
  unknown.variables = {"count"};
  EXPECT_EQ(guarded("  a();\n", "  b();\n", unknown), "the kernel has no parameter 'count'");
}

TEST(GuardedBody, TearsNoStatementsApart) {
  // The else belongs to the if above it, and the while to its do.
  EXPECT_EQ(guarded("  if (n)\n    b();\n  else\n    c();\n", "  if (n)\n    b();\n  d();\n"),
            kernel("  if (n >= 65536) {\n    if (n)\n      b();\n    d();\n  } else {\n"
                   "    if (n)\n      b();\n    else\n      c();\n  }\n"));
  EXPECT_EQ(
      guarded("  do {\n    b();\n  }\n  while (n);\n", "  do {\n    b();\n  }\n  while (!n);\n"),
      kernel("  if (n >= 65536) {\n    do {\n      b();\n    }\n    while (!n);\n  } else {\n"
             "    do {\n      b();\n    }\n    while (n);\n  }\n"));
  // A macro has the end of one statement and the begin of the next.
  Bodies torn{.usual = "__global__ void k(int *x, int n) {\n  AND\n    b();\n  c();\n}",
              .special = "__global__ void k(int *x, int n) {\n  AND\n    d();\n  c();\n}"};
  torn.before = torn.beforeSpecial += "#define AND a(); if (n)\n";
  EXPECT_THAT(ask(torn).text, HasSubstr("{\n  if (n >= 65536) {\n    AND\n      d();\n    c();\n"));
}

TEST(GuardedBody, KeepsConditionalsOfThePreprocessorWhole) {
  EXPECT_EQ(guarded("#if WIDE\n  a(); {\n#else\n  b(); {\n#endif\n  }\n  c();\n",
                    "#if WIDE\n  a(); {\n#else\n  b(); {\n#endif\n  }\n  d();\n"),
            kernel("#if WIDE\n  a(); {\n#else\n  b(); {\n#endif\n  }\n"
                   "  if (n >= 65536) {\n    d();\n  } else {\n    c();\n  }\n"));
  EXPECT_EQ(guarded("#ifndef A\n  a();\n  b();\n#endif\n", "#ifndef A\n  a();\n  c();\n#endif\n"),
            kernel("  if (n >= 65536) {\n#ifndef A\n    a();\n    c();\n#endif\n  } else {\n"
                   "#ifndef A\n    a();\n    b();\n#endif\n  }\n"));
  // With A the block of an if has the first statements.
  const std::string first = "#ifdef A\n  if (n) {\n#endif\n  b();\n#ifdef A\n  }\n#endif\n";
  EXPECT_THAT(guarded(first + "  c();\n", first + "  d();\n"),
              HasSubstr("void k(T *x, int n) {\n  if (n >= 65536) {\n#ifdef A\n    if (n) {\n"));
  // A brace in one part alone.
  EXPECT_THAT(refusal("#ifdef A\n  if (n) {\n#endif\n  b();\n", "  c();\n"),
              StartsWith("a bracket of the kernel's body"));
  EXPECT_EQ(ask({.usual = "#if 1\n__global__ void k(int n) {\n  a();\n#endif\n}",
                 .special = "#if 1\n__global__ void k(int n) {\n  b();\n#endif\n}"})
                .text,
            "");
}

TEST(GuardedBody, RefusesWhatCannotStandTwice) {
  const auto differ = [](const std::string &both) {
    return askOf("  a();\n" + both, "  b();\n" + both);
  };
  for (const char *both :
       {"  return;\n", "  extern __shared__ float all[];\n", "  static constexpr int kFour = 4;\n",
        "  x[0] = n ? 1 : 2;\n  switch (n) { case 1: a(); break; default: b(); }\n"})
    EXPECT_EQ(differ(both).refusal, "") << both;
  EXPECT_EQ(differ("  static int calls;\n").refusal, "a body contains the static variable 'calls'");
  EXPECT_EQ(differ("  if (n) goto end;\nend:\n  c();\n").refusal, "a body contains a goto");
  EXPECT_EQ(differ("end:\n  c();\n").refusal, "a body contains a label");
  EXPECT_EQ(differ("#define TWICE 2\n").refusal, "a body contains #define");
  EXPECT_EQ(differ("  take(R\"(a\nb)\");\n").refusal, "a body contains a string of several lines");
  // Before the condition it stands once.
  for (const char *first : {"  static __device__ int calls;\n", "#define TWICE 2\n  c();\n"})
    EXPECT_EQ(askOf(first + std::string("  a();\n"), first + std::string("  b();\n")).refusal, "");
}

TEST(GuardedBody, AllowsTheSharedMemoryOfABlock) {
  const auto tiles = [](int usual, int special) {
    const auto tile = [](int kilobytes) {
      return "  __shared__ char tile[" + std::to_string(kilobytes * 1024) + "];\n";
    };
    return refusal("  a();\n" + tile(usual), "  b();\n" + tile(special));
  };
  EXPECT_EQ(tiles(24, 24), "");
  EXPECT_EQ(tiles(25, 24), "both bodies together have 50176 bytes of static shared memory");
  EXPECT_EQ(tiles(48, 48), "both bodies together have 98304 bytes of static shared memory");
  // Before the condition, or in a function that both call, it is there once.
  const std::string first = "  __shared__ char tile[40000];\n";
  EXPECT_EQ(refusal(first + "  a();\n", first + "  b();\n"), "");
  Bodies calling{.usual = "__global__ void k(int *x, int n) { x[0] = f(n); }",
                 .special = "__global__ void k(int *x, int n) { x[1] = f(n); }"};
  calling.before = calling.beforeSpecial +=
      "__device__ int f(int n) { __shared__ int t[8000]; return t[n]; }\n";
  EXPECT_EQ(ask(calling).refusal, "");
}

TEST(GuardedBody, RefusesMoreThanTheBody) {
  EXPECT_EQ(ask({.usual = "__global__ void k(int n) { a(); }",
                 .special = "__global__ void k(const int n) { b(); }"})
                .refusal,
            "more than the kernel's body differs");
  EXPECT_EQ(refusal("  a();\n", "  a();\n"),
            "a body has nothing that the other does not begin with");
  EXPECT_NE(refusal("  a();\n", ""), "");
  EXPECT_THAT(
      ask({.usual = "__global__ void k(int n);", .special = "__global__ void k(int n);"}).refusal,
      HasSubstr("defines no kernel"));
  EXPECT_THAT(refusal("  a();\n", "  unknown();\n"), HasSubstr("does not parse"));
  Bodies spelled{.usual = "__global__ void k(int n) BODY(a)",
                 .special = "__global__ void k(int n) BODY(b)"};
  spelled.before = spelled.beforeSpecial += "#define BODY(f) { f(); }\n";
  EXPECT_THAT(ask(spelled).refusal, HasSubstr("a macro"));
}

TEST(GuardedBody, KeepsTheUsualLaunchBounds) {
  const std::string bounded = "__global__ void __launch_bounds__((64), 2) k(int n) { a(); }",
                    free = "__global__ void k(int n) { b(); }";
  EXPECT_THAT(ask({.usual = bounded, .special = free}).text,
              StartsWith("__global__ void __launch_bounds__((64), 2) k(int n) {\n  if (n"));
  EXPECT_THAT(ask({.usual = free, .special = bounded}).text,
              StartsWith("__global__ void k(int n) {\n  if (n"));
}

TEST(GuardedBody, KeepsWhatTheSpecialHeadPromisesOfPointers) {
  const std::string usual = "__global__ void k(int *x, int n) { a(); }",
                    special = "__global__ __launch_bounds__(64)\n"
                              "void k(int *__restrict__ x, int n) { b(); }",
                    bounded = "__global__ void __launch_bounds__(32) k(int *x, int n) { a(); }";
  EXPECT_THAT(ask({.usual = usual, .special = special}).text,
              StartsWith("__global__ void k(int *__restrict__ x, int n) {\n  if (n"));
  EXPECT_THAT(ask({.usual = bounded, .special = special}).text,
              StartsWith(bounded.substr(0, bounded.find('{'))));
}

TEST(GuardedBody, HidesAConstantOfTheFile) {
  BodyGuard guard = kLarge;
  guard.constants = {"UNROLL"};
  const std::string body = "  int i = threadIdx.x;\n#pragma unroll UNROLL\n  for (; i < n; ++i)\n"
                           "    x[i] = UNROLL;\n";
  Bodies bodies{.usual = "__global__ void k(int *x, int n) {\n" + body + "}",
                .special = "__global__ void k(int *x, int n) {\n" + body + "}",
                .guard = guard};
  const auto with = [&](const std::string &declaration, const std::string &others = "") {
    bodies.before = "constexpr int UNROLL = 4;\n" + others;
    bodies.beforeSpecial = declaration + "\n" + others;
    return ask(bodies);
  };
  const std::string text = "__global__ void k(int *x, int n) {\n"
                           "  int i = threadIdx.x;\n"
                           "  if (n >= 65536) {\n"
                           "    constexpr int UNROLL = 8;\n"
                           "#pragma unroll UNROLL\n"
                           "    for (; i < n; ++i)\n"
                           "      x[i] = UNROLL;\n"
                           "  } else {\n"
                           "#pragma unroll UNROLL\n"
                           "    for (; i < n; ++i)\n"
                           "      x[i] = UNROLL;\n"
                           "  }\n"
                           "}";
  EXPECT_EQ(with("constexpr int UNROLL = 8;").text, text);
  EXPECT_EQ(with("static inline constexpr int UNROLL = 8;").text, text);
  // A comment and a string with the name are no uses of it.
  EXPECT_EQ(
      with("constexpr int UNROLL = 8;", "// UNROLL\nconst char *name() { return \"UNROLL\"; }\n")
          .text,
      text);
  const std::string alone = "'UNROLL' is not declared as one constant on a line of its own";
  EXPECT_EQ(with("constexpr int OTHER = 1, UNROLL = 8;").refusal, alone);
  EXPECT_EQ(with("constexpr int UNROLL = 8, OTHER = 1;").refusal, alone);
  EXPECT_EQ(with("__device__ constexpr int UNROLL = 8;").refusal, alone);
  const std::string used = "'UNROLL' is used outside of the kernel's body, too";
  EXPECT_EQ(with("constexpr int UNROLL = 8;", "__device__ int f() { return UNROLL; }\n").refusal,
            used);
  EXPECT_EQ(with("constexpr int UNROLL = 8;", "struct Tile { int part[2 * UNROLL]; };\n").refusal,
            used);
  bodies.usual = bodies.special =
      "__global__ void __launch_bounds__(UNROLL) k(int *x, int n) {\n" + body + "}";
  EXPECT_EQ(with("constexpr int UNROLL = 8;").refusal, used);
}

TEST(GuardedBody, ExtendsAChainByAnElseIf) {
  const std::string usual =
      "  int i = 0;\n  if (n >= 65536) {\n    a();\n  } else {\n    b();\n  }\n";
  const BodyGuard small{"n <= 64", {"n"}, {}, true};
  EXPECT_EQ(guarded(usual, "  int i = 0;\n  c();\n", small),
            kernel("  int i = 0;\n  if (n <= 64) {\n    c();\n  } else if (n >= 65536) {\n"
                   "    a();\n  } else {\n    b();\n  }\n"));
  // Where more follows, the chain is a block of its own.
  const std::string block =
      "  int i = 0;\n  if (n <= 64) {\n    c();\n  } else {\n    if (n >= 65536) {\n"
      "      a();\n    } else {\n      b();\n    }\n";
  EXPECT_EQ(guarded(usual + "  d();\n", "  int i = 0;\n  c();\n", small),
            kernel(block + "    d();\n  }\n"));
  EXPECT_EQ(guarded(usual + "#ifdef A\n  d();\n#endif\n", "  int i = 0;\n  c();\n", small),
            kernel(block + "#ifdef A\n    d();\n#endif\n  }\n"));
}

TEST(GuardedBody, FindsNoBracesInCommentsAndStrings) {
  const std::string first = "  take(\"{\"); // }\n  /* { */ char c = '}';\n";
  EXPECT_THAT(guarded(first + "  b();\n", first + "  d();\n"),
              HasSubstr("char c = '}';\n  if (n >= 65536) {\n    d();\n"));
}

} // namespace
} // namespace kopt::frontend::test
