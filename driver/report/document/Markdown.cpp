// SPDX-License-Identifier: Apache-2.0
#include "driver/report/document/Markdown.h"

#include "driver/support/Text.h"

#include <fmt/format.h>

namespace kopt {
namespace {

/// One line.
std::string flat(const std::string &text) {
  return replaceAll(replaceAll(text, "\r", ""), "\n", " ");
}

/// Code within a line. Backticks become quotes.
std::string code(const std::string &text) {
  return text.empty() ? text : "`" + replaceAll(flat(text), "`", "'") + "`";
}

std::string toText(const Words &words) {
  std::string text;
  for (const Span &span : words.spans)
    switch (span.kind) {
    case Span::Strong:
      text += "**" + flat(span.text) + "**";
      break;
    case Span::Code:
      text += code(span.text);
      break;
    case Span::Tag:
      text += "(" + flat(span.text) + ")";
      break;
    default:
      text += flat(span.text);
    }
  return text;
}

/// Text inside a table cell, without characters that Markdown treats as structure there. In code,
/// only a bar is structure.
std::string cell(const Words &words) {
  std::string text;
  for (const Span &span : words.spans)
    text += span.kind == Span::Code ? code(span.text) : replaceAll(toText(span), "<", "&lt;");
  return replaceAll(text, "|", "\\|");
}

class MarkdownWriter {
public:
  std::string write(const Document &document) {
    line("# kopt: {}\n", code(document.heading));
    line("**{}{}**{}\n", document.answer, document.answerMore,
         document.evidence.empty() ? "." : ": " + flat(document.evidence));
    line("{}", toText(document.over));
    if (!document.place.empty())
      line("of {}", code(document.place));
    line("");
    for (const Fact &fact : document.facts)
      line("- {}: {}{}", fact.name, flat(fact.value),
           fact.more.empty() ? "" : " (" + flat(fact.more) + ")");
    for (const Section &section : document.sections) {
      heading("##", section.title);
      writeAll(section.blocks);
    }
    return std::move(out_);
  }

private:
  template <class... Arguments>
  void line(fmt::format_string<Arguments...> format, Arguments &&...arguments) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Arguments>(arguments)...);
    out_ += '\n';
  }

  /// An empty line between two blocks.
  void separate() {
    if (!out_.ends_with("\n\n"))
      out_ += '\n';
  }
  void heading(const char *level, const std::string &title) {
    separate();
    line("{} {}\n", level, title);
  }
  void writeAll(const Blocks &blocks) {
    for (const Block &block : blocks)
      std::visit([&](const auto &each) { write(each); }, block);
  }

  void write(const Subheading &block) { heading("###", block.title); }
  void write(const Paragraph &block) {
    separate();
    line("{}", toText(block.words));
  }
  void write(const List &list) {
    if (list.style == "legend")
      return;
    separate();
    for (const Item &item : list.items) {
      line("- {}{}", item.when.empty() ? "" : "[" + item.when + "] ", toText(item.words));
      for (const std::string &detail : item.details)
        line("  - {}", flat(detail));
    }
  }
  void write(const Table &table) {
    separate();
    std::string names = "|", rule = "|";
    for (const Column &column : table.columns)
      if (!column.isDrawn) {
        names += " " + cell(column.name) + " |";
        rule += column.style == "n" ? "---:|" : "---|";
      }
    line("{}\n{}", names, rule);
    for (const Row &row : table.rows) {
      out_ += '|';
      for (std::size_t i = 0; i < row.cells.size(); ++i)
        if (!table.columns[i].isDrawn)
          out_ += " " + cell(row.cells[i].words) + " |";
      out_ += '\n';
    }
  }
  void write(const CodeBlock &block) {
    separate();
    line("```sh\n{}\n```", block.text);
  }
  void write(const Diff &block) {
    separate();
    // Use a fence longer than any in the code, because comments may contain Markdown.
    const std::string fence = block.text.find("```") == std::string::npos ? "```" : "``````";
    line("{}diff\n{}{}", fence, block.text, fence);
  }
  void write(const Figure &) {}
  void write(const Pair &pair) {
    writeAll(pair.left);
    writeAll(pair.right);
  }

  std::string out_;
};

} // namespace

std::string toMarkdown(const Document &document) { return MarkdownWriter().write(document); }

} // namespace kopt
