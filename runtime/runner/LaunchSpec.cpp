// SPDX-License-Identifier: Apache-2.0
#include "runtime/runner/LaunchSpec.h"

#include "runtime/trace/Format.h"

#include <cmath>
#include <type_traits>

namespace kopt::runtime {

namespace {

using protocol::parseNumber;

/// Small enough that sums of sizes do not wrap around.
constexpr std::uint64_t kLargestBuffer = std::uint64_t(1) << 48;

/// A list of texts that is read or written: each call names the variables that its next texts
/// stand for, so that one description serves both directions.
class Line {
public:
  Line() = default;
  explicit Line(const std::vector<std::string> &texts) : texts_(texts), isRead_(true) {}

  const std::vector<std::string> &texts() const { return texts_; }
  bool isRead() const { return isRead_; }
  bool atEnd() const { return !isRead_ || next_ == texts_.size(); }

  /// False if a text is missing or malformed.
  template <class... Fields> bool operator()(Fields &...fields) { return (one(fields) && ...); }
  /// Bytes as two hexadecimal digits each.
  template <class Bytes> bool hex(Bytes &bytes) {
    std::string digits = trace::hexOf(bytes);
    if (!one(digits) || digits.size() % 2 != 0)
      return false;
    bytes.clear();
    for (std::size_t i = 0; i < digits.size(); i += 2) {
      unsigned byte = 0;
      const char *begin = digits.data() + i;
      if (std::from_chars(begin, begin + 2, byte, 16).ptr != begin + 2)
        return false;
      bytes.push_back(typename Bytes::value_type(byte));
    }
    return true;
  }

private:
  bool one(std::string &text) {
    if (!isRead_)
      texts_.push_back(text);
    else if (next_ == texts_.size())
      return false;
    else
      text = texts_[next_++];
    return true;
  }
  template <class Number> bool one(Number &number) {
    std::string text;
    if constexpr (std::is_floating_point_v<Number>)
      text = protocol::formatDouble(number);
    else
      text = std::to_string(number);
    const auto value = one(text) ? parseNumber<Number>(text) : std::nullopt;
    number = value.value_or(number);
    return value.has_value();
  }
  bool one(bool &flag) {
    unsigned number = flag;
    const bool isNumber = one(number);
    flag = number == 1;
    return isNumber && number <= 1;
  }

  std::vector<std::string> texts_;
  bool isRead_ = false;
  std::size_t next_ = 0;
};

bool extent(Line &line, std::array<std::uint32_t, 3> &of) {
  return line(of[0], of[1], of[2]) && line.atEnd() && of[0] > 0 && of[1] > 0 && of[2] > 0;
}

/// True if the fill draws values between low and high.
bool isRanged(FillKind kind) {
  return kind != FillKind::Zero && kind != FillKind::Iota && kind != FillKind::Constant &&
         kind != FillKind::Captured && kind != FillKind::Values;
}

bool buffer(Line &line, BufferSpec &of) {
  std::string fill = toString(of.fill), role = of.readOnly ? "in" : of.output ? "out" : "inout";
  if (!line(of.name, of.bytes, of.scalar, fill, of.low, of.high, role) || !line.atEnd() ||
      !parseFillKind(fill))
    return false;
  of.fill = *parseFillKind(fill);
  of.readOnly = role == "in";
  of.output = role == "out";
  return (of.readOnly || of.output || role == "inout") && of.bytes <= kLargestBuffer &&
         std::isfinite(of.low) && std::isfinite(of.high) &&
         (!isRanged(of.fill) || of.low <= of.high);
}

// What a request says of some buffers only, after the buffer's index.

bool contents(Line &line, BufferSpec &of) {
  return line(of.contents) && !of.contents.empty() &&
         (of.fill == FillKind::Captured || of.fill == FillKind::Values);
}
bool values(Line &line, BufferSpec &of) {
  return line.hex(of.values) && of.fill == FillKind::Values;
}
bool captured(Line &line, BufferSpec &of) {
  return line(of.lead, of.period, of.factor) && of.fill == FillKind::Captured &&
         of.period <= kLargestBuffer && std::isfinite(of.factor);
}
bool symbol(Line &line, BufferSpec &of) { return line(of.symbol) && !of.symbol.empty(); }
bool address(Line &line, BufferSpec &of) {
  return line(of.address, of.holdsPointers) && of.address != 0 &&
         of.address <= ~std::uint64_t(0) - kLargestBuffer;
}
bool drawn(Line &line, BufferSpec &of) {
  return line(of.drawnAs) && of.scalar == "f64" &&
         (of.drawnAs == "f32" || of.drawnAs == "f16" || of.drawnAs == "bf16");
}

struct BufferField {
  const char *name;
  bool (*describe)(Line &, BufferSpec &);
  bool (*isGiven)(const BufferSpec &);
};
constexpr BufferField kBufferFields[] = {
    {"contents", contents,
     [](const BufferSpec &of) { return of.fill == FillKind::Captured || !of.contents.empty(); }},
    {"values", values,
     [](const BufferSpec &of) { return of.fill == FillKind::Values && of.contents.empty(); }},
    {"captured", captured,
     [](const BufferSpec &of) { return of.lead != 0 || of.period != 0 || of.factor != 1; }},
    {"symbol", symbol, [](const BufferSpec &of) { return !of.symbol.empty(); }},
    {"address", address, [](const BufferSpec &of) { return of.address != 0; }},
    {"drawn", drawn, [](const BufferSpec &of) { return !of.drawnAs.empty(); }},
};

bool isInside(const PointerSpec &pointer, const ArgumentSpec &argument,
              const std::vector<BufferSpec> &buffers) {
  return pointer.buffer < buffers.size() && buffers[pointer.buffer].symbol.empty() &&
         pointer.offset <= buffers[pointer.buffer].bytes &&
         argument.value.size() >= sizeof(Address) &&
         pointer.at <= argument.value.size() - sizeof(Address);
}

/// buffer, INDEX, OFFSET for one pointer that is all of the argument; otherwise
/// value, HEXDIGITS[, AT, INDEX, OFFSET]...
bool argument(Line &line, ArgumentSpec &of, const std::vector<BufferSpec> &buffers) {
  const std::vector<std::byte> zeros(sizeof(Address));
  const bool isPointer =
      of.pointers.size() == 1 && of.pointers.front().at == 0 && of.value == zeros;
  std::string kind = isPointer ? "buffer" : "value";
  if (!line(kind))
    return false;
  if (kind == "buffer") {
    of.value = zeros;
    of.pointers.resize(1);
    return line(of.pointers[0].buffer, of.pointers[0].offset) && line.atEnd() &&
           isInside(of.pointers[0], of, buffers);
  }
  if (kind != "value" || !line.hex(of.value) || of.value.empty())
    return false;
  for (std::size_t i = 0; line.isRead() ? !line.atEnd() : i < of.pointers.size(); ++i) {
    PointerSpec &pointer = line.isRead() ? of.pointers.emplace_back() : of.pointers[i];
    if (!line(pointer.at, pointer.buffer, pointer.offset) || !isInside(pointer, of, buffers))
      return false;
  }
  return true;
}

} // namespace

void addLaunch(protocol::Message &request, const std::string &prefix, const LaunchSpec &launch) {
  LaunchSpec given = launch; // what describes a field may read it, too
  const auto add = [&](const char *name, auto describe) {
    Line line;
    describe(line);
    request.addList(prefix + name, line.texts());
  };
  request.add(prefix + "module", launch.module);
  add("grid", [&](Line &line) { extent(line, given.grid); });
  add("block", [&](Line &line) { extent(line, given.block); });
  request.add(prefix + "shared", launch.sharedBytes);
  if (launch.cooperative)
    request.add(prefix + "cooperative", 1u);
  if (launch.stackBytes != 0)
    request.add(prefix + "stack", launch.stackBytes);
  if (launch.readsUnsetShared)
    request.add(prefix + "unset", 1u);
  for (BufferSpec &of : given.buffers)
    add("buffer", [&](Line &line) { buffer(line, of); });
  for (const BufferField &field : kBufferFields)
    for (std::size_t i = 0; i < given.buffers.size(); ++i)
      if (field.isGiven(given.buffers[i]))
        add(field.name, [&](Line &line) {
          line(i);
          field.describe(line, given.buffers[i]);
        });
  for (ArgumentSpec &of : given.arguments)
    add("arg", [&](Line &line) { argument(line, of, given.buffers); });
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
  for (const auto &[name, of] : {std::pair("grid", &out.grid), {"block", &out.block}}) {
    Line line(request.list(prefix + name));
    if (!extent(line, *of))
      return bad(name);
  }
  const auto each = [&](const char *name, auto describe) {
    for (const std::vector<std::string> &texts : request.lists(prefix + name)) {
      Line line(texts);
      if (!describe(line) || !line.atEnd())
        return bad(name);
    }
    return true;
  };
  if (!each("buffer", [&](Line &line) { return buffer(line, out.buffers.emplace_back()); }))
    return false;
  for (const BufferField &field : kBufferFields)
    if (!each(field.name, [&](Line &line) {
          std::size_t index = 0;
          return line(index) && index < out.buffers.size() &&
                 field.describe(line, out.buffers[index]);
        }))
      return false;
  for (const BufferSpec &of : out.buffers)
    if (of.fill == FillKind::Captured && of.contents.empty())
      return bad("contents");
  return each(
      "arg", [&](Line &line) { return argument(line, out.arguments.emplace_back(), out.buffers); });
}

} // namespace kopt::runtime
