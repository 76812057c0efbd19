// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/DeclaredFill.h"

#include "driver/source/Expression.h"
#include "driver/support/ElementType.h"
#include "runtime/runner/StructType.h"

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>

namespace kopt {
namespace {

/// The bytes of one element of a `values` fill on the device.
Result<std::string> elementOf(const std::string &text, const Buffer &buffer,
                              const Bindings &bindings) {
  const unsigned bytes = runtime::scalarBytes(buffer.scalar);
  const bool isReal = isFloating(buffer.scalar);
  if (bytes == 0)
    return makeError(
        ErrorCode::Usage,
        fmt::format("fill {} = values(…): elements of type '{}' cannot be written", buffer.name,
                    buffer.scalar),
        fmt::format("give their bytes in a file: fill {} = file(\"data.bin\")", buffer.name));
  char *end = nullptr;
  const double written = std::strtod(text.c_str(), &end);
  if (isReal && end != text.c_str() && *end == '\0')
    return realBytes(buffer.scalar, written);
  auto value = evaluateExpression(text, bindings);
  if (!value) {
    value.error().context.push_back(fmt::format("in fill {} = values(…), {}", buffer.name, text));
    return tl::unexpected(value.error());
  }
  if (isReal)
    return realBytes(buffer.scalar, double(*value));
  const bool isSigned = buffer.scalar.starts_with("i");
  const std::int64_t most = buffer.scalar == "bool" ? 1
                            : bytes == sizeof *value
                                ? INT64_MAX
                                : (std::int64_t(1) << (8 * bytes - (isSigned ? 1 : 0))) - 1;
  if (*value > most || *value < (isSigned ? -most - 1 : 0))
    return makeError(ErrorCode::Usage, fmt::format("fill {} = values(…): {} does not fit into '{}'",
                                                   buffer.name, *value, buffer.scalar));
  return bytesOf(*value).substr(0, bytes); // little-endian, as on a GPU
}

/// How many bytes `values(…)` or a file gives.
Result<std::uint64_t> givenBytes(const TuneDeclaration &declaration, const Buffer &buffer,
                                 const Fill &fill) {
  if (const auto texts = declaration.fillValues.find(buffer.name);
      texts != declaration.fillValues.end())
    return texts->second.size() * runtime::elementSize(buffer.scalar);
  std::error_code problem;
  const std::uint64_t bytes = std::filesystem::file_size(fill.path, problem);
  if (problem)
    return makeError(ErrorCode::Usage, fmt::format("fill {} = file(\"{}\"): {}", buffer.name,
                                                   fill.path, problem.message()));
  return bytes;
}

Error otherCount(const Buffer &buffer, std::uint64_t given) {
  const std::uint64_t size = runtime::elementSize(buffer.scalar);
  const auto elements = [&](std::uint64_t bytes) {
    return bytes % size == 0 ? fmt::format("{}", bytes / size)
                             : fmt::format("{:.2f}", double(bytes) / double(size));
  };
  return makeError(ErrorCode::Usage,
                   fmt::format("fill {} gives {} elements of {} bytes, but extent {} is {}",
                               buffer.name, elements(given), size, buffer.name,
                               elements(buffer.bytes)),
                   "make the extent match the fill, or the fill match the extent")
      .value();
}

/// Evaluates the elements that `values(…)` or a file gives. A smaller problem takes the first of
/// them.
Status takeValues(const TuneDeclaration &declaration, const Buffer &buffer,
                  const Bindings &bindings, Fill &fill) {
  KOPT_TRY(const std::uint64_t given, givenBytes(declaration, buffer, fill));
  if (given < buffer.bytes)
    return tl::unexpected(otherCount(buffer, given));
  if (!fill.path.empty())
    return {};
  for (const std::string &text : declaration.fillValues.at(buffer.name)) {
    KOPT_TRY(const std::string element, elementOf(text, buffer, bindings));
    if (fill.bytes.size() < buffer.bytes)
      fill.bytes += element;
  }
  return {};
}

} // namespace

std::string realBytes(const std::string &scalar, double value) {
  if (scalar == "f64")
    return bytesOf(value);
  if (scalar == "f32")
    return bytesOf(float(value));
  if (scalar == "f16")
    return bytesOf(_Float16(value));
  const auto bits = std::bit_cast<std::uint32_t>(float(value));
  return scalar == "bf16" ? bytesOf(std::uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16)) : "";
}

Result<std::optional<Fill>> declaredFill(const TuneDeclaration &declaration, const Buffer &buffer,
                                         const Bindings &bindings) {
  const std::string &param = buffer.name;
  const auto declared = declaration.fills.find(param);
  if (declared == declaration.fills.end())
    return std::nullopt;
  Fill fill = declared->second;
  if (fill.kind == FillKind::Values) {
    KOPT_CHECK(takeValues(declaration, buffer, bindings, fill));
    return fill;
  }
  const auto bounds = declaration.fillBounds.find(param);
  if (bounds == declaration.fillBounds.end())
    return fill;
  for (const auto &[text, to] :
       {std::pair(bounds->second[0], &fill.low), std::pair(bounds->second[1], &fill.high)}) {
    if (text.empty())
      continue;
    auto value = evaluateExpression(text, bindings);
    if (!value) {
      value.error().context.push_back(
          fmt::format("in fill {} = {}, its bound {}", param, toString(fill.kind), text));
      return tl::unexpected(value.error());
    }
    *to = double(*value);
  }
  if (fill.low > fill.high)
    return makeError(ErrorCode::Usage,
                     fmt::format("fill {} = {}({:.17g}, {:.17g}) has an empty range", param,
                                 toString(fill.kind), fill.low, fill.high),
                     "the smaller value comes first");
  return fill;
}

Status checkAllValuesUsed(const TuneDeclaration &declaration, const Launch &launch) {
  if (declaration.launches.size() > 1)
    return {};
  for (const Buffer &buffer : launch.buffers) {
    if (buffer.fill.kind != FillKind::Values)
      continue;
    KOPT_TRY(const std::uint64_t given, givenBytes(declaration, buffer, buffer.fill));
    if (given != buffer.bytes)
      return tl::unexpected(otherCount(buffer, given));
  }
  return {};
}

} // namespace kopt
