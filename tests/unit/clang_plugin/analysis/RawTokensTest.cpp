// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/analysis/RawTokens.h"

#include <gtest/gtest.h>

namespace kopt::frontend {
namespace {

CodeDigest digestOf(const std::string &text, const std::string &name = "") {
  return digestsOf({{{text, name}}}).codes.at(0);
}
std::string codeOf(const std::string &text) { return digestOf(text).code; }

TEST(CodeDigests, CommentsAndSpaceSayNothing) {
  EXPECT_EQ(codeOf("int  a ; /* x */ // y\n\tf( a );"), codeOf("int a;\nf(a);"));
  EXPECT_EQ(codeOf("// why\n#define  R 1\n"), codeOf("#define R 1"));
  EXPECT_EQ(codeOf("#define A \\\n  1\nint b;"), codeOf("#define A 1\nint b;"));
  EXPECT_NE(codeOf("#define A 1 int b;"), codeOf("#define A 1\nint b;"));
  EXPECT_NE(codeOf("a + +b"), codeOf("a ++b"));
  EXPECT_NE(codeOf("int a"), codeOf("inta"));
}

TEST(CodeDigests, LiteralsStayAsTheyAre) {
  EXPECT_NE(codeOf("f(\"a  // b\");"), codeOf("f(\"a // b\");"));
  EXPECT_EQ(codeOf("f('\"'); // c"), codeOf("f('\"');"));
  EXPECT_EQ(codeOf("R\"x(a  \" // b)x\"; // c"), codeOf("R\"x(a  \" // b)x\";"));
  EXPECT_NE(codeOf("R\"x(a  \" // b)x\";"), codeOf("R\"x(a  \" // c)x\";"));
  EXPECT_EQ(codeOf("1'000 // c"), codeOf("1'000"));
}

TEST(CodeDigests, ANameMayChange) {
  const CodeDigest one = digestOf("void f() { f2(f); }", "f"),
                   other = digestOf("void g() { f2(g); }", "g");
  EXPECT_NE(one.code, other.code);
  EXPECT_EQ(one.nameless, other.nameless);
  EXPECT_NE(digestOf("void g() { g2(g); }", "g").nameless, one.nameless);
}

TEST(RawTokens, NormalizesLayoutAlone) {
  EXPECT_EQ(normalizedTokens("int  f( ) { /* c */ return 1 ;}"),
            normalizedTokens("int f()\n{ return 1; } // d\n"));
  EXPECT_NE(normalizedTokens("\"a b\""), normalizedTokens("\"a  b\""));
}

} // namespace
} // namespace kopt::frontend
