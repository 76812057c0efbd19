// SPDX-License-Identifier: Apache-2.0
#include "driver/app/tune/KernelPlanner.h"

#include "driver/app/tune/TuneClock.h"
#include "driver/source/KernelNames.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {

Result<KernelPlan> KernelPlanner::plan(const ExtractionResult &found, ProgramHost &host,
                                       const ProveAhead &prove) {
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
    if (settings_.programs.size() == 1) // others may choose more
      prove(soon);
    return symbols;
  };
  KOPT_TRY(std::vector<std::string> symbols, observe(host, candidates, chosen));
  if (choseKernels_) {
    double share = 0;
    for (const std::string &symbol : symbols)
      share += findShare(shares_, symbol)->share;
    services_.terminal.line(
        fmt::format("the program launches {} kernels; tuning {}, with {} of their time",
                    shares_.size(), symbols.size(), formatPercent(share)));
  }
  plan.selection.symbols = std::move(symbols);
  return plan;
}

Result<std::vector<std::string>>
KernelPlanner::observe(ProgramHost &host, const std::vector<KernelInstance> &candidates,
                       const ChooseKernels &choose) {
  std::vector<std::vector<KernelShare>> shares;
  std::vector<std::vector<std::string>> chosen;
  for (const std::string &command : settings_.programs) {
    KOPT_TRY(ProgramKernels program,
             programKernels(services_, host, settings_.root, command, candidates, choose));
    seconds_ += program.seconds;
    observed_.push_back({command, std::move(program.trace)});
    shares.push_back(std::move(program.shares));
    chosen.push_back(std::move(program.chosen));
  }
  shares_ = sharesOfAll(shares);
  std::vector<std::string> symbols;
  const auto isOf = [](const std::vector<std::string> &some, const std::string &symbol) {
    return std::ranges::any_of(some, [&](const auto &one) { return isSameKernel(one, symbol); });
  };
  for (const KernelShare &share : shares_)
    if (std::ranges::any_of(chosen, [&](const auto &own) { return isOf(own, share.symbol); }))
      symbols.push_back(share.symbol);
  std::erase_if(choice_.late, [&](const auto &late) { return isOf(symbols, late.symbol); });
  // What is tuned for one command has to be right and no slower in the others: its launches there
  // are wanted, too.
  for (std::size_t i = 0; i < observed_.size(); ++i) {
    if (std::ranges::all_of(symbols, [&](const std::string &symbol) {
          return isOf(chosen[i], symbol) || !findShare(shares[i], symbol);
        }))
      continue;
    std::vector<KernelInstance> tuned = candidates;
    std::erase_if(tuned, [&](const KernelInstance &one) {
      return !one.specialization || !isOf(symbols, one.specialization->symbol);
    });
    const auto launched = [&](const auto &all) {
      return chooseLaunched(all, tuned).map([](KernelChoice own) { return own.symbols; });
    };
    KOPT_TRY(ProgramKernels program, programKernels(services_, host, settings_.root,
                                                    observed_[i].command, tuned, launched));
    seconds_ += program.seconds;
    observed_[i].trace = std::move(program.trace);
  }
  return symbols;
}

Result<std::vector<std::string>>
KernelPlanner::choose(const std::vector<KernelInstance> &candidates,
                      const std::vector<KernelShare> &launched) {
  // A turn that has no time for candidates is of no use, and neither is capturing its launches.
  KOPT_TRY(KernelChoice own,
           choseKernels_ ? chooseByTime(launched, candidates, mostKernels(settings_.budget.seconds))
                         : chooseLaunched(launched, candidates));
  if (const std::string others = own.describeElsewhere(); !others.empty())
    services_.terminal.line("note: " + others);
  for (const auto list : {&KernelChoice::late, &KernelChoice::elsewhere})
    for (const KernelShare &share : own.*list)
      if (!findShare(choice_.*list, share.symbol))
        (choice_.*list).push_back(share);
  return std::move(own.symbols);
}

std::optional<double> KernelPlanner::shareOf(const std::string &symbol) const {
  const KernelShare *share = findShare(shares_, symbol);
  return share ? std::optional(share->share) : std::nullopt;
}

} // namespace kopt
