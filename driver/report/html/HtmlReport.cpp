// SPDX-License-Identifier: Apache-2.0
#include "driver/report/html/HtmlReport.h"

#include "driver/model/Version.h"
#include "driver/report/html/DiffTable.h"
#include "driver/report/html/Drawings.h"
#include "driver/report/html/Writer.h"
#include "html/PageFiles.h"

#include <cctype>
#include <fmt/format.h>

namespace kopt {
namespace html {
namespace {

constexpr Literal kStyle(page::kFiles[0].second);  ///< on screen, light and dark, and in print
constexpr Literal kScript(page::kFiles[1].second); ///< the only one: sorts tables
/// Hash of the script, for the page's Content-Security-Policy; a test computes it again.
constexpr const char *kScriptHash = "sha256-uHwaJToOO+MuoxZnJYtl8v4heGUjx5aXesdcx7+JhVo=";

/// CSS classes of a cell, from those of its column and its own.
std::string classes(const std::string &a, const std::string &b) {
  return a + (a.empty() || b.empty() ? "" : " ") + b;
}

class Page {
public:
  std::string write(const Document &document) {
    begin(document.title);
    headline(document);
    for (const Section &section : document.sections) {
      const auto frame =
          writer_.open("section", {{"id", section.id}, {"aria-labelledby", section.id + "-title"}});
      writer_.element("h2", {{"id", section.id + "-title"}}, section.title);
      writeAll(section.blocks);
    }
    end();
    return writer_.take();
  }

private:
  void begin(const std::string &title) {
    writer_.verbatim("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
    writer_.leaf("meta",
                 {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
    writer_.leaf("meta", {{"name", "color-scheme"}, {"content", "light dark"}});
    // The page loads nothing and runs no script except the one below, even if a title contained
    // one.
    writer_.leaf("meta", {{"http-equiv", "Content-Security-Policy"},
                          {"content", fmt::format("default-src 'none'; style-src 'unsafe-inline'; "
                                                  "script-src '{}'; base-uri 'none'; form-action "
                                                  "'none'",
                                                  kScriptHash)}});
    writer_.leaf("meta",
                 {{"name", "generator"}, {"content", std::string("kopt ") + koptVersion()}});
    writer_.element("title", title);
    writer_.verbatim("<style>");
    writer_.verbatim(kStyle);
    writer_.verbatim("</style></head>\n<body><main>");
  }

  void end() {
    writer_.verbatim("</main>\n<script>");
    writer_.verbatim(kScript);
    writer_.verbatim("</script></body></html>\n");
  }

  void headline(const Document &document) {
    const auto header = writer_.open("header", {{"id", "headline"}});
    {
      const auto over = writer_.open("div", {{"class", "over"}});
      write(document.over);
    }
    writer_.element("h1", document.heading);
    writer_.element("div", {{"class", "over code"}}, document.place);
    answer(document);
    facts(document.facts);
    const auto nav = writer_.open("nav", {{"aria-label", "Contents"}});
    for (const Section &section : document.sections) {
      writer_.element("a", {{"href", "#" + section.id}}, section.title);
      writer_.text(" ");
    }
  }

  void answer(const Document &document) {
    const auto head = writer_.open("div", {{"class", "head"}});
    {
      const auto big =
          writer_.open("div", {{"class", document.answerMore.empty() ? "big none" : "big"}});
      writer_.text(document.answer);
      if (!document.answerMore.empty())
        writer_.element("small", document.answerMore);
    }
    const auto says = writer_.open("div");
    std::string evidence = document.evidence;
    if (!evidence.empty())
      evidence[0] = char(std::toupper(static_cast<unsigned char>(evidence[0])));
    writer_.element("p", {{"class", "says"}}, evidence);
    if (document.drawing)
      document.drawing(writer_);
  }

  void facts(const std::vector<Fact> &facts) {
    if (facts.empty())
      return;
    const auto list = writer_.open("dl", {{"class", "facts"}});
    for (const Fact &fact : facts) {
      const auto frame = writer_.open("div");
      writer_.element("dt", fact.name);
      const auto body = writer_.open("dd");
      writer_.element("b", {{"class", fact.style}}, fact.value);
      if (fact.more.empty())
        continue;
      writer_.text(" ");
      writer_.element("span", {{"class", "small"}}, fact.more);
    }
  }

  void write(const Words &words) {
    for (const Span &span : words.spans)
      if (!span.text.empty())
        write(span);
  }

  void write(const Span &span) {
    if (!span.link.empty())
      return writer_.element("a", {{"href", span.link}}, span.text);
    switch (span.kind) {
    case Span::Strong:
      return writer_.element("b", {{"class", span.style}}, span.text);
    case Span::Code:
      return writer_.element("code", {{"class", span.style}}, span.text);
    case Span::Small:
      return writer_.element("span", {{"class", "small"}}, span.text);
    case Span::Tag:
      return writer_.element("span", {{"class", "tag " + span.style}}, span.text);
    case Span::Proposer:
      return writeProposer(writer_, span.text);
    case Span::Plain:
      writer_.text(span.text);
    }
  }

  void writeAll(const Blocks &blocks) {
    for (const Block &block : blocks)
      std::visit([&](const auto &each) { write(each); }, block);
  }

  void write(const Subheading &block) { writer_.element("h3", block.title); }

  void write(const Paragraph &block) {
    const auto frame = writer_.open("p", {{"class", block.style}});
    write(block.words);
  }

  void write(const List &list) {
    const auto frame = writer_.open("ul", {{"class", list.style}});
    for (const Item &item : list.items) {
      const auto line = writer_.open("li");
      if (!item.when.empty())
        writer_.element("div", {{"class", "when"}}, item.when);
      const auto body = writer_.open("div");
      write(item.words);
      if (item.details.empty())
        continue;
      const auto details = writer_.open("ul");
      for (const std::string &detail : item.details)
        writer_.element("li", detail);
    }
  }

  /// A table scrolls separately if the page is too narrow for it.
  void write(const Table &table) {
    const auto frame = writer_.open(
        "div",
        {{"class", "scroll"}, {"tabindex", "0"}, {"role", "region"}, {"aria-label", table.label}});
    const auto grid = writer_.open("table", {{"class", table.style}});
    {
      const auto head = writer_.open("thead");
      const auto row = writer_.open("tr");
      for (const Column &column : table.columns) {
        const auto cell = writer_.open("th", {{"scope", "col"}, {"class", column.style}});
        if (column.head)
          column.head(writer_);
        else
          writer_.text(column.name);
      }
    }
    const auto body = writer_.open("tbody");
    for (const Row &row : table.rows)
      write(table, row);
  }

  void write(const Table &table, const Row &row) {
    const auto line = writer_.open("tr", {{"class", row.style}});
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const Cell &cell = row.cells[i];
      const bool isHead = i == 0 && table.hasRowHeads;
      const auto frame = writer_.open(isHead ? Literal("th") : Literal("td"),
                                      {{"scope", isHead ? "row" : ""},
                                       {"class", classes(table.columns[i].style, cell.style)},
                                       {"data-v", cell.sortKey}});
      if (cell.drawing)
        cell.drawing(writer_);
      write(cell.words);
    }
  }

  void write(const CodeBlock &block) { writer_.element("pre", block.text); }
  void write(const Diff &block) { writeDiff(writer_, block.text); }

  void write(const Figure &figure) {
    const auto frame = writer_.open("figure");
    writer_.element("figcaption", figure.caption);
    figure.drawing(writer_);
  }

  void write(const Pair &pair) {
    const auto frame = writer_.open("div", {{"class", "pair"}});
    for (const Blocks *side : {&pair.left, &pair.right}) {
      const auto part = writer_.open("div");
      writeAll(*side);
    }
  }

  Writer writer_;
};

} // namespace
} // namespace html

std::string toHtml(const Document &document) { return html::Page().write(document); }

} // namespace kopt
