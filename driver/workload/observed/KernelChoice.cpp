// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/observed/KernelChoice.h"

#include "driver/source/KernelNames.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {
namespace {

constexpr std::size_t kMostNamed = 8; ///< kernels named in a message

bool isAmong(const std::vector<KernelInstance> &candidates, const std::string &symbol) {
  return std::ranges::any_of(candidates, [&](const KernelInstance &candidate) {
    return candidate.specialization && isSameKernel(candidate.specialization->symbol, symbol);
  });
}

/// "scale (62.0%), void cub::reduce<...> (20.1%) and 3 more"
std::string namesOf(const std::vector<KernelShare> &shares) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(shares.size(), kMostNamed); ++i)
    names.push_back(
        fmt::format("{} ({})", kernelName(shares[i].symbol), formatPercent(shares[i].share)));
  return join(names, ", ") + (shares.size() > kMostNamed
                                  ? fmt::format(" and {} more", shares.size() - kMostNamed)
                                  : "");
}

tl::unexpected<Error> noneLaunched(const std::vector<KernelShare> &shares,
                                   const std::vector<KernelInstance> &candidates) {
  std::vector<std::string> names;
  for (const KernelInstance &candidate : candidates)
    if (const std::string &name = candidate.specialization ? candidate.specialization->expression
                                                           : candidate.kernel->name;
        std::ranges::find(names, name) == names.end())
      names.push_back(name);
  if (names.size() > kMostNamed) {
    const std::size_t more = names.size() - kMostNamed;
    names.resize(kMostNamed);
    names.push_back(fmt::format("{} more", more));
  }
  return makeError(
      ErrorCode::Usage,
      fmt::format("the program launched none of the kernels: {}", join(names, ", ")),
      fmt::format("it launched: {}; give the files that define them, or arguments with "
                  "which the program launches yours",
                  namesOf(shares)));
}

/// The error where the candidates have next to no time.
tl::unexpected<Error> notWorthIt(const KernelChoice &choice, double share) {
  return makeError(
      ErrorCode::Usage,
      fmt::format("the kernels of the given files have {} of the program's kernel time",
                  formatPercent(share)),
      fmt::format("its time goes to {}; give the files that define them, or select a kernel "
                  "nevertheless: --kernel '{}'",
                  namesOf(choice.elsewhere), kernelName(choice.symbols.front())));
}

} // namespace

std::vector<KernelShare> sharesOf(const std::vector<KernelUse> &kernels) {
  std::vector<KernelShare> shares(kernels.begin(), kernels.end());
  double launches = 0, seconds = 0;
  for (const KernelUse &use : kernels) {
    launches += double(use.launches);
    seconds += use.seconds;
  }
  if (seconds <= 0 && launches > 0)
    for (KernelShare &share : shares)
      share.share = double(share.launches) / launches;
  return shares;
}

std::vector<KernelShare> sharesOfAll(const std::vector<std::vector<KernelShare>> &runs) {
  if (runs.size() == 1)
    return runs.front();
  std::vector<KernelUse> all;
  double seconds = 0;
  for (const std::vector<KernelShare> &run : runs)
    for (const KernelShare &share : run) {
      auto known = std::ranges::find_if(
          all, [&](const KernelUse &use) { return isSameKernel(use.symbol, share.symbol); });
      if (known == all.end())
        known = all.insert(known, KernelUse{{share.symbol}});
      known->launches += share.launches;
      seconds += share.seconds;
      known->seconds += share.seconds;
    }
  for (KernelUse &use : all)
    use.share = seconds > 0 ? use.seconds / seconds : 0;
  std::vector<KernelShare> shares = sharesOf(all);
  std::ranges::stable_sort(shares, std::greater(), &KernelShare::share);
  return shares;
}

const KernelShare *findShare(const std::vector<KernelShare> &shares, const std::string &symbol) {
  const auto found = std::ranges::find_if(
      shares, [&](const KernelShare &share) { return isSameKernel(share.symbol, symbol); });
  return found == shares.end() ? nullptr : &*found;
}

std::string KernelChoice::describeElsewhere() const {
  if (elsewhere.empty())
    return {};
  return "not in the given files, so not tuned: " + namesOf(elsewhere);
}

Result<KernelChoice> chooseByTime(const std::vector<KernelShare> &shares,
                                  const std::vector<KernelInstance> &candidates, std::size_t most) {
  KernelChoice choice;
  double covered = 0;
  for (const KernelShare &share : shares) {
    const bool isEnough = covered >= kShareOfTime;
    if (isEnough && !choice.symbols.empty())
      break;
    covered += share.share;
    if (!isAmong(candidates, share.symbol)) {
      if (!isEnough)
        choice.elsewhere.push_back(share);
    } else if (choice.symbols.size() < most) {
      choice.symbols.push_back(share.symbol);
    } else {
      choice.late.push_back(share);
    }
  }
  if (choice.symbols.empty())
    return noneLaunched(shares, candidates);
  double own = 0; // of all candidates, chosen or not
  for (const KernelShare &share : shares)
    own += isAmong(candidates, share.symbol) ? share.share : 0;
  if (own < kLeastShareOfTime)
    return notWorthIt(choice, own);
  return choice;
}

Result<KernelChoice> chooseLaunched(const std::vector<KernelShare> &shares,
                                    const std::vector<KernelInstance> &candidates) {
  KernelChoice choice;
  for (const KernelShare &share : shares)
    if (isAmong(candidates, share.symbol))
      choice.symbols.push_back(share.symbol);
  if (choice.symbols.empty())
    return noneLaunched(shares, candidates);
  return choice;
}

} // namespace kopt
