// SPDX-License-Identifier: Apache-2.0
// The records of Extraction.h and Variants.h as JSON and back.
#pragma once

#include "clang_plugin/output/Fields.h"

#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace kopt {

template <class Value> nlohmann::json recordJson(const Value &value);

namespace detail {

template <class T> inline constexpr bool kIsOptional = false;
template <class T> inline constexpr bool kIsOptional<std::optional<T>> = true;
template <class T> inline constexpr bool kIsVector = false;
template <class T> inline constexpr bool kIsVector<std::vector<T>> = true;
template <class T> inline constexpr bool kIsArray = false;
template <class T, std::size_t N> inline constexpr bool kIsArray<std::array<T, N>> = true;
template <class T> inline constexpr bool kIsMap = false;
template <class T> inline constexpr bool kIsMap<std::map<std::string, T>> = true;

class RecordWriter {
public:
  nlohmann::json object = nlohmann::json::object();

  template <class... Members> void operator()(FieldNames names, const Members &...members) {
    (write(names.next(), members), ...);
  }

private:
  template <class Member> void write(std::string_view name, const Member &member) {
    if constexpr (kIsOptional<Member>) {
      if (member)
        object[std::string(name)] = recordJson(*member);
    } else if constexpr (kCrossesWall<Member>) {
      object[std::string(name)] = recordJson(member);
    }
  }
};

/// A value and where it stands in the document.
class RecordReader {
public:
  explicit RecordReader(const nlohmann::json &value) : value_(value) {}

  template <class... Members> void operator()(FieldNames names, Members &...members) {
    if (!value_.is_object())
      fail("expected an object");
    std::vector<std::string> known;
    (readMember(std::string(names.next()), members, known), ...);
    for (auto item = value_.begin(); item != value_.end(); ++item)
      if (std::find(known.begin(), known.end(), item.key()) == known.end())
        RecordReader(*item, this, item.key()).fail("unknown member");
  }

  template <class Value> void read(Value &out) const {
    if constexpr (std::is_same_v<Value, std::string>) {
      if (!value_.is_string())
        fail("expected a string");
      out = value_.get_ref<const std::string &>();
    } else if constexpr (std::is_same_v<Value, bool>) {
      if (!value_.is_boolean())
        fail("expected true or false");
      out = value_.get<bool>();
    } else if constexpr (std::is_integral_v<Value>) {
      readInteger(out);
    } else if constexpr (std::is_floating_point_v<Value>) {
      if (!value_.is_number())
        fail("expected a number");
      out = value_.get<Value>();
    } else if constexpr (SpelledEnum<Value>) {
      std::string text;
      read(text);
      const std::optional<Value> known = fromSpelling<Value>(text);
      if (!known)
        fail("unknown value '" + text + "'");
      out = *known;
    } else if constexpr (kIsOptional<Value>) {
      out.reset();
      if (!value_.is_null())
        read(out.emplace());
    } else if constexpr (kIsVector<Value>) {
      if (!value_.is_array())
        fail("expected an array");
      out.resize(value_.size());
      for (std::size_t i = 0; i < value_.size(); ++i)
        RecordReader(value_[i], this, std::to_string(i)).read(out[i]);
    } else if constexpr (kIsArray<Value>) {
      if (!value_.is_array() || value_.size() != out.size())
        fail("expected an array of " + std::to_string(out.size()));
      for (std::size_t i = 0; i < out.size(); ++i)
        RecordReader(value_[i], this, std::to_string(i)).read(out[i]);
    } else if constexpr (kIsMap<Value>) {
      if (!value_.is_object())
        fail("expected an object");
      for (auto item = value_.begin(); item != value_.end(); ++item)
        RecordReader(*item, this, item.key()).read(out[item.key()]);
    } else {
      RecordReader members(value_, parent_, key_);
      fields(members, out);
      if constexpr (requires { problemOf(out); })
        if (const std::string problem = problemOf(out); !problem.empty())
          fail(problem);
    }
  }

private:
  RecordReader(const nlohmann::json &value, const RecordReader *parent, std::string key)
      : value_(value), parent_(parent), key_(std::move(key)) {}

  template <class Member>
  void readMember(std::string name, Member &out, std::vector<std::string> &known) const {
    if constexpr (kCrossesWall<Member>) {
      static const nlohmann::json kNull;
      const auto found = value_.find(name);
      const bool isMissing = found == value_.end();
      const RecordReader member(isMissing ? kNull : *found, this, name);
      if (isMissing && !kIsOptional<Member>)
        member.fail("missing value");
      member.read(out);
      known.push_back(std::move(name));
    }
  }

  template <class Integer> void readInteger(Integer &out) const {
    if (!value_.is_number_integer())
      fail("expected an integer");
    // Not through a comparison of JSON values: that takes large unsigned numbers for negative ones.
    const bool fits = value_.is_number_unsigned()
                          ? std::in_range<Integer>(value_.get<std::uint64_t>())
                          : std::in_range<Integer>(value_.get<std::int64_t>());
    if (!fits)
      fail(std::is_unsigned_v<Integer> && !value_.is_number_unsigned()
               ? "expected an integer from 0"
               : "integer out of range");
    out = value_.get<Integer>();
  }

  nlohmann::json::json_pointer place() const {
    return parent_ ? parent_->place() / key_ : nlohmann::json::json_pointer();
  }
  [[noreturn]] void fail(const std::string &what) const {
    const std::string at = place().to_string();
    throw std::runtime_error(what + " at " + (at.empty() ? "/" : at));
  }

  const nlohmann::json &value_;
  const RecordReader *parent_ = nullptr;
  std::string key_;
};

} // namespace detail

template <class Value> nlohmann::json recordJson(const Value &value) {
  if constexpr (SpelledEnum<Value>) {
    return toString(value);
  } else if constexpr (detail::kIsVector<Value>) {
    nlohmann::json list = nlohmann::json::array();
    for (const auto &item : value)
      list.push_back(recordJson(item));
    return list;
  } else if constexpr (requires(detail::RecordWriter &writer, Value &record) {
                         fields(writer, record);
                       }) {
    detail::RecordWriter writer;
    fields(writer, const_cast<Value &>(value)); // the writer only reads
    return std::move(writer.object);
  } else {
    return value; // texts, numbers, arrays of them and maps of texts
  }
}

/// Every member must be there, unless it is a std::optional, and no other may be. Where a record
/// has rules, `problemOf(record)` names one that it breaks. Throws std::runtime_error that says
/// what is wrong, and the JSON pointer of where.
template <class Record> Record readRecord(const nlohmann::json &document) {
  Record record;
  detail::RecordReader(document).read(record);
  return record;
}

} // namespace kopt
