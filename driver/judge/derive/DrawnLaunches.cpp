// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/derive/DrawnLaunches.h"

#include "driver/judge/derive/LaunchNumbers.h"
#include "driver/support/Hash.h"
#include "driver/workload/OtherScalars.h"

#include <algorithm>

namespace kopt {
namespace {

using Values = LaunchNumbers::Values;

/// All sizes, or one alone: the contents may fit only the other sizes.
Values drawnOf(const Values &sizes, std::uint64_t seed) {
  const bool isOneAlone = sizes.size() > 1 && mixed(seed, 200) % 2 == 1;
  const std::uint64_t chosen = mixed(seed, 201) % std::max<std::size_t>(1, sizes.size());
  Values drawn;
  for (const auto &[name, value] : sizes) {
    const std::int64_t least = std::max<std::int64_t>(1, value / 2),
                       most = std::max(least, value + value / 4);
    const std::uint64_t random = mixed(seed, drawn.size());
    drawn[name] = isOneAlone && drawn.size() != chosen
                      ? value
                      : least + std::int64_t(random % std::uint64_t(most - least + 1));
  }
  return drawn;
}

} // namespace

std::optional<DerivedLaunch> drawScalars(const DerivationSource &source, const Launch &launch,
                                         std::uint64_t seed) {
  const auto numbers = numbersOf(source, launch);
  Values drawn;
  if (!isCaptured(launch))
    for (const auto &[name, value] : numbers->others()) { // smaller about as often as larger
      const std::uint64_t random = mixed(seed, 100 + drawn.size());
      const std::vector<std::int64_t> modes = modesOf(source, name);
      const bool isMode = !modes.empty() && random % 2 == 0;
      const auto most = std::uint64_t(2 * std::max<std::int64_t>(0, value) + 3);
      drawn[name] = isMode ? std::max<std::int64_t>(0, modes[random / 2 % modes.size()])
                           : std::int64_t(random % most);
    }
  drawn = numbers->related(std::move(drawn));
  const std::string title = describe(drawn);
  Launch base = launch;
  if (auto made = numbers->with(drawn); made && !drawn.empty())
    base = derivedFrom(launch, Derivation::Scalars, title, std::move(*made)).launch;
  const std::string scaled = scaleScalars(source, base, [&](std::size_t index) {
    return 0.25 +
           1.5 * double(mixed(seed, index) >> 11) * 0x1p-53; // of the same sign and magnitude
  });
  if (!scaled.empty())
    return derivedFrom(base, Derivation::Scalars, scaled, base);
  return drawn.empty() ? std::nullopt
                       : std::optional(DerivedLaunch{{}, Derivation::Scalars, title, base});
}

std::optional<DerivedLaunch> drawSizes(const DerivationSource &source, const Launch &launch,
                                       std::uint64_t seed) {
  const auto numbers = numbersOf(source, launch);
  if (!numbers->whySizesStay().empty())
    return std::nullopt;
  Values drawn = numbers->sizes();
  if (isCaptured(launch))
    for (auto &[name, value] : drawn) // equal sizes stay equal
      value = std::max(
          std::min<std::int64_t>(1, value),
          value - std::int64_t(mixed(seed, std::uint64_t(value)) % std::uint64_t(value / 4 + 1)));
  else
    drawn = drawnOf(drawn, seed);
  drawn = numbers->allowed(drawn);
  auto made = numbers->with(drawn);
  if (!made)
    return std::nullopt;
  return derivedFrom(launch, Derivation::Sizes, describe(drawn), std::move(*made));
}

} // namespace kopt
