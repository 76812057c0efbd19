// SPDX-License-Identifier: Apache-2.0
// Converts records to JSON and back with their lists of fields, to store, hash and send them. A
// round trip is exact. Keys are the members' names in snake_case; enums are written by name; a
// number that is not finite is "nan", "inf" or "-inf"; a text that is not UTF-8 is {"hex": "…"}; an
// unset optional is null; one of several kinds of records is {"name of the kind": {…}}.
#pragma once

#include "driver/model/Device.h"
#include "driver/model/Fields.h"
#include "driver/model/Workload.h"
#include "driver/support/Result.h"

#include <charconv>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace kopt {

template <class T>
concept HasFields = requires(T &value) { fieldsOf(value); };

/// "sharedBytes" as "shared_bytes".
std::string jsonKey(std::string_view member);

namespace model_json {

using Json = nlohmann::json;

/// A value to read, with its place in the document. Keeps the first problem; after that, results
/// are ignored.
class Reader {
public:
  Reader(const Json &value, std::string path, std::string &problem)
      : value(value), path_(std::move(path)), problem_(problem) {}

  void fail(const std::string &what) const {
    if (problem_.empty())
      problem_ = what + " at " + (path_.empty() ? "/" : path_);
  }
  Reader child(const Json &item, const std::string &key) const {
    return Reader(item, path_ + "/" + key, problem_);
  }
  bool isArray(std::size_t size) const {
    if (value.is_array() && value.size() == size)
      return true;
    fail("expected an array of " + std::to_string(size));
    return false;
  }

  const Json &value;

private:
  std::string path_;
  std::string &problem_;
};

Json write(const std::string &text);
Json write(double value);
Json write(const Dim3 &value);
Json write(const ValueArg &value);
Json write(const Argument &value);
inline Json write(bool value) { return value; }
inline Json write(Duration value) { return write(value.count()); }
inline Json write(const std::filesystem::path &value) { return write(value.string()); }

void read(const Reader &from, std::string &out);
void read(const Reader &from, double &out);
void read(const Reader &from, bool &out);
void read(const Reader &from, Duration &out);
void read(const Reader &from, Dim3 &out);
void read(const Reader &from, ValueArg &out);
void read(const Reader &from, Argument &out);

template <std::integral T> Json write(T value) { return value; }
template <NamedEnum T> Json write(T value) { return toString(value); }
template <HasFields T> Json write(const T &record);
template <class T> Json write(const std::optional<T> &value);
template <class T> Json write(const std::vector<T> &values);
template <class T> Json write(const std::set<T> &values);
template <class T, std::size_t N> Json write(const std::array<T, N> &values);
template <class A, class B> Json write(const std::pair<A, B> &value);
template <class K, class T> Json write(const std::map<K, T> &values);
template <class... Kinds> Json write(const std::variant<Kinds...> &value);

template <std::integral T> void read(const Reader &from, T &out);
template <NamedEnum T> void read(const Reader &from, T &out);
template <HasFields T> void read(const Reader &from, T &out);
template <class T> void read(const Reader &from, std::optional<T> &out);
template <class T> void read(const Reader &from, std::vector<T> &out);
template <class T, std::size_t N> void read(const Reader &from, std::array<T, N> &out);
template <class A, class B> void read(const Reader &from, std::pair<A, B> &out);
template <class K, class T> void read(const Reader &from, std::map<K, T> &out);
template <class... Kinds> void read(const Reader &from, std::variant<Kinds...> &out);

template <HasFields T> Json write(const T &record) {
  Json object = Json::object();
  std::apply(
      [&](const auto &...field) { ((object[jsonKey(field.name)] = write(field.value)), ...); },
      fieldsOf(record));
  return object;
}

template <class T> Json write(const std::optional<T> &value) {
  return value ? write(*value) : Json();
}

template <class T> Json write(const std::vector<T> &values) {
  Json array = Json::array();
  for (const T &value : values)
    array.push_back(write(value));
  return array;
}

template <class T> Json write(const std::set<T> &values) {
  return write(std::vector<T>(values.begin(), values.end()));
}

template <class T, std::size_t N> Json write(const std::array<T, N> &values) {
  return write(std::vector<T>(values.begin(), values.end()));
}

template <class A, class B> Json write(const std::pair<A, B> &value) {
  return Json::array({write(value.first), write(value.second)});
}

template <class K, class T> Json write(const std::map<K, T> &values) {
  Json object = Json::object();
  for (const auto &[key, value] : values)
    if constexpr (std::integral<K>)
      object[std::to_string(key)] = write(value);
    else
      object[key] = write(value);
  return object;
}

template <class... Kinds> Json write(const std::variant<Kinds...> &value) {
  return std::visit(
      [](const auto &kind) {
        Json object;
        object[kind.kName] = write(kind);
        return object;
      },
      value);
}

template <std::integral T> void read(const Reader &from, T &out) {
  if (!from.value.is_number_integer())
    return from.fail("expected an integer");
  const bool fits = from.value.is_number_unsigned()
                        ? std::in_range<T>(from.value.template get<std::uint64_t>())
                        : std::in_range<T>(from.value.template get<std::int64_t>());
  if (!fits)
    return from.fail("integer out of range");
  out = from.value.template get<T>();
}

template <NamedEnum T> void read(const Reader &from, T &out) {
  std::string name;
  read(from, name);
  if (const auto known = parseEnum<T>(name))
    out = *known;
  else
    from.fail("unknown name '" + name + "'");
}

template <HasFields T> void read(const Reader &from, T &out) {
  if (!from.value.is_object())
    return from.fail("expected an object");
  std::size_t seen = 0;
  const auto one = [&](const auto &field) {
    const std::string key = jsonKey(field.name);
    if (const auto found = from.value.find(key); found != from.value.end()) {
      ++seen;
      read(from.child(*found, key), field.value);
    } else {
      from.fail("missing '" + key + "'");
    }
  };
  std::apply([&](const auto &...field) { (one(field), ...); }, fieldsOf(out));
  if (seen == from.value.size())
    return;
  std::set<std::string> known;
  std::apply([&](const auto &...field) { (known.insert(jsonKey(field.name)), ...); },
             fieldsOf(out));
  for (const auto &[key, value] : from.value.items())
    if (!known.contains(key))
      from.fail("unknown '" + key + "'");
}

template <class T> void read(const Reader &from, std::optional<T> &out) {
  out.reset();
  if (!from.value.is_null())
    read(from, out.emplace());
}

template <class T> void read(const Reader &from, std::vector<T> &out) {
  out.clear();
  if (!from.value.is_array())
    return from.fail("expected an array");
  for (std::size_t i = 0; i < from.value.size(); ++i)
    read(from.child(from.value[i], std::to_string(i)), out.emplace_back());
}

template <class T, std::size_t N> void read(const Reader &from, std::array<T, N> &out) {
  if (from.isArray(N))
    for (std::size_t i = 0; i < N; ++i)
      read(from.child(from.value[i], std::to_string(i)), out[i]);
}

template <class A, class B> void read(const Reader &from, std::pair<A, B> &out) {
  if (from.isArray(2)) {
    read(from.child(from.value[0], "0"), out.first);
    read(from.child(from.value[1], "1"), out.second);
  }
}

template <class K, class T> void read(const Reader &from, std::map<K, T> &out) {
  out.clear();
  if (!from.value.is_object())
    return from.fail("expected an object");
  for (const auto &[key, value] : from.value.items())
    if constexpr (std::integral<K>) {
      K number{};
      const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), number);
      if (error != std::errc() || end != key.data() + key.size())
        return from.fail("expected a number instead of the key '" + key + "'");
      read(from.child(value, key), out[number]);
    } else {
      read(from.child(value, key), out[key]);
    }
}

template <class... Kinds> void read(const Reader &from, std::variant<Kinds...> &out) {
  if (!from.value.is_object() || from.value.size() != 1)
    return from.fail("expected one member, named as a kind");
  const auto item = from.value.begin();
  const auto readAs = [&]<class Kind>(std::type_identity<Kind>) {
    if (item.key() == Kind::kName)
      read(from.child(*item, item.key()), out.template emplace<Kind>());
    return item.key() == Kind::kName;
  };
  if (!(readAs(std::type_identity<Kinds>()) || ...))
    from.fail("unknown kind '" + item.key() + "'");
}

} // namespace model_json

/// The JSON of a record, or of a vector or map of records.
template <class T> nlohmann::json toJson(const T &value) { return model_json::write(value); }

/// Reads a record. Fails with Internal, naming the place, if a member is missing, unknown or of
/// another type.
template <class T> Result<T> fromJson(const nlohmann::json &document) {
  T value{};
  std::string problem;
  model_json::read(model_json::Reader(document, "", problem), value);
  if (!problem.empty())
    return makeError(ErrorCode::Internal, "malformed record: " + problem);
  return value;
}

/// The JSON as text; bytes that are not UTF-8 are replaced.
std::string dumpJson(const nlohmann::json &value, int indent = -1);

/// The text to hash: it is the same for equal records.
template <class T> std::string canonicalJson(const T &value) { return dumpJson(toJson(value)); }

} // namespace kopt
