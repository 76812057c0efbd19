// SPDX-License-Identifier: Apache-2.0
// The integers that a launch passes by value.
#pragma once

#include "driver/model/Workload.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace kopt {

/// The value of an integer or bool from its bytes, of the scalar type `scalar`; nothing for another
/// type, or for a value beyond 64 signed bits.
std::optional<std::int64_t> integerOf(const std::string &scalar, const std::string &bytes);

/// The integers and bools among the scalar arguments, by the parameters' names.
std::map<std::string, std::int64_t> integersOf(const Specialization &specialization,
                                               const Launch &launch);

} // namespace kopt
