// SPDX-License-Identifier: Apache-2.0
// Limits for all compilers. Text that is written to be slow to compile takes many times as long as
// the baseline; ordinary candidates may take longer than the baseline, too, as they unroll more.
#pragma once

#include <cstddef>

namespace kopt {

inline constexpr double kTimesAsLong = 20; ///< limit relative to the baseline's compilation
/// A compiler is stopped after this many bytes of diagnostics.
inline constexpr std::size_t kFloodLimit = 64u << 20;

} // namespace kopt
