// SPDX-License-Identifier: Apache-2.0
// Chooses the kernels of a program that are worth tuning, by the time that the program spends in
// them.
#pragma once

#include "driver/source/Subjects.h"
#include "driver/workload/observed/LaunchClasses.h"

#include <limits>
#include <string>
#include <vector>

namespace kopt {

/// The shares, in the order of `kernels`: of all launches if no times are known.
std::vector<KernelShare> sharesOf(const std::vector<KernelUse> &kernels);

/// The shares of the time of several runs together; those of a single run as they are.
std::vector<KernelShare> sharesOfAll(const std::vector<std::vector<KernelShare>> &runs);

/// The share of a kernel, by its symbol as any compiler spells it; null if it was not launched.
const KernelShare *findShare(const std::vector<KernelShare> &shares, const std::string &symbol);

/// Kernels are chosen until they have this share of a program's kernel time.
inline constexpr double kShareOfTime = 0.8;
/// Where all candidates together have less than this share, none is tuned unasked: no gain of
/// theirs would be seen in the program.
inline constexpr double kLeastShareOfTime = 0.01;

struct KernelChoice {
  /// Chosen kernels by their symbols in the trace, the one with the most time first.
  std::vector<std::string> symbols;
  /// Kernels with a large share of the time whose source is not in the given files.
  std::vector<KernelShare> elsewhere;
  /// Kernels that would be chosen if there were time for them.
  std::vector<KernelShare> late{};
  /// `elsewhere` as one line of text; empty if there are none.
  std::string describeElsewhere() const;
};

/// The kernels that have kShareOfTime of the kernel time and are among the candidates; at least the
/// candidate with the most time, and no more than `most`. Fails with Usage if the program launched
/// none of the candidates, or if they have less than kLeastShareOfTime, naming what it launched.
Result<KernelChoice> chooseByTime(const std::vector<KernelShare> &shares,
                                  const std::vector<KernelInstance> &candidates,
                                  std::size_t most = std::numeric_limits<std::size_t>::max());

/// All candidates that were launched. Fails as chooseByTime() does.
Result<KernelChoice> chooseLaunched(const std::vector<KernelShare> &shares,
                                    const std::vector<KernelInstance> &candidates);

} // namespace kopt
