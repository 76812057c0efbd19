// SPDX-License-Identifier: Apache-2.0
// Walks a record through its lists of fields and makes each of its values another, one at a time.
#pragma once

#include "clang_plugin/output/Fields.h"
#include "driver/model/Candidate.h"
#include "driver/support/Clock.h"

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace kopt {

/// Called while the value at that path ("/launches/0/weight") is another one.
using OnChange = std::function<void(const std::string &path)>;

template <class T> void eachChange(T &value, const std::string &path, const OnChange &on);

namespace each_change {

template <class T> void one(T &value, T other, const std::string &path, const OnChange &on) {
  T before = std::exchange(value, std::move(other));
  on(path);
  value = std::move(before);
}

inline void walk(std::string &v, const std::string &path, const OnChange &on) {
  one(v, v + "x", path, on);
}
inline void walk(bool &v, const std::string &path, const OnChange &on) { one(v, !v, path, on); }
inline void walk(Duration &v, const std::string &path, const OnChange &on) {
  one(v, Duration(v.count() + 1), path, on);
}
inline void walk(std::filesystem::path &v, const std::string &path, const OnChange &on) {
  one(v, v / "x", path, on);
}
template <class T>
  requires std::is_arithmetic_v<T>
void walk(T &v, const std::string &path, const OnChange &on) {
  one(v, T(v + 1), path, on);
}
template <SpelledEnum T> void walk(T &v, const std::string &path, const OnChange &on) {
  for (std::size_t i = 0; i < spellings(v).size(); ++i)
    if (T(i) != v)
      one(v, T(i), path, on);
}
template <HasFields T> void walk(T &v, const std::string &path, const OnChange &on) {
  std::apply(
      [&](const auto &...field) { (eachChange(field.value, path + "/" + field.name, on), ...); },
      fieldsOf(v));
}
template <class T> void walk(std::vector<T> &v, const std::string &path, const OnChange &on) {
  for (std::size_t i = 0; i < v.size(); ++i)
    eachChange(v[i], path + "/" + std::to_string(i), on);
  v.emplace_back();
  on(path + "/+");
  v.pop_back();
}
template <class T, std::size_t N>
void walk(std::array<T, N> &v, const std::string &path, const OnChange &on) {
  for (std::size_t i = 0; i < N; ++i)
    eachChange(v[i], path + "/" + std::to_string(i), on);
}
template <class A, class B>
void walk(std::pair<A, B> &v, const std::string &path, const OnChange &on) {
  eachChange(v.first, path + "/0", on);
  eachChange(v.second, path + "/1", on);
}
template <class K, class T>
void walk(std::map<K, T> &v, const std::string &path, const OnChange &on) {
  for (auto &[key, item] : v)
    eachChange(item, path + "/*", on);
  auto more = v;
  if constexpr (std::integral<K>)
    more[K(1000)];
  else
    more["another"];
  one(v, more, path + "/+", on);
}
template <class T> void walk(std::optional<T> &v, const std::string &path, const OnChange &on) {
  if (v)
    eachChange(*v, path, on);
  one(v, v ? std::optional<T>() : std::optional<T>(T{}), path + "/?", on);
}
inline void walk(Argument &v, const std::string &path, const OnChange &on) {
  std::visit([&](auto &argument) { eachChange(argument, path, on); }, v);
}

} // namespace each_change

template <class T> void eachChange(T &value, const std::string &path, const OnChange &on) {
  using each_change::walk;
  walk(value, path, on);
}

} // namespace kopt
