// SPDX-License-Identifier: Apache-2.0
// What the launching function says of the arguments that it passes.
#pragma once

#include "driver/model/KernelSpec.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace kopt {

/// An integer argument as the launching function computes it from other numbers; empty if it does
/// not, or if `site` is null.
std::string computedValue(const LaunchSite *site, std::size_t argument);

/// An expression of the launch site over the kernel's parameters; empty if it names none, or
/// anything else.
std::string overParameters(const std::string &text, const LaunchSite &site,
                           const Specialization &specialization);

/// A real number that the launch site passes as a literal ("0.5f") or as an integer of a known
/// value
/// ("(float)n"); nothing if it passes anything else, or if `site` is null.
std::optional<double> passedReal(const LaunchSite *site, std::size_t argument,
                                 const std::map<std::string, std::int64_t> &bindings);

/// How many elements the launching function allocates for a pointer: an expression over numbers and
/// variables of the launch site. Empty if that is not known, or if `site` is null.
std::string allocatedElements(const LaunchSite *site, std::size_t argument,
                              const KernelParam &param);

/// True if the text of a launch site's argument is a null pointer.
bool isNullArgument(const std::string &argument);

} // namespace kopt
