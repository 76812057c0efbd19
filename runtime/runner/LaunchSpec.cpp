// SPDX-License-Identifier: Apache-2.0
#include "runtime/runner/LaunchSpec.h"

#include "runtime/trace/Format.h"

#include <cmath>

namespace kopt::runtime {

namespace {

using protocol::parseNumber;

bool parseExtent(const std::vector<std::string> &parts, std::array<std::uint32_t, 3> &out) {
  if (parts.size() != 3)
    return false;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto value = parseNumber<std::uint32_t>(parts[i]);
    if (!value || *value == 0)
      return false;
    out[i] = *value;
  }
  return true;
}

/// Small enough that sums of sizes do not wrap around.
constexpr std::uint64_t kLargestBuffer = std::uint64_t(1) << 48;

/// True if the fill draws values between low and high.
bool isRanged(FillKind kind) {
  return kind != FillKind::Zero && kind != FillKind::Iota && kind != FillKind::Constant &&
         kind != FillKind::Captured && kind != FillKind::Values;
}

/// name, bytes, scalar, fill, low, high, role (in, out, inout)
bool parseBuffer(const std::vector<std::string> &parts, BufferSpec &out) {
  if (parts.size() != 7)
    return false;
  const auto bytes = parseNumber<std::uint64_t>(parts[1]);
  const auto low = parseNumber<double>(parts[4]), high = parseNumber<double>(parts[5]);
  if (!bytes || *bytes > kLargestBuffer || !low || !high || !std::isfinite(*low) ||
      !std::isfinite(*high))
    return false;
  out.name = parts[0];
  out.bytes = *bytes;
  out.scalar = parts[2];
  out.low = *low;
  out.high = *high;
  const std::optional<FillKind> fill = parseFillKind(parts[3]);
  if (!fill || (isRanged(*fill) && *low > *high))
    return false;
  out.fill = *fill;
  out.readOnly = parts[6] == "in";
  out.output = parts[6] == "out";
  return out.readOnly || out.output || parts[6] == "inout";
}

/// The buffer whose index is the field's first part, or null. The field must have `count` parts.
BufferSpec *bufferOf(const std::vector<std::string> &parts, std::size_t count,
                     std::vector<BufferSpec> &buffers) {
  const auto index = parts.size() == count ? parseNumber<std::size_t>(parts[0]) : std::nullopt;
  return index && *index < buffers.size() ? &buffers[*index] : nullptr;
}

/// INDEX, PATH
bool parseContents(const std::vector<std::string> &parts, std::vector<BufferSpec> &buffers) {
  BufferSpec *buffer = bufferOf(parts, 2, buffers);
  if (!buffer || parts[1].empty() ||
      (buffer->fill != FillKind::Captured && buffer->fill != FillKind::Values))
    return false;
  buffer->contents = parts[1];
  return true;
}

/// The bytes that the hexadecimal digits spell; nothing if they are malformed or odd in number.
std::optional<std::string> bytesOf(const std::string &digits) {
  if (digits.size() % 2 != 0)
    return std::nullopt;
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    unsigned byte = 0;
    const char *begin = digits.data() + i;
    if (std::from_chars(begin, begin + 2, byte, 16).ptr != begin + 2)
      return std::nullopt;
    bytes += char(byte);
  }
  return bytes;
}

/// INDEX, HEXDIGITS
bool parseValues(const std::vector<std::string> &parts, std::vector<BufferSpec> &buffers) {
  BufferSpec *buffer = bufferOf(parts, 2, buffers);
  const std::optional<std::string> bytes = buffer ? bytesOf(parts[1]) : std::nullopt;
  if (!bytes || buffer->fill != FillKind::Values)
    return false;
  buffer->values = *bytes;
  return true;
}

/// INDEX, NAME
bool parseSymbol(const std::vector<std::string> &parts, std::vector<BufferSpec> &buffers) {
  BufferSpec *buffer = bufferOf(parts, 2, buffers);
  if (!buffer || parts[1].empty())
    return false;
  buffer->symbol = parts[1];
  return true;
}

/// INDEX, ADDRESS, 0 or 1
bool parseAddress(const std::vector<std::string> &parts, std::vector<BufferSpec> &buffers) {
  BufferSpec *buffer = bufferOf(parts, 3, buffers);
  const auto address = buffer ? parseNumber<std::uint64_t>(parts[1]) : std::nullopt;
  if (!address || *address == 0 || *address > ~std::uint64_t(0) - kLargestBuffer ||
      (parts[2] != "0" && parts[2] != "1"))
    return false;
  buffer->address = *address;
  buffer->holdsPointers = parts[2] == "1";
  return true;
}

/// AT, INDEX, OFFSET, from parts[first] on.
bool parsePointer(const std::vector<std::string> &parts, std::size_t first,
                  const std::vector<BufferSpec> &buffers, ArgumentSpec &out) {
  const auto at = parseNumber<std::size_t>(parts[first]),
             index = parseNumber<std::size_t>(parts[first + 1]);
  const auto offset = parseNumber<std::uint64_t>(parts[first + 2]);
  if (!at || !index || !offset || *index >= buffers.size() || !buffers[*index].symbol.empty() ||
      *offset > buffers[*index].bytes || out.value.size() < sizeof(Address) ||
      *at > out.value.size() - sizeof(Address))
    return false;
  out.pointers.push_back({*at, *index, *offset});
  return true;
}

/// INDEX, SCALAR: an f64 buffer whose numbers are drawn in a narrower type.
bool parseDrawn(const std::vector<std::string> &parts, std::vector<BufferSpec> &buffers) {
  const auto index = parts.size() == 2 ? parseNumber<std::size_t>(parts[0]) : std::nullopt;
  if (!index || *index >= buffers.size() || buffers[*index].scalar != "f64" ||
      (parts[1] != "f32" && parts[1] != "f16" && parts[1] != "bf16"))
    return false;
  buffers[*index].drawnAs = parts[1];
  return true;
}

/// buffer, INDEX, OFFSET | value, HEXDIGITS[, AT, INDEX, OFFSET]...
bool parseArgument(const std::vector<std::string> &parts, const std::vector<BufferSpec> &buffers,
                   ArgumentSpec &out) {
  if (parts.size() == 3 && parts[0] == "buffer") {
    out.value.resize(sizeof(Address));
    return parsePointer({"0", parts[1], parts[2]}, 0, buffers, out);
  }
  if (parts.size() < 2 || parts.size() % 3 != 2 || parts[0] != "value" || parts[1].empty())
    return false;
  const std::optional<std::string> bytes = bytesOf(parts[1]);
  if (!bytes)
    return false;
  for (const char byte : *bytes)
    out.value.push_back(std::byte(byte));
  for (std::size_t i = 2; i < parts.size(); i += 3)
    if (!parsePointer(parts, i, buffers, out))
      return false;
  return true;
}

std::vector<std::string> words(const std::array<std::uint32_t, 3> &extent) {
  return {std::to_string(extent[0]), std::to_string(extent[1]), std::to_string(extent[2])};
}

/// True if the argument is one pointer and nothing else, so that it needs no bytes of a value.
bool isBuffer(const ArgumentSpec &argument) {
  return argument.pointers.size() == 1 && argument.pointers.front().at == 0 &&
         argument.value == std::vector<std::byte>(sizeof(Address));
}

} // namespace

void addLaunch(protocol::Message &request, const std::string &prefix, const LaunchSpec &launch) {
  request.add(prefix + "module", launch.module);
  request.addList(prefix + "grid", words(launch.grid));
  request.addList(prefix + "block", words(launch.block));
  request.add(prefix + "shared", launch.sharedBytes);
  if (launch.cooperative)
    request.add(prefix + "cooperative", 1u);
  if (launch.stackBytes != 0)
    request.add(prefix + "stack", launch.stackBytes);
  if (launch.readsUnsetShared)
    request.add(prefix + "unset", 1u);
  for (const BufferSpec &buffer : launch.buffers)
    request.addList(prefix + "buffer", {buffer.name, std::to_string(buffer.bytes), buffer.scalar,
                                        toString(buffer.fill), protocol::formatDouble(buffer.low),
                                        protocol::formatDouble(buffer.high),
                                        buffer.readOnly ? "in"
                                        : buffer.output ? "out"
                                                        : "inout"});
  for (std::size_t i = 0; i < launch.buffers.size(); ++i) {
    const BufferSpec &buffer = launch.buffers[i];
    const std::string index = std::to_string(i);
    if (buffer.fill == FillKind::Captured || !buffer.contents.empty())
      request.addList(prefix + "contents", {index, buffer.contents});
    else if (buffer.fill == FillKind::Values)
      request.addList(prefix + "values", {index, trace::hexOf(buffer.values)});
    if (!buffer.drawnAs.empty())
      request.addList(prefix + "drawn", {index, buffer.drawnAs});
    if (!buffer.symbol.empty())
      request.addList(prefix + "symbol", {index, buffer.symbol});
    if (buffer.address != 0)
      request.addList(prefix + "address",
                      {index, std::to_string(buffer.address), buffer.holdsPointers ? "1" : "0"});
  }
  for (const ArgumentSpec &argument : launch.arguments) {
    if (isBuffer(argument)) {
      const PointerSpec &pointer = argument.pointers.front();
      request.addList(prefix + "arg",
                      {"buffer", std::to_string(pointer.buffer), std::to_string(pointer.offset)});
      continue;
    }
    std::vector<std::string> fields{"value", trace::hexOf(argument.value)};
    for (const PointerSpec &pointer : argument.pointers)
      for (const std::uint64_t number :
           {std::uint64_t(pointer.at), std::uint64_t(pointer.buffer), pointer.offset})
        fields.push_back(std::to_string(number));
    request.addList(prefix + "arg", fields);
  }
}

bool parseLaunch(const protocol::Message &request, const std::string &prefix, LaunchSpec &out,
                 std::string &why) {
  const auto bad = [&](const std::string &field) {
    why = "the request's field " + prefix + field + " is missing or malformed";
    return false;
  };
  const auto module = request.number<std::uint32_t>(prefix + "module");
  const auto shared = request.number<std::uint32_t>(prefix + "shared");
  if (!module)
    return bad("module");
  if (!shared)
    return bad("shared");
  out.module = *module;
  out.sharedBytes = *shared;
  out.cooperative = request.number<unsigned>(prefix + "cooperative").value_or(0) != 0;
  out.stackBytes = request.number<std::uint32_t>(prefix + "stack").value_or(0);
  out.readsUnsetShared = request.number<unsigned>(prefix + "unset").value_or(0) != 0;
  if (!parseExtent(request.list(prefix + "grid"), out.grid))
    return bad("grid");
  if (!parseExtent(request.list(prefix + "block"), out.block))
    return bad("block");
  for (const std::vector<std::string> &parts : request.lists(prefix + "buffer"))
    if (!parseBuffer(parts, out.buffers.emplace_back()))
      return bad("buffer");
  for (const std::vector<std::string> &parts : request.lists(prefix + "contents"))
    if (!parseContents(parts, out.buffers))
      return bad("contents");
  for (const BufferSpec &buffer : out.buffers)
    if (buffer.fill == FillKind::Captured && buffer.contents.empty())
      return bad("contents");
  for (const auto &[field, parse] : {std::pair("values", &parseValues),
                                     {"symbol", &parseSymbol},
                                     {"address", &parseAddress},
                                     {"drawn", &parseDrawn}})
    for (const std::vector<std::string> &parts : request.lists(prefix + field))
      if (!parse(parts, out.buffers))
        return bad(field);
  for (const std::vector<std::string> &parts : request.lists(prefix + "arg"))
    if (!parseArgument(parts, out.buffers, out.arguments.emplace_back()))
      return bad("arg");
  return true;
}

} // namespace kopt::runtime
