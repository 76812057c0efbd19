// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/SiteValues.h"

#include "driver/source/Expression.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {

std::string computedValue(const LaunchSite *site, std::size_t argument) {
  if (!site || argument >= site->values.size() || argument >= site->args.size() ||
      site->values[argument] == site->args[argument] || !namesIn(site->values[argument]))
    return "";
  return site->values[argument];
}

std::string allocatedElements(const LaunchSite *site, std::size_t argument,
                              const KernelParam &param) {
  if (!site || argument >= site->pointers.size() || !namesIn(site->pointers[argument].bytes))
    return "";
  const std::string &bytes = site->pointers[argument].bytes;
  const std::uint32_t size = std::max(1u, param.pointeeSize);
  const std::string times = fmt::format(" * {})", size);
  // "(n * 4)", which is n elements of 4 bytes
  if (bytes.starts_with("(") && bytes.ends_with(times))
    if (std::string elements = bytes.substr(1, bytes.size() - 1 - times.size()); namesIn(elements))
      return elements;
  return size == 1 ? bytes : fmt::format("{} / {}", bytes, size);
}

} // namespace kopt
