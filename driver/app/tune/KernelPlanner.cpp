// SPDX-License-Identifier: Apache-2.0
#include "driver/app/tune/KernelPlanner.h"

#include "driver/app/ObserveFlow.h"
#include "driver/app/tune/TuneClock.h"
#include "driver/support/Text.h"

#include <fmt/format.h>

namespace kopt {

Result<KernelPlan> KernelPlanner::plan(const ExtractionResult &found, const ProveAhead &prove) {
  KernelPlan plan{settings_.selection, false};
  if (settings_.program.empty())
    return plan;
  choseKernels_ = plan.leaveOut = !selectsKernels(found, settings_.selection);
  if (settings_.dryRun && choseKernels_)
    return makeError(ErrorCode::Usage,
                     "a dry run runs no program, and its kernel times say which kernels are tuned",
                     "name them with --kernel");
  if (settings_.dryRun)
    return plan;
  std::vector<KernelInstance> candidates = instancesIn(found);
  if (choseKernels_) {
    std::erase_if(candidates, [](const KernelInstance &one) { return !one.kernel->defined; });
  } else {
    KOPT_TRY(candidates, selectInstances(found, settings_.selection));
  }
  const auto chosen =
      [&](const std::vector<KernelShare> &launched) -> Result<std::vector<std::string>> {
    KOPT_TRY(std::vector<std::string> symbols, choose(candidates, launched));
    KernelPlan soon = plan;
    soon.selection.symbols = symbols;
    prove(soon);
    return symbols;
  };
  KOPT_TRY(ProgramKernels program,
           programKernels(services_, settings_.root, settings_.program, candidates, chosen));
  seconds_ = program.seconds;
  if (choseKernels_) {
    double share = 0;
    for (const std::string &symbol : program.chosen)
      share += findShare(program.shares, symbol)->share;
    services_.terminal.line(
        fmt::format("the program launches {} kernels; tuning {}, with {} of their time",
                    program.shares.size(), program.chosen.size(), formatPercent(share)));
  }
  observed_ = std::move(program.trace);
  shares_ = std::move(program.shares);
  plan.selection.symbols = std::move(program.chosen);
  return plan;
}

Result<std::vector<std::string>>
KernelPlanner::choose(const std::vector<KernelInstance> &candidates,
                      const std::vector<KernelShare> &launched) {
  // A turn that has no time for candidates is of no use, and neither is capturing its launches.
  KOPT_TRY(choice_, choseKernels_
                        ? chooseByTime(launched, candidates, mostKernels(settings_.budget.seconds))
                        : chooseLaunched(launched, candidates));
  if (const std::string others = choice_.describeElsewhere(); !others.empty())
    services_.terminal.line("note: " + others);
  return choice_.symbols;
}

std::optional<double> KernelPlanner::shareOf(const std::string &symbol) const {
  const KernelShare *share = findShare(shares_, symbol);
  return share ? std::optional(share->share) : std::nullopt;
}

} // namespace kopt
