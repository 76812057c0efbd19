// SPDX-License-Identifier: Apache-2.0
#include "driver/model/Json.h"

#include "driver/support/Text.h"

#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace kopt {

std::string jsonKey(std::string_view member) {
  std::string key;
  for (const char c : member) {
    if (std::isupper(static_cast<unsigned char>(c)))
      key += '_';
    key += char(std::tolower(static_cast<unsigned char>(c)));
  }
  return key;
}

std::string dumpJson(const nlohmann::json &value, int indent) {
  return value.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

namespace model_json {
namespace {

std::string toHex(const std::string &bytes) {
  std::string text;
  for (const char c : bytes)
    text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

void readHex(const Reader &from, std::string &out) {
  std::string digits;
  read(from, digits);
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

} // namespace

Json write(const std::string &text) {
  if (validUtf8(text) == text)
    return text;
  return {{"hex", toHex(text)}};
}

Json write(double value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value > 0 ? "inf" : "-inf";
  return value;
}

Json write(const Dim3 &value) { return {value.x, value.y, value.z}; }

Json write(const ValueArg &value) {
  return {{"bytes", toHex(value.bytes)}, {"pointers", write(value.pointers)}};
}

Json write(const Argument &value) {
  return std::visit([](const auto &argument) { return write(argument); }, value);
}

void read(const Reader &from, std::string &out) {
  if (from.value.is_string())
    out = from.value.get<std::string>();
  else if (from.value.is_object() && from.value.size() == 1 && from.value.contains("hex") &&
           from.value["hex"].is_string())
    readHex(from.child(from.value["hex"], "hex"), out);
  else
    from.fail("expected a text");
}

void read(const Reader &from, double &out) {
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

void read(const Reader &from, bool &out) {
  if (from.value.is_boolean())
    out = from.value.get<bool>();
  else
    from.fail("expected true or false");
}

void read(const Reader &from, Duration &out) {
  double seconds = 0;
  read(from, seconds);
  out = Duration(seconds);
}

void read(const Reader &from, Dim3 &out) {
  std::array<std::uint32_t, 3> sizes{};
  read(from, sizes);
  out = {sizes[0], sizes[1], sizes[2]};
}

void read(const Reader &from, ValueArg &out) {
  if (!from.value.is_object() || from.value.size() != 2 || !from.value.contains("bytes") ||
      !from.value.contains("pointers"))
    return from.fail("expected the bytes and pointers of a value");
  readHex(from.child(from.value["bytes"], "bytes"), out.bytes);
  read(from.child(from.value["pointers"], "pointers"), out.pointers);
}

void read(const Reader &from, Argument &out) {
  if (from.value.is_object() && from.value.contains("bytes"))
    read(from, out.emplace<ValueArg>());
  else
    read(from, out.emplace<BufferArg>());
}

} // namespace model_json
} // namespace kopt
