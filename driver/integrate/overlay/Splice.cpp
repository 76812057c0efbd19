// SPDX-License-Identifier: Apache-2.0
#include "driver/integrate/overlay/Splice.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace kopt::overlay {
namespace {

bool isWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Scans a C++ text for what matters to directives: comments, literals, directives and parentheses.
class Walk {
public:
  explicit Walk(std::string_view text) : text_(text) { run(); }
  std::vector<std::size_t> safe{0};
  std::vector<Include> includes;

private:
  char at(std::size_t i) const { return i < text_.size() ? text_[i] : '\0'; }

  void run() {
    bool blank = true; // only blanks in this line so far
    while (i_ < text_.size()) {
      const char c = text_[i_];
      if (c == '\\' && (at(i_ + 1) == '\n' || (at(i_ + 1) == '\r' && at(i_ + 2) == '\n'))) {
        i_ += at(i_ + 1) == '\n' ? 2 : 3;
      } else if (c == '\n') {
        ++i_;
        blank = true;
        if (depth_ == 0 && i_ < text_.size())
          safe.push_back(i_);
      } else if (c == '/' && at(i_ + 1) == '/') {
        lineComment();
      } else if (c == '/' && at(i_ + 1) == '*') {
        const std::size_t close = text_.find("*/", i_ + 2);
        i_ = close == text_.npos ? text_.size() : close + 2;
      } else if (c == '#' && blank) {
        directive();
      } else if (c == '"') {
        literal();
        blank = false;
      } else if (c == '\'') {
        // Within a number, it separates digits.
        if (i_ > 0 && isWord(text_[i_ - 1]) && inNumber())
          ++i_;
        else
          literal();
        blank = false;
      } else {
        depth_ += c == '(' || c == '[';
        depth_ -= (c == ')' || c == ']') && depth_ > 0;
        blank &= std::isspace(static_cast<unsigned char>(c)) != 0;
        ++i_;
      }
    }
  }

  bool inNumber() const {
    std::size_t first = i_;
    while (first > 0 && (isWord(text_[first - 1]) || text_[first - 1] == '\''))
      --first;
    return std::isdigit(static_cast<unsigned char>(text_[first])) != 0;
  }

  void lineComment() {
    while (i_ < text_.size() && text_[i_] != '\n')
      i_ += text_[i_] == '\\' && at(i_ + 1) == '\n' ? 2 : 1;
  }

  void literal() {
    const char quote = text_[i_];
    if (quote == '"' && i_ > 0 && text_[i_ - 1] == 'R' &&
        !(i_ > 1 && isWord(text_[i_ - 2]) &&
          std::string_view("uUL8").find(text_[i_ - 2]) == std::string_view::npos)) {
      const std::size_t open = text_.find('(', i_);
      if (open != text_.npos && open - i_ <= 17) {
        const std::string end = ")" + std::string(text_.substr(i_ + 1, open - i_ - 1)) + "\"";
        const std::size_t close = text_.find(end, open);
        i_ = close == text_.npos ? text_.size() : close + end.size();
        return;
      }
    }
    for (++i_; i_ < text_.size() && text_[i_] != quote && text_[i_] != '\n';)
      i_ += text_[i_] == '\\' ? 2 : 1;
    if (at(i_) == quote)
      ++i_;
  }

  /// Skips a directive up to the end of its line. All branches of a condition begin with the same
  /// open parentheses.
  void directive() {
    std::size_t name = i_ + 1;
    while (at(name) == ' ' || at(name) == '\t')
      ++name;
    std::size_t end = name;
    while (isWord(at(end)))
      ++end;
    const std::string_view word = text_.substr(name, end - name);
    if (word == "if" || word == "ifdef" || word == "ifndef")
      depths_.push_back(depth_);
    else if ((word == "else" || word.substr(0, 4) == "elif") && !depths_.empty())
      depth_ = depths_.back();
    else if (word == "endif" && !depths_.empty())
      depths_.pop_back();
    if (word == "include")
      include(end);
    i_ = end;
    while (i_ < text_.size() && text_[i_] != '\n') {
      if (text_[i_] == '/' && at(i_ + 1) == '/') {
        lineComment();
      } else if (text_[i_] == '/' && at(i_ + 1) == '*') {
        const std::size_t close = text_.find("*/", i_ + 2);
        i_ = close == text_.npos ? text_.size() : close + 2;
      } else if (text_[i_] == '\\' && at(i_ + 1) == '\n') {
        i_ += 2;
      } else {
        ++i_;
      }
    }
  }

  void include(std::size_t from) {
    while (at(from) == ' ' || at(from) == '\t')
      ++from;
    const char open = at(from);
    if (open != '"' && open != '<')
      return;
    const std::size_t close = text_.find(open == '"' ? '"' : '>', from + 1);
    if (close == text_.npos || text_.substr(from, close - from).find('\n') != text_.npos)
      return;
    includes.push_back(
        {from, close + 1, std::string(text_.substr(from + 1, close - from - 1)), open == '"'});
  }

  std::string_view text_;
  std::size_t i_ = 0;
  int depth_ = 0;
  std::vector<int> depths_;
};

std::string lineDirective(unsigned line, const std::string &file) {
  std::string quoted;
  for (const char c : file) {
    if (c == '\\' || c == '"')
      quoted += '\\';
    quoted += c;
  }
  return "#line " + std::to_string(line) + " \"" + quoted + "\"\n";
}

/// The preprocessor condition that is true while nvcc compiles device code for an architecture.
std::string conditionOf(const std::string &arch) {
  std::size_t digits = 0;
  while (digits < arch.size() && std::isdigit(static_cast<unsigned char>(arch[digits])) != 0)
    ++digits;
  const std::string number = arch.substr(0, digits);
  const std::string is = "__CUDA_ARCH__ == " + number + "0";
  if (digits == arch.size() || arch[digits] != 'a')
    return "(defined(__CUDA_ARCH__) && " + is + ")";
  return "(defined(__CUDA_ARCH__) && " + is + " && defined(__CUDA_ARCH_FEAT_SM" + number + "_ALL))";
}

/// Concatenates pieces of the original and new texts, with directives that keep line numbers
/// correct.
class Writer {
public:
  Writer(std::string_view text, const std::string &name, const std::vector<std::size_t> &safe)
      : text_(text), name_(name), safe_(safe) {}

  std::size_t safeBefore(std::size_t byte) const {
    return *(std::upper_bound(safe_.begin(), safe_.end(), byte) - 1);
  }
  std::size_t safeFrom(std::size_t byte) const {
    const auto next = std::lower_bound(safe_.begin(), safe_.end(), byte);
    return next == safe_.end() ? text_.size() : *next;
  }

  std::string original(std::size_t begin, std::size_t end) const {
    return std::string(text_.substr(begin, end - begin));
  }

  std::string lineOf(std::size_t byte) const { return lineDirective(lineAt(text_, byte), name_); }

  /// The text from `begin` to `end` with these replacements, which do not overlap. If a replacement
  /// has several lines, both ends must be starts of safe lines.
  std::string with(std::size_t begin, std::size_t end,
                   const std::vector<const Splice *> &splices) const {
    std::string made;
    std::size_t at = begin;
    bool shifted = false; // the following lines need a #line directive
    for (std::size_t i = 0; i < splices.size(); ++i) {
      const Splice &one = *splices[i];
      const std::size_t start = std::max(at, safeBefore(one.begin));
      made += original(at, start);
      const std::string before = original(start, one.begin);
      if (hasLines(one) && start == safeBefore(one.begin) && !one.text.file.empty() &&
          before.find('\n') == std::string::npos)
        made += lineDirective(one.text.line, one.text.file);
      made += before + one.text.text;
      at = one.end;
      shifted |= hasLines(one);
      const std::size_t next = safeFrom(one.end);
      if (!shifted || (i + 1 < splices.size() && splices[i + 1]->begin < next))
        continue;
      shifted = false;
      made += original(at, next);
      at = next;
      if (made.empty() || made.back() != '\n')
        made += '\n';
      if (next < text_.size())
        made += lineOf(next);
    }
    return made + original(at, end);
  }

  bool hasLines(const Splice &one) const {
    return !one.archs.empty() || one.text.text.find('\n') != std::string::npos ||
           text_.substr(one.begin, one.end - one.begin).find('\n') != std::string_view::npos;
  }

private:
  std::string_view text_;
  const std::string &name_;
  const std::vector<std::size_t> &safe_;
};

/// The lines from `begin` to `end` with replacements, some of them for single architectures only.
std::string branches(const Writer &writer, std::size_t begin, std::size_t end,
                     const std::vector<Splice> &splices) {
  std::set<std::string> archs;
  for (const Splice &one : splices)
    archs.insert(one.archs.begin(), one.archs.end());
  const auto textFor = [&](const std::string *arch) {
    std::vector<const Splice *> taken;
    for (const Splice &one : splices)
      if (one.archs.empty() ||
          (arch && std::find(one.archs.begin(), one.archs.end(), *arch) != one.archs.end()))
        taken.push_back(&one);
    return writer.with(begin, end, taken);
  };
  if (archs.empty())
    return textFor(nullptr);
  std::vector<std::pair<std::string, std::string>> variants; // text, condition
  for (const std::string &arch : archs) {
    const std::string text = textFor(&arch);
    const auto same = std::find_if(variants.begin(), variants.end(),
                                   [&](const auto &known) { return known.first == text; });
    if (same == variants.end())
      variants.emplace_back(text, conditionOf(arch));
    else
      same->second += " || " + conditionOf(arch);
  }
  const auto block = [&](const std::string &text) {
    return writer.lineOf(begin) + text + (text.empty() || text.back() == '\n' ? "" : "\n");
  };
  std::string made;
  for (const auto &[text, condition] : variants)
    made += (made.empty() ? "#if " : "#elif ") + condition + "\n" + block(text);
  return made + "#else\n" + block(textFor(nullptr)) + "#endif\n" + writer.lineOf(end);
}

} // namespace

std::vector<std::size_t> safeLines(std::string_view text) { return Walk(text).safe; }

std::vector<Include> includesIn(std::string_view text) { return Walk(text).includes; }

std::string splice(std::string_view text, const std::string &name, std::vector<Splice> splices) {
  std::stable_sort(splices.begin(), splices.end(), [](const Splice &a, const Splice &b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  const std::vector<std::size_t> safe = safeLines(text);
  const Writer writer(text, name, safe);
  struct Span {
    std::size_t begin = 0, end = 0;
    std::vector<Splice> splices;
  };
  std::vector<Span> spans;
  for (Splice &one : splices) {
    const bool lines = writer.hasLines(one);
    Span span{lines ? writer.safeBefore(one.begin) : one.begin,
              lines ? writer.safeFrom(one.end) : std::size_t(one.end),
              {}};
    // Merge spans that share lines.
    while (!spans.empty() && span.begin < spans.back().end) {
      span.begin = std::min(span.begin, spans.back().begin);
      span.end = std::max(span.end, spans.back().end);
      span.splices.insert(span.splices.begin(), spans.back().splices.begin(),
                          spans.back().splices.end());
      spans.pop_back();
    }
    span.splices.push_back(std::move(one));
    spans.push_back(std::move(span));
  }
  std::string made = lineDirective(1, name);
  std::size_t at = 0;
  for (const Span &span : spans) {
    made += writer.original(at, span.begin) + branches(writer, span.begin, span.end, span.splices);
    at = span.end;
  }
  return made + writer.original(at, text.size());
}

} // namespace kopt::overlay
