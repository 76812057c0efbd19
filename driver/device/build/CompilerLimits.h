// SPDX-License-Identifier: Apache-2.0
// What a compiler may cost, whichever it is. A text that is made to be slow to compile costs a
// multiple of an honest one, the baseline's first of all; honest candidates unroll more than it
// does.
#pragma once

#include <cstddef>

namespace kopt {

inline constexpr double kTimesAsLong = 20; ///< as long as the baseline took
/// Bytes of diagnostics after which a compiler is stopped.
inline constexpr std::size_t kFloodLimit = 64u << 20;

} // namespace kopt
