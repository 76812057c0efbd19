// SPDX-License-Identifier: Apache-2.0
// Converts plain data to bytes and back: numbers have variable length, texts are preceded by their
// length. A reader does not trust its input: after the end, or after an impossible count,
// everything is zero and failed() is true.
#pragma once

#include "clang_plugin/output/Fields.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace kopt::frontend {

/// A struct without a list of its members (KOPT_FIELDS) has a function `fields(archive, value)` in
/// its namespace, for both directions.
class ByteWriter {
public:
  template <class... Values> void operator()(const Values &...values) { (write(values), ...); }
  std::string take() { return std::move(bytes_); }

private:
  template <class Value> void write(const Value &value) {
    if constexpr (std::is_enum_v<Value>)
      number(static_cast<std::uint64_t>(value));
    else if constexpr (std::is_integral_v<Value>)
      number(static_cast<std::uint64_t>(value));
    else if constexpr (HasFields<const Value>)
      std::apply([&](const auto &...field) { (write(field.value), ...); }, fieldsOf(value));
    else
      fields(*this, const_cast<Value &>(value)); // not modified here; the other direction writes
  }
  void write(const std::string &text) {
    number(text.size());
    bytes_ += text;
  }
  template <class Value> void write(const std::optional<Value> &value) {
    number(value.has_value());
    if (value)
      write(*value);
  }
  template <class Value> void write(const std::vector<Value> &values) {
    number(values.size());
    for (const Value &value : values)
      write(value);
  }
  template <class Value, std::size_t N> void write(const std::array<Value, N> &values) {
    for (const Value &value : values)
      write(value);
  }
  template <class Key, class Value> void write(const std::map<Key, Value> &values) {
    number(values.size());
    for (const auto &[key, value] : values) {
      write(key);
      write(value);
    }
  }
  void number(std::uint64_t value) {
    for (; value > 127; value >>= 7)
      bytes_ += static_cast<char>(value | 128);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

class ByteReader {
public:
  explicit ByteReader(std::string_view bytes) : left_(bytes) {}

  template <class... Values> void operator()(Values &...values) { (read(values), ...); }
  bool failed() const { return failed_; }
  bool atEnd() const { return left_.empty(); }

private:
  template <class Value> void read(Value &value) {
    if constexpr (std::is_enum_v<Value> || std::is_integral_v<Value>)
      value = static_cast<Value>(number());
    else if constexpr (HasFields<Value>)
      std::apply([&](const auto &...field) { (read(field.value), ...); }, fieldsOf(value));
    else
      fields(*this, value);
  }
  void read(std::string &text) {
    std::size_t size = count();
    text = std::string(left_.substr(0, size));
    left_.remove_prefix(size);
  }
  template <class Value> void read(std::optional<Value> &value) {
    value.reset();
    if (number())
      read(value.emplace());
  }
  template <class Value> void read(std::vector<Value> &values) {
    values.clear();
    for (std::size_t left = count(); left && !failed_; --left)
      read(values.emplace_back());
  }
  template <class Value, std::size_t N> void read(std::array<Value, N> &values) {
    for (Value &value : values)
      read(value);
  }
  template <class Key, class Value> void read(std::map<Key, Value> &values) {
    values.clear();
    for (std::size_t left = count(); left && !failed_; --left) {
      Key key;
      read(key);
      read(values[key]);
    }
  }

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (left_.empty())
        break;
      auto byte = static_cast<unsigned char>(left_.front());
      left_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 127) << shift;
      if (byte < 128)
        return value;
    }
    failed_ = true;
    return 0;
  }
  /// The number of items that follow; each takes at least a byte.
  std::size_t count() {
    std::uint64_t value = number();
    if (value > left_.size())
      failed_ = true;
    return failed_ ? 0 : static_cast<std::size_t>(value);
  }

  std::string_view left_;
  bool failed_ = false;
};

} // namespace kopt::frontend
