// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/ScalarArguments.h"

#include <algorithm>
#include <cstring>

namespace kopt {

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

} // namespace kopt
