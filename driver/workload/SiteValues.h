// SPDX-License-Identifier: Apache-2.0
// What the launching function says of the arguments that it passes.
#pragma once

#include "driver/model/KernelSpec.h"
#include "driver/workload/DeclaredReals.h"

#include <cstddef>
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

/// The number that the launch site passes; nothing if it is not known, or if `site` is null.
std::optional<double> passedReal(const LaunchSite *site, std::size_t argument,
                                 const DeclaredReals &reals);

/// How many elements the launching function allocates for a pointer: an expression over numbers and
/// variables of the launch site. Empty if that is not known, or if `site` is null.
std::string allocatedElements(const LaunchSite *site, std::size_t argument,
                              const KernelParam &param);

/// True if the text of a launch site's argument is a null pointer.
bool isNullArgument(const std::string &argument);

} // namespace kopt
