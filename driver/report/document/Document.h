// SPDX-License-Identifier: Apache-2.0
// What a report says, made once for all formats: Markdown.h and html/HtmlReport.h write it.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace kopt {

namespace html {
class Writer;
}
/// Draws on a page. Markdown leaves it out, so the text beside it says the same.
using Drawing = std::function<void(html::Writer &)>;

/// Text with one look.
struct Span {
  enum Kind {
    Plain,
    Strong,
    Code,
    Small,
    Tag,      ///< a word in a frame
    Proposer, ///< the name of a proposer, with its mark
  };
  Span(std::string given) : text(std::move(given)) {} // NOLINT(google-explicit-constructor)
  Span(const char *given) : text(given) {}            // NOLINT(google-explicit-constructor)
  Span(Kind look, std::string given, std::string css = {}, std::string target = {})
      : kind(look), text(std::move(given)), style(std::move(css)), link(std::move(target)) {}

  Kind kind = Plain;
  std::string text;
  std::string style; ///< CSS class
  std::string link;  ///< relative to the page; empty: none
};

/// Foreign text may stand in any of the spans: the formats escape it.
struct Words {
  Words() = default;
  Words(std::string text) : spans{std::move(text)} {}            // NOLINT
  Words(const char *text) : spans{Span(text)} {}                 // NOLINT
  Words(Span span) : spans{std::move(span)} {}                   // NOLINT
  Words(std::initializer_list<Span> several) : spans(several) {} // NOLINT

  std::vector<Span> spans;
};

struct Subheading {
  std::string title;
};

struct Paragraph {
  Words words;
  std::string style{}; ///< "note": muted, says what is missing or how to read a figure; "small"
};

struct Item {
  Words words;
  std::vector<std::string> details{};
  std::string when{}; ///< of a story
};
struct List {
  std::vector<Item> items;
  std::string style = "plain"; ///< or "story", or "legend", which is left out with its figures
};

struct Column {
  std::string name;
  std::string style{}; ///< CSS class of all of its cells; "n": numbers
  /// A column of drawings. `head` stands in for its name.
  bool isDrawn = false;
  Drawing head{};
};
struct Cell {
  Words words;
  std::string style{};
  std::string sortKey{}; ///< if it is not the text
  Drawing drawing{};     ///< of a column of drawings
};
struct Row {
  std::vector<Cell> cells; ///< one for each column
  std::string style{};
};
struct Table {
  std::string label;
  std::string style; ///< "narrow": as wide as its text; "sortable"
  std::vector<Column> columns;
  std::vector<Row> rows{};
  bool hasRowHeads = true; ///< the first cell of a row names it
};

/// A command or code, as it is.
struct CodeBlock {
  std::string text;
};
/// A unified diff.
struct Diff {
  std::string text;
};
struct Figure {
  std::string caption;
  Drawing drawing;
};

/// Two parts, side by side where there is room.
struct Pair;
using Block = std::variant<Subheading, Paragraph, List, Table, CodeBlock, Diff, Figure, Pair>;
using Blocks = std::vector<Block>;
struct Pair {
  Blocks left, right;
};

/// Without blocks, it is not part of the document.
struct Section {
  std::string id, title;
  Blocks blocks{};

  void add(Block block) { blocks.push_back(std::move(block)); }
  /// Adds a muted paragraph.
  void note(Words words) { add(Paragraph{std::move(words), "note"}); }
};

struct Fact {
  std::string name, value;
  std::string more{}, style{};
};

struct Document {
  std::string title;   ///< of the window
  std::string heading; ///< what it is about
  Words over;          ///< above the heading: which run, and when
  std::string place;   ///< a file or folder
  /// The answer in a word or two, "1.87x" and " faster, measured", and what stands behind it.
  std::string answer, answerMore{}, evidence{};
  Drawing drawing{}; ///< of the answer
  std::vector<Fact> facts{};
  std::vector<Section> sections{};

  void add(Section section) {
    if (!section.blocks.empty())
      sections.push_back(std::move(section));
  }
};

} // namespace kopt
