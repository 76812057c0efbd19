// SPDX-License-Identifier: Apache-2.0
#include "driver/model/Json.h"

#include "driver/support/Text.h"

namespace kopt {

nlohmann::json toJson(const Dim3 &value) { return {value.x, value.y, value.z}; }

nlohmann::json toJson(const ValueArg &value) {
  return {{"bytes", detail::toHex(value.bytes)}, {"pointers", toJson(value.pointers)}};
}

nlohmann::json toJson(const Argument &value) {
  return std::visit([](const auto &argument) { return toJson(argument); }, value);
}

void readJson(const JsonReader &from, Dim3 &out) {
  std::array<std::uint32_t, 3> sizes{};
  readJson(from, sizes);
  out = {sizes[0], sizes[1], sizes[2]};
}

void readJson(const JsonReader &from, ValueArg &out) {
  if (!from.value.is_object() || from.value.size() != 2 || !from.value.contains("bytes") ||
      !from.value.contains("pointers"))
    return from.fail("expected the bytes and pointers of a value");
  detail::readHex(from.child(from.value["bytes"], "bytes"), out.bytes);
  readJson(from.child(from.value["pointers"], "pointers"), out.pointers);
}

void readJson(const JsonReader &from, Argument &out) {
  if (from.value.is_object() && from.value.contains("bytes"))
    readJson(from, out.emplace<ValueArg>());
  else
    readJson(from, out.emplace<BufferArg>());
}

nlohmann::json toJson(const CheckSwitches &value) { return value.list(); }

void readJson(const JsonReader &from, CheckSwitches &out) {
  std::string list;
  readJson(from, list);
  std::vector<std::string> names;
  for (const std::string &name : split(list, ','))
    if (!trim(name).empty())
      names.emplace_back(trim(name));
  if (auto known = CheckSwitches::without(names))
    out = std::move(*known);
  else
    from.fail(known.error().what);
}

} // namespace kopt
