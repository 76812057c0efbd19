// SPDX-License-Identifier: Apache-2.0
// Lists of the fields of a record and of the names of an enum. JSON (Json.h), hashes and tests use
// these lists.
#pragma once

#include <cassert>
#include <concepts>
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

/// Specialise it with `static constexpr std::pair<Enum, const char *> kAll[]`, which has every
/// enumerator with the name that is stored and shown.
template <class Enum> struct EnumNames;

template <class Enum>
concept NamedEnum = std::is_enum_v<Enum> && requires { EnumNames<Enum>::kAll; };

template <NamedEnum Enum> constexpr const char *toString(Enum value) {
  for (const auto &[known, name] : EnumNames<Enum>::kAll)
    if (known == value)
      return name;
  assert(false && "an enumerator without a name");
  return "unknown";
}

/// The enumerator with that name; nothing if there is none.
template <NamedEnum Enum> constexpr std::optional<Enum> parseEnum(std::string_view text) {
  for (const auto &[known, name] : EnumNames<Enum>::kAll)
    if (text == name)
      return known;
  return std::nullopt;
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
