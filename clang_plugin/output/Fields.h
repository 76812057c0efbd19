// SPDX-License-Identifier: Apache-2.0
// One list of members for each record that crosses the wall between the front end and the driver.
// The JSON reader and writer (RecordJson.h), the cache's bytes (cache/Bytes.h) and the test of the
// schema all use that list. No Clang, no JSON.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace kopt {

/// The JSON names of a record's members in their order, as "file, begin, end".
class FieldNames {
public:
  explicit constexpr FieldNames(std::string_view names) : left_(names) {}
  constexpr std::string_view next() {
    const std::size_t end = std::min(left_.find(','), left_.size());
    const std::string_view name = left_.substr(0, end);
    left_.remove_prefix(std::min(end + 2, left_.size()));
    return name;
  }

private:
  std::string_view left_;
};

/// Lists the JSON names of all members of a record, in the order of their declarations. A list that
/// is too short or too long does not compile. A visitor is called as `visitor(FieldNames, a, b,
/// …)`. A member that is a std::optional may be absent from the JSON. Two
/// members of the same type in the wrong order do compile; the test of the schema finds them.
#define KOPT_RECORD(Record, ...)                                                                   \
  template <class Visitor> void fields(Visitor &visitor, Record &record) {                         \
    auto &[__VA_ARGS__] = record;                                                                  \
    visitor(::kopt::FieldNames(#__VA_ARGS__), __VA_ARGS__);                                        \
  }

/// False for the type of a member that one side of the wall keeps to itself.
template <class Member> inline constexpr bool kCrossesWall = true;

/// An enum whose values are spelled in JSON: `spellings(value)` gives an array of all spellings, in
/// the order of the values.
template <class Enum>
concept SpelledEnum = requires(Enum value) { spellings(value).size(); };

template <SpelledEnum Enum> std::string toString(Enum value) {
  return std::string(spellings(value).at(static_cast<std::size_t>(value)));
}

/// The value with this spelling; nothing if there is none.
template <SpelledEnum Enum> std::optional<Enum> fromSpelling(std::string_view text) {
  constexpr auto all = spellings(Enum{});
  const auto found = std::find(all.begin(), all.end(), text);
  if (found == all.end())
    return std::nullopt;
  return static_cast<Enum>(found - all.begin());
}

} // namespace kopt
