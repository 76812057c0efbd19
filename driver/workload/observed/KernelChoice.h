// SPDX-License-Identifier: Apache-2.0
// Which kernels of a program are worth tuning, by the time that the program spends in them.
#pragma once

#include "driver/model/Fields.h"
#include "driver/source/Subjects.h"
#include "driver/workload/observed/LaunchClasses.h"

#include <string>
#include <vector>

namespace kopt {

/// A kernel's part in what a program launched.
struct KernelShare {
  std::string symbol;
  std::uint64_t launches = 0;
  double seconds = 0;
  double share = 0; ///< of the time of all kernels; of all launches where no times are known
};
KOPT_FIELDS(KernelShare, symbol, launches, seconds, share)

/// In the order of the kernels.
std::vector<KernelShare> sharesOf(const std::vector<KernelUse> &kernels);

/// The share of a kernel, by its symbol as any compiler spells it; null where it was not launched.
const KernelShare *findShare(const std::vector<KernelShare> &shares, const std::string &symbol);

/// Kernels are taken until they have this part of a program's kernel time.
inline constexpr double kShareOfTime = 0.8;

struct KernelChoice {
  /// Launched ones, the one with the most time first, by their symbols in the trace.
  std::vector<std::string> symbols;
  /// Those among the kernels with most of the time whose source is not in the files.
  std::vector<KernelShare> elsewhere;
  /// In one line for people; empty where there are none.
  std::string describeElsewhere() const;
};

/// The kernels that have kShareOfTime of the kernel time, as far as they are among the candidates;
/// at least the one of the candidates that has the most. Fails with Usage where the program
/// launched none of them, naming what it launched.
Result<KernelChoice> chooseByTime(const std::vector<KernelShare> &shares,
                                  const std::vector<KernelInstance> &candidates);

/// All candidates that were launched. Fails as chooseByTime() does.
Result<KernelChoice> chooseLaunched(const std::vector<KernelShare> &shares,
                                    const std::vector<KernelInstance> &candidates);

} // namespace kopt
