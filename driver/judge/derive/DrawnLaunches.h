// SPDX-License-Identifier: Apache-2.0
// Launches with numbers drawn from a seed, for as many as a check asks for.
#pragma once

#include "driver/judge/derive/DerivedLaunch.h"

namespace kopt {

/// A launch with another value, drawn from `seed`, for every floating-point scalar and every
/// integer that decides no size. Nothing if there is none. `launch` is a declared launch or one
/// derived from it by scalars or sizes.
std::optional<DerivedLaunch> drawScalars(const DerivationSource &source, const Launch &launch,
                                         std::uint64_t seed);

/// A launch with other sizes, drawn from `seed`, between half and five quarters of those of
/// `launch` (of a captured launch three quarters of them and all). Nothing if no argument decides a
/// size.
std::optional<DerivedLaunch> drawSizes(const DerivationSource &source, const Launch &launch,
                                       std::uint64_t seed);

} // namespace kopt
