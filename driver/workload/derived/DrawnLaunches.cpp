// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/derived/DrawnLaunches.h"

#include "driver/support/Hash.h"
#include "driver/workload/derived/CapturedNumbers.h"
#include "driver/workload/derived/LaunchFamily.h"
#include "driver/workload/derived/OtherScalars.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {
namespace {

/// For a captured launch: each size becomes between three quarters of itself and itself.
std::optional<DerivedLaunch> drawCapturedSizes(const DerivationSource &source, const Launch &launch,
                                               std::uint64_t seed) {
  const CapturedNumbers numbers(source, launch);
  if (numbers.sizes().empty() || !numbers.unknownInBlock().empty())
    return std::nullopt;
  const Values drawn = numbers.allowed(each(numbers.sizes(), [&](std::int64_t value) {
    return value - std::int64_t(mixed(seed, std::uint64_t(value)) % std::uint64_t(value / 4 + 1));
  }));
  Launch made = numbers.with(drawn);
  if (made.threads() == 0)
    return std::nullopt;
  made.name = fmt::format("{} ({})", launch.name, describe(drawn));
  return DerivedLaunch{{}, Derivation::Sizes, describe(drawn), std::move(made)};
}

} // namespace

std::optional<DerivedLaunch> drawScalars(const DerivationSource &source, const Launch &launch,
                                         std::uint64_t seed) {
  const LaunchFamily family(source, launch);
  LaunchFamily::Values drawn;
  for (const auto &[name, value] : family.others()) { // smaller about as often as larger
    const std::uint64_t random = mixed(seed, 100 + drawn.size());
    const std::vector<std::int64_t> modes = modesOf(source, name);
    drawn[name] = family.inRange(
        name, !modes.empty() && random % 2 == 0
                  ? modes[random / 2 % modes.size()]
                  : std::int64_t(random % std::uint64_t(2 * std::max<std::int64_t>(0, value) + 3)));
  }
  Launch base = launch;
  if (!drawn.empty())
    if (auto made = family.with(drawn)) {
      base = std::move(*made);
      base.name = fmt::format("{} ({})", launch.name, describe(drawn));
    }
  auto scaled = scaledScalars(source, base, [&](std::size_t index) {
    return 0.25 +
           1.5 * double(mixed(seed, index) >> 11) * 0x1p-53; // of the same sign and magnitude
  });
  if (scaled || drawn.empty())
    return scaled;
  return DerivedLaunch{{}, Derivation::Scalars, describe(drawn), std::move(base)};
}

std::optional<DerivedLaunch> drawSizes(const DerivationSource &source, const Launch &launch,
                                       std::uint64_t seed) {
  if (isCaptured(launch))
    return drawCapturedSizes(source, launch, seed);
  const LaunchFamily family(source, launch);
  const LaunchFamily::Values sizes = family.sizes();
  // All sizes, or one alone: the contents may fit only the other sizes.
  const bool isOneAlone = sizes.size() > 1 && mixed(seed, 200) % 2 == 1;
  const std::uint64_t chosen = mixed(seed, 201) % std::max<std::size_t>(1, sizes.size());
  LaunchFamily::Values drawn;
  for (const auto &[name, value] : sizes) {
    if (isOneAlone && drawn.size() != chosen) {
      drawn[name] = value;
      continue;
    }
    const std::int64_t least = std::max<std::int64_t>(1, value / 2),
                       most = std::max(least, value + value / 4);
    drawn[name] = least + std::int64_t(mixed(seed, drawn.size()) % std::uint64_t(most - least + 1));
  }
  if (drawn.empty())
    return std::nullopt;
  drawn = family.allowed(std::move(drawn), sizes);
  auto made = family.with(drawn);
  if (!made)
    return std::nullopt;
  made->name = fmt::format("{} ({})", launch.name, describe(drawn));
  return DerivedLaunch{{}, Derivation::Sizes, describe(drawn), std::move(*made)};
}

} // namespace kopt
