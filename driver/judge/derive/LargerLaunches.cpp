// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/derive/LargerLaunches.h"

#include "driver/judge/derive/DeriveLimits.h"
#include "driver/judge/derive/LaunchNumbers.h"
#include "driver/workload/OtherScalars.h"
#include "driver/workload/Requirements.h"

#include <algorithm>
#include <set>

namespace kopt {

std::vector<DerivedLaunch> largerLaunches(const DerivationSource &source, const Launch &launch,
                                          std::uint64_t most, std::size_t count) {
  if (isCaptured(launch))
    return {};
  using Values = LaunchNumbers::Values;
  const auto numbers = numbersOf(source, launch);
  const Requirements requirements(source.declaration);
  std::vector<Launch> made;
  const auto add = [&](std::optional<Launch> larger) {
    if (larger && !requirements.broken(larger->bindings))
      made.push_back(std::move(*larger));
  };
  for (std::int64_t factor = 2; factor <= kSixteenBits; factor *= 2)
    for (const std::int64_t more : {0, 1}) {
      Values all = numbers->sizes();
      for (auto &[name, value] : all) {
        Values one = numbers->sizes();
        one[name] = value * factor + more;
        add(numbers->within(name, std::move(one), most));
        value = value * factor + more;
      }
      if (all.size() < 2)
        continue;
      if (auto larger = numbers->with(all); larger && costOf(*larger) <= most)
        add(std::move(*larger));
    }
  std::ranges::stable_sort(made, {}, costOf);
  std::vector<DerivedLaunch> launches;
  std::set<std::string> titles;
  for (Launch &larger : made) {
    std::string title = describeIn(larger, numbers->sizes());
    if (launches.size() == count || !titles.insert(title).second)
      continue;
    launches.push_back(derivedFrom(launch, Derivation::Sizes, std::move(title), std::move(larger)));
  }
  return launches;
}

} // namespace kopt
