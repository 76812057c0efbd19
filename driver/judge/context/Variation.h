// SPDX-License-Identifier: Apache-2.0
// How far the original's own results of a launch are apart when it runs again and again.
#pragma once

#include "driver/judge/context/CheckContext.h"

#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// Compares further results of the original with its first ones, on the same inputs.
class Variation {
public:
  /// `launch`, `first` and `slack` outlive this. `slack`: what is allowed beside the tolerance.
  Variation(const Launch &launch, const Tolerance &tolerance, const Expected &first,
            const std::vector<Slack> &slack);
  Status add(const Expected &again);

  bool isSame() const { return isSame_; } ///< so far, to the last bit
  /// The first element of a buffer that was further away than is allowed, in words; empty if none.
  const std::string &mismatch(std::size_t buffer) const { return mismatches_[buffer]; }
  /// How far a candidate's results may be from the first ones: twice as far as the original's own.
  /// Nothing if a little cannot be allowed: integers, infinities that come and go.
  std::optional<double> spread(std::size_t buffer) const;
  /// True if the spread is that of numbers that round differently, and not another result.
  Result<bool> isLittle(std::size_t buffer) const;

private:
  const Launch &launch_;
  const Tolerance tolerance_;
  const Expected &first_;
  const std::vector<Slack> &slack_;
  bool isSame_ = true;
  std::vector<std::string> mismatches_;
  std::vector<std::optional<double>> apart_; ///< nothing: not finite, or integers that differ
};

/// The launch with more shared memory than it asks for, another amount each time: fewer blocks run
/// at once on a GPU, so sums in any order take an order that only another version would.
Launch inSparseOrder(Launch launch, std::uint32_t time);

} // namespace kopt
