// SPDX-License-Identifier: Apache-2.0
// Run options of derived launches, and which of them are too much for the emulated device.
#pragma once

#include "driver/judge/context/CheckContext.h"
#include "driver/judge/derive/DerivedLaunch.h"
#include "driver/judge/replays/ReplayLimits.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <string>

namespace kopt {

/// Options for running a launch derived from the heaviest one. Its instruction limit is that of the
/// heaviest launch. If it has more threads and elements, the limit grows by growth^1.5, as the work
/// of a matrix product does with its elements, times kLeniency: a candidate that keeps all threads
/// at its barriers may do much work where the original's threads return at once.
constexpr double kLeniency = 16;
inline RunOptions derivedOptions(const CheckContext &context, const Launch &launch,
                                 std::uint64_t inputSeed, std::uint64_t poisonSeed,
                                 std::string slot) {
  RunOptions options = context.options(inputSeed, poisonSeed, context.heaviest(), std::move(slot));
  const double growth =
      double(costOf(launch)) /
      double(std::max<std::uint64_t>(1, costOf(context.baseline().launches[context.heaviest()])));
  if (growth > 1)
    options.instructionLimit =
        std::uint64_t(double(options.instructionLimit) * kLeniency * std::pow(growth, 1.5));
  return options;
}

/// Why the emulated device cannot run the candidate's own launch, which has very many more threads
/// than the original's; empty if it can.
inline std::string whyTooManyThreads(const CheckContext &context, const Launch &original,
                                     const Launch &own) {
  return context.runner().device().modelled && own.threads() > kMostThreads &&
                 own.threads() > kTimesOriginal * original.threads()
             ? fmt::format("the candidate launches {} threads for it, and the original {}",
                           own.threads(), original.threads())
             : std::string();
}

} // namespace kopt
