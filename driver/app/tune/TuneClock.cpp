// SPDX-License-Identifier: Apache-2.0
#include "driver/app/tune/TuneClock.h"

#include <algorithm>
#include <limits>

namespace kopt {
namespace {

/// Before a baseline was measured, it is assumed to take kUnknownBaseline seconds (typical on a
/// GPU), or kBaselinePerExtraction times the time that proving the slices took if that is more. A
/// kernel's turn gets at least kTurnPerBaseline times a baseline's time, and does not begin if less
/// than kLeastTurnPerBaseline times is left.
constexpr double kUnknownBaseline = 4, kBaselinePerExtraction = 0.5, kTurnPerBaseline = 3,
                 kLeastTurnPerBaseline = 1.5, kLeastTurn = 2 * kUnknownBaseline;

/// The seconds of a turn for which no time is left: 0 would be no limit.
constexpr double kNoTime = 1e-3;

} // namespace

void TuneClock::beginBudget(double seconds, bool withPrograms) {
  budget_.emplace(clock_, seconds);
  if (withPrograms)
    budget_->reserve(std::min(kToBuildPrograms, kMostToBuild * seconds));
}

bool TuneClock::beginTurn(double weight, double weights, double extraction, bool isFirst) {
  spent_.clear();
  turnStart_ = clock_.now();
  turnProgram_ = programSeconds_;
  // The first kernels get the most time, because a turn without time for candidates is useless.
  const double baseline =
      quickestBaseline_.value_or(std::max(kUnknownBaseline, kBaselinePerExtraction * extraction));
  const double share = budget_->shareOf(weight, weights, kTurnPerBaseline * baseline);
  turnLimit_ = limit() > 0 ? std::max(kNoTime, share) : 0;
  return isFirst || left() >= kLeastTurnPerBaseline * quickestBaseline_.value_or(0);
}

void TuneClock::shareAgain(double weight, double weights) {
  if (limit() <= 0)
    return;
  const double used = turnUsed(),
               fewest = kTurnPerBaseline * quickestBaseline_.value_or(kUnknownBaseline) - used;
  turnLimit_ = std::max(kNoTime, used + budget_->shareOf(weight, weights, std::max(0.0, fewest)));
}

double TuneClock::turnUsed() const {
  return Duration(clock_.now() - turnStart_).count() - (programSeconds_ - turnProgram_);
}

std::function<double()> TuneClock::turnLeft() const {
  if (turnLimit_ <= 0)
    return {};
  return [this] { return turnLimit_ - turnUsed(); };
}

std::size_t mostKernels(double seconds) {
  return seconds > 0 ? std::max<std::size_t>(1, std::size_t(seconds / kLeastTurn))
                     : std::numeric_limits<std::size_t>::max();
}

} // namespace kopt
