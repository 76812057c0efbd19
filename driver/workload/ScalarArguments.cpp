// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/ScalarArguments.h"

#include "driver/support/ElementType.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>

namespace kopt {
namespace {

/// As C++ spells it; empty for a value without a literal.
std::string literalOf(const std::string &scalar, const std::string &bytes) {
  if (scalar == "f32" && bytes.size() == sizeof(float)) {
    const float number = loadAs<float>(bytes.data());
    const std::string digits = fmt::format("{}", number);
    const bool isWhole = digits.find_first_of(".e") == std::string::npos;
    return std::isfinite(number) && number != 0 ? digits + (isWhole ? ".0f" : "f") : "";
  }
  if (scalar == "f64" && bytes.size() == sizeof(double)) {
    const double number = loadAs<double>(bytes.data());
    const std::string digits = fmt::format("{}", number);
    const bool isWhole = digits.find_first_of(".e") == std::string::npos;
    return std::isfinite(number) && number != 0 ? digits + (isWhole ? ".0" : "") : "";
  }
  const auto number = integerOf(scalar, bytes);
  if (!number || number == std::numeric_limits<std::int64_t>::min())
    return "";
  if (scalar == "bool")
    return *number ? "true" : "false";
  const bool isLong = bytes.size() == sizeof(std::int64_t);
  return fmt::format("{}{}", *number,
                     scalar == "u32"   ? "u"
                     : !isLong         ? ""
                     : scalar == "u64" ? "ull"
                                       : "ll");
}

} // namespace

std::optional<std::int64_t> integerOf(const std::string &scalar, const std::string &bytes) {
  const bool isSigned = scalar.starts_with("i");
  if ((!isSigned && !scalar.starts_with("u") && scalar != "bool") || bytes.empty() ||
      bytes.size() > sizeof(std::int64_t))
    return std::nullopt;
  std::int64_t number = 0;
  std::memcpy(&number, bytes.data(), bytes.size()); // the device is little-endian
  if (isSigned) {
    const int above = int(8 * (sizeof number - bytes.size()));
    return std::int64_t(std::uint64_t(number) << above) >> above;
  }
  return number < 0 ? std::nullopt : std::optional(number);
}

std::map<std::string, std::int64_t> integersOf(const Specialization &specialization,
                                               const Launch &launch) {
  std::map<std::string, std::int64_t> integers;
  for (std::size_t i = 0; i < std::min(specialization.params.size(), launch.arguments.size());
       ++i) {
    const KernelParam &param = specialization.params[i];
    const auto *value = std::get_if<ValueArg>(&launch.arguments[i]);
    if (!value || param.kind != ParamKind::Scalar || param.components != 1 ||
        !value->pointers.empty())
      continue;
    if (const auto number = integerOf(param.scalar, value->bytes))
      integers[param.name] = *number;
  }
  return integers;
}

std::vector<LaunchShape> launchShapesOf(const Specialization &specialization,
                                        const Workload &workload) {
  std::vector<LaunchShape> shapes;
  for (const Launch &launch : workload.launches) {
    LaunchShape &shape = shapes.emplace_back();
    shape.grid = {launch.grid.x, launch.grid.y, launch.grid.z};
    shape.block = {launch.block.x, launch.block.y, launch.block.z};
    shape.sharedBytes = launch.sharedBytes;
    shape.weight = launch.weight;
    const auto add = [&](std::string name, const std::string &scalar, const std::string &bytes) {
      if (std::string literal = literalOf(scalar, bytes); !literal.empty())
        shape.scalars.push_back({std::move(name), std::move(literal)});
    };
    for (std::size_t i = 0; i < std::min(specialization.params.size(), launch.arguments.size());
         ++i) {
      const KernelParam &param = specialization.params[i];
      const auto *value = std::get_if<ValueArg>(&launch.arguments[i]);
      if (!value || param.name.empty() || param.kind == ParamKind::Pointer ||
          !value->pointers.empty())
        continue;
      if (param.members.empty() && param.components == 1)
        add(param.name, param.scalar, value->bytes);
      for (const ParamMember &member : param.members)
        if (const std::size_t size = elementBytes(member.scalar);
            member.offset + size <= value->bytes.size())
          add(param.name + "." + member.name, member.scalar,
              value->bytes.substr(member.offset, size));
    }
  }
  return shapes;
}

} // namespace kopt
