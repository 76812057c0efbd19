// SPDX-License-Identifier: Apache-2.0
// How long a launch that nobody declared may take.
#pragma once

#include "driver/judge/checks/CheckContext.h"
#include "driver/workload/derived/DerivedLaunches.h"

#include <algorithm>
#include <cmath>

namespace kopt {

/// Options of a run of a launch derived from the heaviest one. Its limit of instructions is that
/// one's, and where it has more threads and elements as much more as the work of a matrix product
/// grows with its elements (by their power of 1.5), times kLeniency: a candidate that keeps all
/// threads at its barriers does much where the original's return at once.
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

} // namespace kopt
