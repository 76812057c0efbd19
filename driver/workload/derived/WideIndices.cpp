// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/derived/WideIndices.h"

#include "driver/workload/derived/CapturedNumbers.h"
#include "driver/workload/derived/LaunchFamily.h"
#include "driver/workload/derived/OtherScalars.h"
#include "runtime/runner/StructType.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <set>

namespace kopt {
namespace {

using Values = std::map<std::string, std::int64_t>;
using Make = std::function<std::optional<Launch>(const Values &)>;

std::uint64_t mostElements(const Launch &launch) {
  std::uint64_t most = 0;
  for (const Buffer &buffer : launch.buffers) {
    const auto type = runtime::StructType::parse(buffer.scalar);
    most = std::max(most, buffer.bytes / (type ? type->bytes : elementBytes(buffer.scalar)));
  }
  return most;
}

/// The largest value of a parameter's type; 0 if it is no integer of 32 or 64 bits.
std::int64_t largestOf(const std::string &scalar) {
  if (scalar == "i32")
    return std::numeric_limits<std::int32_t>::max();
  if (scalar == "u32")
    return std::numeric_limits<std::uint32_t>::max();
  return scalar == "i64" || scalar == "u64" ? std::int64_t(1) << 40 : 0;
}

bool isLaunched(const Launch &launch) {
  constexpr std::uint32_t kMostX = 0x7fffffff, kMostOther = 65535;
  return launch.block.count() > 0 && launch.grid.count() > 0 && launch.grid.x <= kMostX &&
         launch.grid.y <= kMostOther && launch.grid.z <= kMostOther;
}

/// Raises the sizes of one value until there are enough elements.
std::optional<DerivedLaunch> raised(const DerivationSource &source, const Values &sizes,
                                    std::int64_t value, const Make &make) {
  Values wide;
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const auto &[name, of] : sizes)
    if (of == value) {
      const KernelParam *param = scalarNamed(source, name);
      most = std::min(most, param ? largestOf(param->scalar) : 0);
      wide[name] = of;
    }
  const auto madeWith = [&](std::int64_t to) {
    for (auto &[name, of] : wide)
      of = to;
    return make(wide);
  };
  std::optional<Launch> made;
  for (std::int64_t to = value; to <= most / 2 && !made;) {
    to *= 2;
    made = madeWith(to);
    if (!made)
      return std::nullopt;
    if (const std::uint64_t elements = mostElements(*made); elements < kWideElements)
      made.reset();
    else if (const double share = double(kWideElements) / double(elements);
             auto fewer = madeWith(std::int64_t(std::ceil(double(to) * share))))
      made = mostElements(*fewer) >= kWideElements ? std::move(fewer) : madeWith(to);
  }
  if (!made || !isLaunched(*made) || brokenRequirement(source, *made, made->bindings))
    return std::nullopt;
  for (auto &[name, value] : wide) // a requirement may have moved it
    if (const auto bound = made->bindings.find(name); bound != made->bindings.end())
      value = bound->second;
  std::string title = describe(wide);
  made->name += fmt::format(" ({})", title);
  return DerivedLaunch{Derivation::Sizes, std::move(title), std::move(*made)};
}

} // namespace

std::vector<DerivedLaunch> wideIndexLaunches(const DerivationSource &source, const Launch &launch) {
  std::vector<DerivedLaunch> launches;
  const auto addFor = [&](const Values &sizes, const Make &make) {
    std::set<std::int64_t, std::greater<>> values;
    for (const auto &[name, value] : sizes)
      if (value > 0)
        values.insert(value);
    for (const std::int64_t value : values)
      if (auto made = raised(source, sizes, value, make))
        launches.push_back(std::move(*made));
  };
  if (!isCaptured(launch)) {
    const LaunchFamily family(source, launch);
    addFor(family.sizes(), [&](const Values &wide) -> std::optional<Launch> {
      Values values = family.sizes();
      for (const auto &[name, value] : wide)
        values[name] = value;
      auto made = family.with(family.allowed(values, family.sizes()));
      return made ? std::optional(std::move(*made)) : std::nullopt;
    });
    return launches;
  }
  const CapturedNumbers numbers(source, launch);
  Values deciding;
  for (const std::string &name : numbers.deciding())
    deciding[name] = numbers.sizes().at(name);
  if (numbers.unknownInBlock().empty())
    addFor(deciding,
           [&](const Values &wide) { return numbers.inProportion(numbers.allowed(wide)); });
  return launches;
}

} // namespace kopt
