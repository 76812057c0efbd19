// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/derived/LargerLaunches.h"

#include "driver/workload/Requirements.h"
#include "driver/workload/derived/LaunchFamily.h"
#include "driver/workload/derived/OtherScalars.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace kopt {
namespace {

using Values = LaunchFamily::Values;

constexpr std::int64_t kMostFactor = 1 << 16;

} // namespace

std::vector<DerivedLaunch> largerLaunches(const DerivationSource &source, const Launch &launch,
                                          std::uint64_t most, std::size_t count) {
  const LaunchFamily family(source, launch);
  const Requirements requirements(source.declaration);
  std::vector<Launch> made;
  const auto add = [&](std::optional<Launch> larger) {
    if (larger && !requirements.broken(larger->bindings))
      made.push_back(std::move(*larger));
  };
  for (std::int64_t factor = 2; factor <= kMostFactor; factor *= 2)
    for (const std::int64_t more : {0, 1}) {
      Values all = family.sizes();
      for (auto &[name, value] : all) {
        Values one = family.sizes();
        one[name] = value * factor + more;
        add(family.within(name, std::move(one), most));
        value = value * factor + more;
      }
      if (all.size() < 2)
        continue;
      if (auto larger = family.with(all); larger && costOf(*larger) <= most)
        add(std::move(*larger));
    }
  std::ranges::stable_sort(made, {}, costOf);
  std::vector<DerivedLaunch> launches;
  std::set<std::string> titles;
  for (Launch &larger : made) {
    std::string title = describeIn(larger, family.sizes());
    if (launches.size() == count || !titles.insert(title).second)
      continue;
    larger.name = fmt::format("{} ({})", launch.name, title);
    launches.push_back({{}, Derivation::Sizes, std::move(title), std::move(larger)});
  }
  return launches;
}

} // namespace kopt
