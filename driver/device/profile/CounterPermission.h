// SPDX-License-Identifier: Apache-2.0
// Whether the NVIDIA driver lets this process read hardware counters.
#pragma once

#include <filesystem>
#include <optional>

namespace kopt {

/// What to do where it does not.
inline constexpr const char *kAllowCounters =
    "an administrator can allow them with the module option "
    "NVreg_RestrictProfilingToAdminUsers=0 of the nvidia driver, or run kopt with CAP_SYS_ADMIN";

enum class CounterPermission {
  Everyone,
  Administrator, ///< administrators alone, and this process is one
  Denied,
};

/// What the driver's parameters and the capabilities of this process say, both read below `proc`.
/// Nothing where they are not there: there is no NVIDIA driver, or it does not show them.
std::optional<CounterPermission> counterPermission(const std::filesystem::path &proc = "/proc");

} // namespace kopt
