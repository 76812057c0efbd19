// SPDX-License-Identifier: Apache-2.0
// Lists of the members of a record and of the names of an enum, for the front end and the driver.
// JSON (RecordJson.h), hashes and tests use these lists. No Clang, no JSON.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace kopt {

/// A member of a record, with its name in C++.
template <class T> struct Field {
  const char *name;
  T &value;
};
template <class T> Field(const char *, T &) -> Field<T>;

/// A record with a list of its members.
template <class Record>
concept HasFields = requires(Record &record) { fieldsOf(record); };

/// An enum whose values have names that are stored and shown: `spellings(value)` gives an array of
/// all names, in the order of the values, which count from 0.
template <class Enum>
concept SpelledEnum = requires(Enum value) { spellings(value).size(); };

template <SpelledEnum Enum> constexpr const char *toString(Enum value) {
  return spellings(value).at(static_cast<std::size_t>(value)).data();
}

/// The value with that name; nothing if there is none.
template <SpelledEnum Enum> constexpr std::optional<Enum> parseEnum(std::string_view text) {
  constexpr auto all = spellings(Enum{});
  const auto found = std::find(all.begin(), all.end(), text);
  if (found == all.end())
    return std::nullopt;
  return static_cast<Enum>(found - all.begin());
}

} // namespace kopt

// Apply a macro to each argument (up to 85): see "Recursive macros with C++20 __VA_OPT__", David
// Mazieres, 2021.
#define KOPT_PARENS ()
#define KOPT_EXPAND(...) KOPT_EXPAND3(KOPT_EXPAND3(KOPT_EXPAND3(KOPT_EXPAND3(__VA_ARGS__))))
#define KOPT_EXPAND3(...) KOPT_EXPAND2(KOPT_EXPAND2(KOPT_EXPAND2(KOPT_EXPAND2(__VA_ARGS__))))
#define KOPT_EXPAND2(...) KOPT_EXPAND1(KOPT_EXPAND1(KOPT_EXPAND1(KOPT_EXPAND1(__VA_ARGS__))))
#define KOPT_EXPAND1(...) __VA_ARGS__
#define KOPT_FIELD_LIST(...) __VA_OPT__(KOPT_EXPAND(KOPT_FIELD_LIST_(__VA_ARGS__)))
#define KOPT_FIELD_LIST_(first, ...)                                                               \
  ::kopt::Field{#first, record.first} __VA_OPT__(, KOPT_FIELD_LIST_AGAIN KOPT_PARENS(__VA_ARGS__))
#define KOPT_FIELD_LIST_AGAIN() KOPT_FIELD_LIST_

/// After a struct, in its namespace: `KOPT_FIELDS(Dim3, x, y, z)` lists all of its members in any
/// order. The code does not compile if a member is missing from the list (the structured binding
/// has too few names) or if a name is not a member.
#define KOPT_FIELDS(Type, ...)                                                                     \
  template <class Record>                                                                          \
    requires std::same_as<std::remove_const_t<Record>, Type>                                       \
  constexpr auto fieldsOf(Record &record) {                                                        \
    [[maybe_unused]] auto &[__VA_ARGS__] = record;                                                 \
    return std::tuple{KOPT_FIELD_LIST(__VA_ARGS__)};                                               \
  }
