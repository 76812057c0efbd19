// SPDX-License-Identifier: Apache-2.0
#include "driver/integrate/overlay/Splice.h"

#include <gmock/gmock.h>

namespace kopt::overlay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Splice spliceOf(const std::string &text, const std::string &old, const std::string &fresh,
                std::vector<std::string> archs = {}) {
  const std::size_t at = text.find(old);
  EXPECT_NE(at, std::string::npos);
  return {at, at + old.size(), {fresh, "/v.cuh", 10}, std::move(archs)};
}

TEST(SafeLines, AreThoseWhereADirectiveMayStand) {
  const auto linesOf = [](const std::string &text) {
    std::vector<unsigned> lines;
    for (const std::size_t at : safeLines(text))
      lines.push_back(lineAt(text, at));
    return lines;
  };
  EXPECT_THAT(linesOf("a;\nb;\n"), ElementsAre(1, 2));
  EXPECT_THAT(linesOf("/* a\n b */\nc\n"), ElementsAre(1, 3));
  EXPECT_THAT(linesOf("#define A \\\n 1\nb\n"), ElementsAre(1, 3));
  EXPECT_THAT(linesOf("f(a,\n  b);\nc\n"), ElementsAre(1, 3));
  EXPECT_THAT(linesOf("s = R\"x(\n)\"\n)x\";\nc\n"), ElementsAre(1, 4));
  EXPECT_THAT(linesOf("int i = 1'000; // '\nc = '\\''; d = \"(\\\"\";\ne\n"), ElementsAre(1, 2, 3));
  // The branches of a condition open the same parenthesis.
  EXPECT_THAT(linesOf("#if A\nif (a\n#else\nif (b\n#endif\n) {\n}\n"), ElementsAre(1, 2, 4, 7));
}

TEST(Splice, WithinALineChangesNoLine) {
  const std::string text = "a;\nint n = 16; // n\nb;\n";
  EXPECT_EQ(splice(text, "/k.cu", {spliceOf(text, "16", "32")}),
            "#line 1 \"/k.cu\"\na;\nint n = 32; // n\nb;\n");
}

TEST(Splice, OtherLinesAreThoseOfTheVariantAndThenTheUsersAgain) {
  const std::string text = "a;\nvoid k() {\n}\nb;\n";
  EXPECT_EQ(
      splice(text, "/k \"x\".cu", {spliceOf(text, "void k() {\n}", "void k() {\n  1;\n  2;\n}")}),
      "#line 1 \"/k \\\"x\\\".cu\"\na;\n#line 10 \"/v.cuh\"\nvoid k() {\n  1;\n  2;\n}\n"
      "#line 4 \"/k \\\"x\\\".cu\"\nb;\n");
}

TEST(Splice, NoDirectiveStandsWithinParentheses) {
  const std::string text = "CHECK(f(a,\n  b,\n  c));\nd;\n";
  EXPECT_EQ(splice(text, "/k.cu", {spliceOf(text, "b", "b1,\n  b2")}),
            "#line 1 \"/k.cu\"\nCHECK(f(a,\n  b1,\n  b2,\n  c));\n#line 4 \"/k.cu\"\nd;\n");
}

TEST(Splice, ByArchitectureBothTextsStandThere) {
  const std::string text = "a;\nvoid k() {}\nb;\n";
  const std::string made =
      splice(text, "/k.cu",
             {spliceOf(text, "void k() {}", "void k() { 90; }", {"90"}),
              spliceOf(text, "void k() {}", "void k() { 80; }", {"80", "86a"})});
  EXPECT_THAT(made, HasSubstr("#if (defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 800) || "
                              "(defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 860 && "
                              "defined(__CUDA_ARCH_FEAT_SM86_ALL))\n"));
  EXPECT_THAT(made, HasSubstr("#elif (defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 900)\n"));
  EXPECT_THAT(made,
              HasSubstr("#else\n#line 2 \"/k.cu\"\nvoid k() {}\n#endif\n#line 3 \"/k.cu\"\nb;\n"));
}

TEST(Splice, NeighboursShareTheirLines) {
  const std::string text = "x(1); void k() {} y(2);\nb;\n";
  const std::string made =
      splice(text, "/k.cu",
             {spliceOf(text, "1", "7"), spliceOf(text, "void k() {}", "void k() {\n}"),
              spliceOf(text, "2", "8")});
  EXPECT_EQ(made, "#line 1 \"/k.cu\"\nx(7); void k() {\n} y(8);\n#line 2 \"/k.cu\"\nb;\n");
}

} // namespace
} // namespace kopt::overlay
