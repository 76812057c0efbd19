// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/context/Variation.h"

#include "driver/support/ElementType.h"

#include <algorithm>

namespace kopt {

constexpr double kLittle = 0.125; ///< part of the root mean square of a buffer's elements
constexpr double kSpread = 2;     ///< times the spread that a few repeats show

Variation::Variation(const Launch &launch, const Tolerance &tolerance, const Expected &first,
                     const std::vector<Slack> &slack)
    : launch_(launch), tolerance_(tolerance), first_(first), slack_(slack),
      mismatches_(launch.buffers.size()), apart_(launch.buffers.size(), 0.0) {}

Status Variation::add(const Expected &again) {
  for (std::size_t b = 0; !again.isKnown && b < launch_.buffers.size(); ++b) {
    const Buffer &buffer = launch_.buffers[b];
    if (buffer.readOnly || buffer.varies)
      continue;
    KOPT_TRY(const bool same, sameBytes(first_.buffers[b], again.buffers[b]));
    if (same)
      continue;
    isSame_ = false;
    KOPT_TRY(const auto mismatch,
             compareBuffers(buffer, tolerance_, first_.buffers[b], again.buffers[b],
                            b < slack_.size() ? slack_[b] : Slack{}));
    if (mismatch && mismatches_[b].empty())
      mismatches_[b] = mismatch->describe(buffer);
    KOPT_TRY(const auto most,
             largestDifference(buffer, first_.buffers[b], again.buffers[b], nullptr));
    apart_[b] = apart_[b] && most ? std::optional(std::max(*apart_[b], *most)) : std::nullopt;
  }
  return {};
}

std::optional<double> Variation::spread(std::size_t b) const {
  const bool isNumber =
      isFloating(launch_.buffers[b].scalar) && tolerance_.policy != TolerancePolicy::Strict;
  return isNumber && apart_[b] ? std::optional(kSpread * *apart_[b]) : std::nullopt;
}

Result<bool> Variation::isLittle(std::size_t b) const {
  const auto most = spread(b);
  if (!most || *most == 0)
    return most.has_value();
  KOPT_TRY(const double scale, rootMeanSquare(launch_.buffers[b], first_.buffers[b]));
  return *most <= kLittle * scale;
}

Launch inSparseOrder(Launch launch, std::uint32_t time) {
  constexpr std::uint32_t kStep = 4 << 10, kAmounts = 10;
  launch.sharedBytes += (1 + 7 * time % kAmounts) * kStep; // 7: the amounts come in turn, mixed
  return launch;
}

} // namespace kopt
