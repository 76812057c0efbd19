// SPDX-License-Identifier: Apache-2.0
#include "driver/report/html/Writer.h"

#include "driver/support/Text.h"

#include <cmath>
#include <fmt/format.h>

namespace kopt::html {
namespace {

/// True for characters that change the order in which text is displayed ("Trojan Source"): E2 80 or
/// E2 81 followed by one of certain bytes.
bool isDirectionMark(std::string_view text, std::size_t at) {
  if (at + 2 >= text.size() || text[at] != '\xE2')
    return false;
  const auto second = static_cast<unsigned char>(text[at + 1]),
             third = static_cast<unsigned char>(text[at + 2]);
  return (second == 0x80 && (third == 0x8E || third == 0x8F || (third >= 0xAA && third <= 0xAE))) ||
         (second == 0x81 && third >= 0xA6 && third <= 0xA9);
}

} // namespace

std::string escape(std::string_view given) {
  const std::string text = validUtf8(std::string(given));
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    switch (c) {
    case '&':
      result += "&amp;";
      break;
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    case '"':
      result += "&quot;";
      break;
    case '\'':
      result += "&#39;";
      break;
    case '\r':
      break;
    default:
      if (isDirectionMark(text, i)) {
        const unsigned low = (static_cast<unsigned char>(text[i + 1]) & 0x3FU) << 6U |
                             (static_cast<unsigned char>(text[i + 2]) & 0x3FU);
        result += fmt::format("&lt;U+{:04X}&gt;", 0x2000U | low);
        i += 2;
      } else if ((static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7F) {
        result += "\xEF\xBF\xBD";
      } else {
        result += c;
      }
    }
  }
  return result;
}

std::string coordinate(double value) {
  if (!std::isfinite(value))
    return "0";
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.'))
    text.pop_back();
  return text == "-0" ? "0" : text;
}

Writer::Element::~Element() {
  writer_.out_ += "</";
  writer_.out_ += name_.text();
  writer_.out_ += '>';
}

void Writer::begin(Literal name, Attributes attributes) {
  out_ += '<';
  out_ += name.text();
  for (const Attribute &attribute : attributes) {
    if (attribute.value.empty())
      continue;
    out_ += ' ';
    out_ += attribute.name.text();
    out_ += "=\"";
    out_ += escape(attribute.value);
    out_ += '"';
  }
  out_ += '>';
}

Writer::Element Writer::open(Literal name, Attributes attributes) {
  begin(name, attributes);
  return {*this, name};
}

void Writer::element(Literal name, Attributes attributes, std::string_view text) {
  const Element scope = open(name, attributes);
  out_ += escape(text);
}

void Writer::leaf(Literal name, Attributes attributes) {
  begin(name, attributes);
  // Foreign elements may be self-closing; HTML ignores the slash of void elements.
  out_.back() = '/';
  out_ += '>';
}

void Writer::text(std::string_view text) { out_ += escape(text); }

} // namespace kopt::html
