// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/screen/SourceFacts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopt::frontend {
namespace {

TEST(SourceFacts, ReadsDirectivesThroughSplicesAndComments) {
  const SourceFacts facts = readSource(
      "#incl\\\nude <vector>\n# /* x */ include \"a b.h\" // y\n%:include <map>\n"
      "const char *s = \"#include <set>\";\n// #include <list>\n#if A && \\\n  B\n#endif\n"
      "#define N 4\n#undef M\n");
  ASSERT_EQ(facts.includes.size(), 3u);
  EXPECT_EQ(facts.includes[0].text, "<vector>");
  EXPECT_EQ(facts.includes[1].text, "\"a b.h\"");
  EXPECT_EQ(facts.includes[1].line, 3u);
  EXPECT_EQ(facts.includes[2].text, "<map>");
  ASSERT_EQ(facts.conditionals.size(), 1u);
  EXPECT_EQ(facts.conditionals[0].text, "if A && B");
  EXPECT_EQ(facts.macros.at("N").text, "4");
  EXPECT_EQ(facts.macros.at("M").text, "undef");
}

TEST(SourceFacts, TellsElisionsFromRemarks) {
  for (const char *comment :
       {"// ...", "// ... rest unchanged", "/* ... */", "// [... existing code ...]",
        "// Rest of the kernel here", "// omitted for brevity", "// … same as before …"})
    EXPECT_TRUE(isElision(comment)) << comment;
  for (const char *comment : {"// load the rest of the tile", "// x, y, ... are coordinates",
                              "// unchanged by this warp", "// previous value", "/* tail */", "//"})
    EXPECT_FALSE(isElision(comment)) << comment;
}

} // namespace
} // namespace kopt::frontend
