// SPDX-License-Identifier: Apache-2.0
// What the launching function says of the arguments that it passes.
#pragma once

#include "clang_plugin/output/Extraction.h"

#include <cstddef>
#include <string>

namespace kopt {

/// An integer argument as the launching function computes it from other numbers; empty if it does
/// not, or if `site` is null.
std::string computedValue(const LaunchSite *site, std::size_t argument);

/// How many elements the launching function allocates for a pointer: an expression over numbers and
/// variables of the launch site. Empty if that is not known, or if `site` is null.
std::string allocatedElements(const LaunchSite *site, std::size_t argument,
                              const KernelParam &param);

} // namespace kopt
