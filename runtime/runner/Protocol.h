// SPDX-License-Identifier: Apache-2.0
// The protocol between kopt and kopt-runner, for both sides. A line is a verb and KEY=VALUE fields.
// A value is percent-encoded text, or several such texts joined by commas. README.md lists the
// verbs.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kopt::runtime::protocol {

/// Both sides must have the same version: they are built and installed together.
inline constexpr int kVersion = 10;

inline std::string encode(std::string_view text) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '.' || c == '-' || c == '/' || c == '+' || c == ':';
    if (plain) {
      out += c;
    } else {
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
  return out;
}

/// Nothing if an escape is cut short or not hexadecimal.
inline std::optional<std::string> decode(std::string_view text) {
  const auto digit = [](char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
  };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size() || digit(text[i + 1]) < 0 || digit(text[i + 2]) < 0)
      return std::nullopt;
    out += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
    i += 2;
  }
  return out;
}

inline std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end == text.npos ? text.npos : end - begin));
    if (end == text.npos)
      return parts;
    begin = end + 1;
  }
}

template <class Number> std::optional<Number> parseNumber(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

/// Exact: parseNumber<double>() returns the same bits.
inline std::string formatDouble(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

/// A request or a reply. Keys are kopt's own words and need no encoding; a key may repeat.
class Message {
public:
  Message() = default;
  explicit Message(std::string verb) : verb_(std::move(verb)) {}

  const std::string &verb() const { return verb_; }
  void add(std::string key, std::string_view text) {
    fields_.emplace_back(std::move(key), encode(text));
  }
  void add(std::string key, std::uint64_t value) {
    fields_.emplace_back(std::move(key), std::to_string(value));
  }
  void addDouble(std::string key, double value) {
    fields_.emplace_back(std::move(key), formatDouble(value));
  }
  void addList(std::string key, const std::vector<std::string> &texts) {
    std::string joined;
    for (std::size_t i = 0; i < texts.size(); ++i)
      joined += (i ? "," : "") + encode(texts[i]);
    fields_.emplace_back(std::move(key), std::move(joined));
  }

  bool has(std::string_view key) const { return find(key) != nullptr; }
  /// The decoded text of a field; empty if it is absent.
  std::string text(std::string_view key) const {
    const std::string *value = find(key);
    return value ? decode(*value).value_or("") : "";
  }
  template <class Number> std::optional<Number> number(std::string_view key) const {
    const std::string *value = find(key);
    return value ? parseNumber<Number>(*value) : std::nullopt;
  }
  /// The decoded members of one list; an empty value is an empty list.
  std::vector<std::string> list(std::string_view key) const {
    const std::string *value = find(key);
    return value ? decodeList(*value) : std::vector<std::string>{};
  }
  /// Every list under a repeated key, in order.
  std::vector<std::vector<std::string>> lists(std::string_view key) const {
    std::vector<std::vector<std::string>> all;
    for (const auto &[name, value] : fields_)
      if (name == key)
        all.push_back(decodeList(value));
    return all;
  }

  std::string format() const {
    std::string line = verb_;
    for (const auto &[key, value] : fields_)
      line += " " + key + "=" + value;
    return line;
  }
  /// Nothing if the line is malformed.
  static std::optional<Message> parse(std::string_view line) {
    const std::vector<std::string_view> words = split(line, ' ');
    if (words[0].empty() || words[0].find('=') != words[0].npos)
      return std::nullopt;
    Message message{std::string(words[0])};
    for (std::size_t i = 1; i < words.size(); ++i) {
      const std::size_t equals = words[i].find('=');
      if (equals == words[i].npos || equals == 0)
        return std::nullopt;
      for (const std::string_view part : split(words[i].substr(equals + 1), ','))
        if (!decode(part))
          return std::nullopt;
      message.fields_.emplace_back(words[i].substr(0, equals), words[i].substr(equals + 1));
    }
    return message;
  }

private:
  const std::string *find(std::string_view key) const {
    for (const auto &[name, value] : fields_)
      if (name == key)
        return &value;
    return nullptr;
  }
  static std::vector<std::string> decodeList(std::string_view value) {
    std::vector<std::string> texts;
    if (!value.empty())
      for (const std::string_view part : split(value, ','))
        texts.push_back(decode(part).value_or(""));
    return texts;
  }

  std::string verb_;
  std::vector<std::pair<std::string, std::string>> fields_;
};

} // namespace kopt::runtime::protocol
