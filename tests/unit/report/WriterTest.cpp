// SPDX-License-Identifier: Apache-2.0
#include "driver/report/html/Writer.h"

#include <gmock/gmock.h>

namespace kopt::html {
namespace {

TEST(Writer, EscapesTextAndAttributes) {
  Writer writer;
  writer.element("p", {{"title", "\"><b onload='x'>"}}, "</p><script>&amp;");
  EXPECT_EQ(writer.take(), "<p title=\"&quot;&gt;&lt;b onload=&#39;x&#39;&gt;\">"
                           "&lt;/p&gt;&lt;script&gt;&amp;amp;</p>");
}

TEST(Writer, MakesVisibleWhatCannotBeSeen) {
  EXPECT_EQ(escape("a\x01"
                   "b\x7f"),
            "a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD");
  EXPECT_EQ(escape("x\xff"), "x\xEF\xBF\xBD");                   // no UTF-8
  EXPECT_EQ(escape("if \xE2\x80\xAE x"), "if &lt;U+202E&gt; x"); // right-to-left override
  EXPECT_EQ(escape("\xE2\x81\xA6"), "&lt;U+2066&gt;");
  EXPECT_EQ(escape("\xE2\x80\xA6"), "\xE2\x80\xA6"); // an ellipsis is none of them
  EXPECT_EQ(escape("a\n\tb\r\n"), "a\n\tb\n");
}

TEST(Writer, ClosesElementsInOrder) {
  Writer writer;
  {
    const auto outer = writer.open("div");
    const auto inner = writer.open("ul", {{"class", ""}});
    writer.leaf("br");
  }
  EXPECT_EQ(writer.take(), "<div><ul><br/></ul></div>");
}

TEST(Writer, WritesCoordinates) {
  EXPECT_EQ(coordinate(12.5), "12.5");
  EXPECT_EQ(coordinate(100), "100");
  EXPECT_EQ(coordinate(1.0 / 3), "0.33");
  EXPECT_EQ(coordinate(-0.001), "0");
  EXPECT_EQ(coordinate(1 / 0.0), "0");
}

} // namespace
} // namespace kopt::html
