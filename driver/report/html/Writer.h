// SPDX-License-Identifier: Apache-2.0
// Writes HTML and SVG. Text that is not part of kopt itself (titles, compiler messages, source) is
// hostile input: it cannot be written without escaping.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace kopt::html {

/// Text that is part of kopt: only a string literal converts to it.
class Literal {
public:
  // NOLINTNEXTLINE(google-explicit-constructor): a literal is meant to be given as it is.
  consteval Literal(const char *text) : text_(text) {}
  /// Of a file that is built into kopt.
  explicit consteval Literal(std::string_view text) : text_(text) {}
  constexpr std::string_view text() const { return text_; }

private:
  std::string_view text_;
};

struct Attribute {
  Literal name;
  std::string value;
};
using Attributes = std::initializer_list<Attribute>;

/// Escapes text for the content of an element or a quoted attribute. Control characters, and
/// characters that change the display order of text, become visible.
std::string escape(std::string_view text);

/// A coordinate with at most two decimals and no trailing zeros.
std::string coordinate(double value);

class Writer {
public:
  /// An open element; closed when it goes out of scope.
  class Element {
  public:
    Element(Writer &writer, Literal name) : writer_(writer), name_(name) {}
    Element(const Element &) = delete;
    Element &operator=(const Element &) = delete;
    ~Element();

  private:
    Writer &writer_;
    Literal name_;
  };

  [[nodiscard]] Element open(Literal name, Attributes attributes = {});
  /// Writes an element that contains only text.
  void element(Literal name, Attributes attributes, std::string_view text);
  void element(Literal name, std::string_view text) { element(name, {}, text); }
  /// Writes an element without content, of SVG or void in HTML.
  void leaf(Literal name, Attributes attributes = {});
  void text(std::string_view text);
  /// Writes a literal without escaping: style, script, doctype.
  void verbatim(Literal text) { out_ += text.text(); }

  std::string take() { return std::move(out_); }

private:
  void begin(Literal name, Attributes attributes);

  std::string out_;
};

} // namespace kopt::html
