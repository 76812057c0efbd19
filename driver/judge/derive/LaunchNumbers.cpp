// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/derive/LaunchNumbers.h"

#include "driver/judge/derive/DeriveLimits.h"
#include "driver/workload/OtherScalars.h"

#include <algorithm>

namespace kopt {

using Values = LaunchNumbers::Values;

bool LaunchNumbers::areOther(const Values &values) const {
  return std::ranges::any_of(
      values, [&](const auto &value) { return all_.at(value.first) != value.second; });
}

Values LaunchNumbers::related(Values values) const {
  for (auto &[name, value] : values)
    if (const KernelParam *param = scalarNamed(source_, name); param && param->scalar == "bool")
      value &= 1;
  return values;
}

Values LaunchNumbers::allowed(const Values &values) const {
  return related(requirements().moved(related(values), all_, launch_.bindings));
}

Requirements LaunchNumbers::requirements() const {
  return Requirements(source_.declaration, realsOf(source_, launch_));
}

Values LaunchNumbers::shrunk(Values values, const std::string &kept, std::uint64_t most,
                             std::int64_t smallest) const {
  Values least = values;
  for (std::uint64_t cost = UINT64_MAX;;) {
    if (const auto made = with(values); made && costOf(*made) < cost) {
      cost = costOf(*made);
      least = values;
    }
    auto largest = values.end();
    for (auto it = values.begin(); it != values.end(); ++it)
      if (it->first != kept && (largest == values.end() || it->second > largest->second))
        largest = it;
    if (cost <= most || largest == values.end() || largest->second / 2 < smallest)
      return least;
    largest->second /= 2;
  }
}

std::optional<Launch> LaunchNumbers::within(const std::string &name, Values values,
                                            std::uint64_t most) const {
  for (std::int64_t least = kSmallestSize; least > 0; least /= 2) {
    for (auto &[other, value] : values)
      while (other != name && value / 2 >= least)
        value /= 2;
    if (auto made = with(values); made && costOf(*made) <= most)
      return std::move(*made);
  }
  return std::nullopt;
}

} // namespace kopt
