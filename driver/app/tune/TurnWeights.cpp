// SPDX-License-Identifier: Apache-2.0
#include "driver/app/tune/TurnWeights.h"

#include <algorithm>

namespace kopt {

/// A kernel that was not profiled yet could be twice as fast: in between those that are at a roof
/// and those that waste most of what they do.
constexpr double kUnknownHeadroom = 2;

/// So little is always left: where it is true of all kernels, they share the time all the same.
constexpr double kLeastHeadroom = 1.01;

TurnWeights::TurnWeights(const std::vector<std::optional<double>> &shares)
    : headrooms_(shares.size(), 0) {
  for (const std::optional<double> &share : shares)
    shares_.push_back(share.value_or(1.0));
}

void TurnWeights::learn(std::size_t kernel, double headroom) {
  if (headroom > 0)
    headrooms_.at(kernel) = std::max(kLeastHeadroom, headroom);
}

double TurnWeights::of(std::size_t kernel) const {
  return shares_.at(kernel) * (1 - 1 / (isKnown(kernel) ? headrooms_[kernel] : kUnknownHeadroom));
}

double TurnWeights::from(std::size_t kernel) const {
  double weights = 0;
  for (std::size_t i = kernel; i < shares_.size(); ++i)
    weights += of(i);
  return weights;
}

} // namespace kopt
