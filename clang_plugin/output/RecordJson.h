// SPDX-License-Identifier: Apache-2.0
// Converts records to JSON and back with their lists of fields, to store, hash and send them. A
// round trip is exact. Keys are the members' names in snake_case; enums are written by name; a
// number that is not finite is "nan", "inf" or "-inf"; a text that is not UTF-8 is {"hex": "…"}; an
// unset optional is null, and may be absent; one of several kinds of records is
// {"name of the kind": {…}}.
#pragma once

#include "clang_plugin/output/Fields.h"

#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace kopt {

/// A value to read, and where it stands in the document. Keeps the first problem; after that,
/// results are ignored.
class JsonReader {
public:
  JsonReader(const nlohmann::json &value, std::string &problem, const JsonReader *parent = nullptr,
             std::string key = {})
      : value(value), problem_(problem), parent_(parent), key_(std::move(key)) {}

  void fail(const std::string &what) const {
    if (!problem_.empty())
      return;
    const std::string at = place().to_string();
    problem_ = what + " at " + (at.empty() ? "/" : at);
  }
  JsonReader child(const nlohmann::json &item, std::string key) const {
    return {item, problem_, this, std::move(key)};
  }
  bool isArray(std::size_t size) const {
    if (value.is_array() && value.size() == size)
      return true;
    fail("expected an array of " + std::to_string(size));
    return false;
  }

  const nlohmann::json &value;

private:
  nlohmann::json::json_pointer place() const {
    return parent_ ? parent_->place() / key_ : nlohmann::json::json_pointer();
  }

  std::string &problem_;
  const JsonReader *parent_;
  std::string key_;
};

// Other types have functions of these names.
template <class T> nlohmann::json toJson(const T &value);
template <class T> void readJson(const JsonReader &from, T &out);

namespace detail {

template <template <class...> class Template, class T> inline constexpr bool kIsA = false;
template <template <class...> class Template, class... Parts>
inline constexpr bool kIsA<Template, Template<Parts...>> = true;

/// "sharedBytes" as "shared_bytes".
inline std::string jsonKey(std::string_view member) {
  std::string key;
  for (const char c : member)
    if (c >= 'A' && c <= 'Z')
      (key += '_') += char(c - 'A' + 'a');
    else
      key += c;
  return key;
}

inline std::string toHex(const std::string &bytes) {
  static constexpr const char *kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes)
    (text += kDigits[(c >> 4) & 15]) += kDigits[c & 15];
  return text;
}

inline void readHex(const JsonReader &from, std::string &out) {
  std::string digits;
  readJson(from, digits);
  out.clear();
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    unsigned byte = 0;
    const char *const begin = digits.data() + i;
    if (std::from_chars(begin, begin + 2, byte, 16).ptr != begin + 2)
      return from.fail("expected hexadecimal digits");
    out += char(byte);
  }
  if (digits.size() % 2 != 0)
    from.fail("expected an even number of digits");
}

inline nlohmann::json textJson(const std::string &text) {
  try {
    nlohmann::json json = text;
    (void)json.dump(); // throws if it is not UTF-8
    return json;
  } catch (const nlohmann::json::type_error &) {
    return {{"hex", toHex(text)}};
  }
}

inline void readText(const JsonReader &from, std::string &out) {
  if (from.value.is_string())
    out = from.value.get_ref<const std::string &>();
  else if (from.value.is_object() && from.value.size() == 1 && from.value.contains("hex") &&
           from.value["hex"].is_string())
    readHex(from.child(from.value["hex"], "hex"), out);
  else
    from.fail("expected a text");
}

inline nlohmann::json realJson(double value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value > 0 ? "inf" : "-inf";
  return value;
}

inline void readReal(const JsonReader &from, double &out) {
  if (from.value.is_number())
    out = from.value.get<double>();
  else if (from.value == "nan")
    out = std::numeric_limits<double>::quiet_NaN();
  else if (from.value == "inf")
    out = std::numeric_limits<double>::infinity();
  else if (from.value == "-inf")
    out = -std::numeric_limits<double>::infinity();
  else
    from.fail("expected a number");
}

template <class T> void readInteger(const JsonReader &from, T &out) {
  if (!from.value.is_number_integer())
    return from.fail("expected an integer");
  // Not through a comparison of JSON values: that takes large unsigned numbers for negative ones.
  const bool fits = from.value.is_number_unsigned()
                        ? std::in_range<T>(from.value.template get<std::uint64_t>())
                        : std::in_range<T>(from.value.template get<std::int64_t>());
  if (!fits)
    return from.fail("integer out of range");
  out = from.value.template get<T>();
}

template <class T> void readRecord(const JsonReader &from, T &out) {
  if (!from.value.is_object())
    return from.fail("expected an object");
  std::vector<std::string> known;
  const auto one = [&]<class Member>(const Field<Member> &field) {
    const std::string &key = known.emplace_back(jsonKey(field.name));
    if (const auto found = from.value.find(key); found != from.value.end())
      readJson(from.child(*found, key), field.value);
    else if constexpr (kIsA<std::optional, Member>)
      field.value.reset();
    else
      from.fail("missing '" + key + "'");
  };
  std::apply([&](const auto &...field) { (one(field), ...); }, fieldsOf(out));
  for (const auto &[key, value] : from.value.items())
    if (std::find(known.begin(), known.end(), key) == known.end())
      from.fail("unknown '" + key + "'");
  if constexpr (requires { problemOf(out); })
    if (const std::string problem = problemOf(out); !problem.empty())
      from.fail(problem);
}

template <class K, class T> void readMap(const JsonReader &from, std::map<K, T> &out) {
  out.clear();
  if (!from.value.is_object())
    return from.fail("expected an object");
  for (const auto &[key, value] : from.value.items())
    if constexpr (std::integral<K>) {
      K number{};
      const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), number);
      if (error != std::errc() || end != key.data() + key.size())
        return from.fail("expected a number instead of the key '" + key + "'");
      readJson(from.child(value, key), out[number]);
    } else {
      readJson(from.child(value, key), out[key]);
    }
}

template <class T> void readItems(const JsonReader &from, T &out) {
  for (std::size_t i = 0; i < from.value.size(); ++i)
    readJson(from.child(from.value[i], std::to_string(i)), out[i]);
}

template <class... Kinds> void readKind(const JsonReader &from, std::variant<Kinds...> &out) {
  if (!from.value.is_object() || from.value.size() != 1)
    return from.fail("expected one member, named as a kind");
  const auto item = from.value.begin();
  const auto readAs = [&]<class Kind>(std::type_identity<Kind>) {
    if (item.key() == Kind::kName)
      readJson(from.child(*item, item.key()), out.template emplace<Kind>());
    return item.key() == Kind::kName;
  };
  if (!(readAs(std::type_identity<Kinds>()) || ...))
    from.fail("unknown kind '" + item.key() + "'");
}

} // namespace detail

/// The JSON of a record, or of a vector or map of records.
template <class T> nlohmann::json toJson(const T &value) {
  using detail::kIsA;
  nlohmann::json json;
  if constexpr (std::is_same_v<T, std::string>) {
    json = detail::textJson(value);
  } else if constexpr (std::is_same_v<T, double>) {
    json = detail::realJson(value);
  } else if constexpr (std::is_same_v<T, std::chrono::duration<double>>) {
    json = toJson(value.count());
  } else if constexpr (std::is_same_v<T, std::filesystem::path>) {
    json = value.string();
  } else if constexpr (SpelledEnum<T>) {
    json = toString(value);
  } else if constexpr (HasFields<T>) {
    json = nlohmann::json::object();
    std::apply(
        [&](const auto &...field) {
          ((json[detail::jsonKey(field.name)] = toJson(field.value)), ...);
        },
        fieldsOf(value));
  } else if constexpr (kIsA<std::optional, T>) {
    if (value)
      json = toJson(*value);
  } else if constexpr (kIsA<std::variant, T>) {
    std::visit([&](const auto &kind) { json[kind.kName] = toJson(kind); }, value);
  } else if constexpr (kIsA<std::pair, T>) {
    json = nlohmann::json::array({toJson(value.first), toJson(value.second)});
  } else if constexpr (kIsA<std::map, T>) {
    json = nlohmann::json::object();
    for (const auto &[key, item] : value)
      if constexpr (std::integral<typename T::key_type>)
        json[std::to_string(key)] = toJson(item);
      else
        json[key] = toJson(item);
  } else if constexpr (requires { value.begin(); }) {
    json = nlohmann::json::array();
    for (const auto &item : value)
      json.push_back(toJson(item));
  } else {
    static_assert(std::integral<T>);
    json = value;
  }
  return json;
}

template <class T> void readJson(const JsonReader &from, T &out) {
  using detail::kIsA;
  if constexpr (std::is_same_v<T, std::string>) {
    detail::readText(from, out);
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!from.value.is_boolean())
      return from.fail("expected true or false");
    out = from.value.template get<bool>();
  } else if constexpr (std::integral<T>) {
    detail::readInteger(from, out);
  } else if constexpr (std::is_same_v<T, double>) {
    detail::readReal(from, out);
  } else if constexpr (std::is_same_v<T, std::chrono::duration<double>>) {
    double seconds = 0;
    readJson(from, seconds);
    out = T(seconds);
  } else if constexpr (std::is_same_v<T, std::filesystem::path>) {
    std::string text;
    readJson(from, text);
    out = text;
  } else if constexpr (SpelledEnum<T>) {
    std::string name;
    readJson(from, name);
    if (const auto known = parseEnum<T>(name))
      out = *known;
    else
      from.fail("unknown name '" + name + "'");
  } else if constexpr (HasFields<T>) {
    detail::readRecord(from, out);
  } else if constexpr (kIsA<std::optional, T>) {
    out.reset();
    if (!from.value.is_null())
      readJson(from, out.emplace());
  } else if constexpr (kIsA<std::variant, T>) {
    detail::readKind(from, out);
  } else if constexpr (kIsA<std::pair, T>) {
    if (from.isArray(2)) {
      readJson(from.child(from.value[0], "0"), out.first);
      readJson(from.child(from.value[1], "1"), out.second);
    }
  } else if constexpr (kIsA<std::map, T>) {
    detail::readMap(from, out);
  } else if constexpr (kIsA<std::set, T>) {
    std::vector<typename T::value_type> items;
    readJson(from, items);
    out = T(items.begin(), items.end());
  } else if constexpr (kIsA<std::vector, T>) {
    if (!from.value.is_array())
      return from.fail("expected an array");
    out = T(from.value.size());
    detail::readItems(from, out);
  } else if (from.isArray(out.size())) {
    detail::readItems(from, out);
  }
}

/// Reads a record. Every member must be there, unless it is a std::optional, and no other may be.
/// Where a record has rules, `problemOf(record)` names one that it breaks. Returns what is wrong,
/// with the JSON pointer of where; empty if nothing is.
template <class T> std::string readDocument(const nlohmann::json &document, T &out) {
  std::string problem;
  readJson(JsonReader(document, problem), out);
  return problem;
}

} // namespace kopt
