// SPDX-License-Identifier: Apache-2.0
// Writes HTML and SVG. Whatever is not part of kopt itself (titles, compiler messages, source text)
// is hostile input: there is no way to write it unescaped.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

namespace kopt::html {

/// Text that is part of kopt: only a literal can become one.
class Literal {
public:
  // NOLINTNEXTLINE(google-explicit-constructor): a literal is meant to be given as it is.
  consteval Literal(const char *text) : text_(text) {}
  constexpr const char *text() const { return text_; }

private:
  const char *text_;
};

struct Attribute {
  Literal name;
  std::string value;
};
using Attributes = std::initializer_list<Attribute>;

/// The text as content of an element or of an attribute in quotes. Control characters, and the
/// marks by which a text can be shown in another order than it has, become visible.
std::string escape(std::string_view text);

/// At most two decimals, no trailing zeros: coordinates.
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
  /// An element with nothing but text.
  void element(Literal name, Attributes attributes, std::string_view text);
  void element(Literal name, std::string_view text) { element(name, {}, text); }
  /// An element without content: of SVG, or void in HTML.
  void leaf(Literal name, Attributes attributes = {});
  void text(std::string_view text);
  /// As it is: style, script, doctype.
  void verbatim(Literal text) { out_ += text.text(); }

  std::string take() { return std::move(out_); }

private:
  void begin(Literal name, Attributes attributes);

  std::string out_;
};

} // namespace kopt::html
