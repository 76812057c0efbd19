// SPDX-License-Identifier: Apache-2.0
#include "driver/device/profile/CounterPermission.h"

#include "driver/support/FileSystem.h"
#include "driver/support/Text.h"

#include <cstdlib>
#include <linux/capability.h>
#include <string>

namespace kopt {
namespace {

/// The value of a line "NAME: VALUE".
std::optional<std::string> valueOf(const std::string &text, const std::string &name) {
  for (const std::string &line : split(text, '\n'))
    if (line.starts_with(name + ":"))
      return std::string(trim(line.substr(name.size() + 1)));
  return std::nullopt;
}

bool isAdministrator(const std::filesystem::path &proc) {
  const auto set = valueOf(readFile(proc / "self/status").value_or(std::string()), "CapEff");
  return set && (std::strtoull(set->c_str(), nullptr, 16) >> CAP_SYS_ADMIN & 1) != 0;
}

} // namespace

std::optional<CounterPermission> counterPermission(const std::filesystem::path &proc) {
  const auto restricted = valueOf(readFile(proc / "driver/nvidia/params").value_or(std::string()),
                                  "RmProfilingAdminOnly");
  if (!restricted)
    return std::nullopt;
  if (*restricted == "0")
    return CounterPermission::Everyone;
  return isAdministrator(proc) ? CounterPermission::Administrator : CounterPermission::Denied;
}

} // namespace kopt
