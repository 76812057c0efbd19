// SPDX-License-Identifier: Apache-2.0
// The scalars that a launch passes by value.
#pragma once

#include "clang_plugin/output/Variants.h"
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

/// The launches as a rewrite sees them: geometry, weight, and the scalars and the members of
/// structs that a literal can spell. Numbers that are not finite have none; neither has a zero that
/// is no integer, since -0.0 equals it.
std::vector<LaunchShape> launchShapesOf(const Specialization &specialization,
                                        const Workload &workload);

} // namespace kopt
