// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/derive/ProgramLaunches.h"

#include "driver/judge/derive/DeriveLimits.h"
#include "driver/source/Expression.h"
#include "driver/workload/HostValues.h"
#include "driver/workload/ScalarArguments.h"
#include "driver/workload/SiteValues.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace kopt {
namespace {

std::uint64_t alignmentOf(std::uint64_t offset) {
  return offset == 0 ? kOfAllocations : std::min(kOfAllocations, offset & (~offset + 1));
}

/// 256 if it is no pointer.
std::uint64_t alignmentOf(const Launch &launch, std::size_t argument) {
  const auto *pointer = std::get_if<BufferArg>(&launch.arguments[argument]);
  return pointer ? alignmentOf(pointer->offset) : kOfAllocations;
}

} // namespace

Counterexample counterexampleOf(const Specialization &specialization, const Launch &launch) {
  Counterexample example{launch.name, integersOf(specialization, launch), {}};
  for (std::size_t i = 0; i < std::min(specialization.params.size(), launch.arguments.size()); ++i)
    if (std::holds_alternative<BufferArg>(launch.arguments[i]))
      example.alignments[specialization.params[i].name] = alignmentOf(launch, i);
  return example;
}

ProgramLaunches::ProgramLaunches(const DerivationSource &source, std::vector<Launch> own)
    : source_(source), own_(std::move(own)) {
  const auto isMadeAt = [&](const LaunchSite &site) {
    return std::ranges::any_of(
        own_, [&](const Launch &launch) { return whyNotAt(site, launch).empty(); });
  };
  for (const LaunchSite &site : source.kernel.launches)
    if (site.symbol == source.specialization.symbol && isMadeAt(site))
      sites_.push_back(&site);
}

/// Why the site does not make the launch: gives its host variables the values that the arguments
/// and the block tell, and evaluates its other expressions.
std::string ProgramLaunches::whyNotAt(const LaunchSite &site, const Launch &launch) const {
  LaunchSite bare = site; // of which only the constants count
  bare.args.clear();
  Bindings values = bindingsAtSite(source_.kernel, source_.specialization, bare, {});
  std::vector<std::pair<std::string, std::int64_t>>
      given; // expressions, and what they have to give
  const auto add = [&](const std::string &text, std::int64_t number) {
    if (!text.empty())
      given.emplace_back(text, number);
  };
  for (std::size_t axis = 0; axis < 3; ++axis) {
    add(site.block[axis], std::array{launch.block.x, launch.block.y, launch.block.z}[axis]);
    add(site.grid[axis], std::array{launch.grid.x, launch.grid.y, launch.grid.z}[axis]);
  }
  add(site.sharedBytes, launch.sharedBytes);
  const auto integers = integersOf(source_.specialization, launch);
  for (std::size_t i = 0; i < site.args.size() && i < source_.specialization.params.size(); ++i) {
    const auto number = integers.find(source_.specialization.params[i].name);
    if (number == integers.end())
      continue;
    add(site.args[i], number->second);
    // A value that a variable happens to have is no property of the launch site.
    if (const std::string computed = computedValue(&site, i); !evaluateExpression(computed, {}))
      add(computed, number->second);
  }
  for (const auto &[text, number] : given) // a variable by itself tells its value
    if (isName(text))
      values.try_emplace(text, number);
  for (const auto &[name, range] : hostRanges(given, values))
    if (range.least == range.most)
      values.try_emplace(name, range.least);
  for (const auto &[text, number] : given)
    if (const auto value = evaluateExpression(text, values); value && *value != number)
      return fmt::format("{}:{} computes {} = {}, not {}",
                         site.file.substr(site.file.rfind('/') + 1), site.line, text, *value,
                         number);
  for (const std::string &guard : site.guards)
    if (const auto value = evaluateExpression(guard, values); value && *value == 0)
      return fmt::format("{}:{} is reached only where {}",
                         site.file.substr(site.file.rfind('/') + 1), site.line, guard);
  return {};
}

/// Bytes that the site's own expression for a pointer is a multiple of.
std::uint64_t ProgramLaunches::alignmentAt(const LaunchSite &site, std::size_t argument) const {
  if (argument >= site.pointers.size() || site.pointers[argument].root.empty())
    return 1;
  const auto offset = evaluateExpression(site.pointers[argument].offset, {});
  return offset ? alignmentOf(std::uint64_t(*offset)) : 1;
}

/// Why no launch passes pointers that are aligned to so few bytes as in this launch.
std::string ProgramLaunches::whyNotAligned(const Launch &launch) const {
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    std::uint64_t least = kWidestAccess;
    for (const Launch &own : own_)
      if (i < own.arguments.size())
        least = std::min(least, alignmentOf(own, i));
    for (const LaunchSite *site : sites_)
      if (std::holds_alternative<BufferArg>(launch.arguments[i]))
        least = std::min(least, alignmentAt(*site, i));
    if (alignmentOf(launch, i) < least)
      return fmt::format("every launch of the program, and every launch site, passes '{}' aligned "
                         "to {} bytes or more",
                         source_.specialization.params[i].name, least);
  }
  return {};
}

std::vector<std::string> ProgramLaunches::requirements() const {
  std::vector<std::string> common;
  for (const LaunchSite *site : sites_) {
    std::vector<std::string> here;
    for (const std::string &guard : site->guards)
      if (std::string text = overParameters(guard, *site, source_.specialization); !text.empty())
        here.push_back(std::move(text));
    if (site == sites_.front())
      common = std::move(here);
    else
      std::erase_if(common, [&](const std::string &one) {
        return std::ranges::find(here, one) == here.end();
      });
  }
  return common;
}

std::string ProgramLaunches::whyNot(const Launch &launch) const {
  if (sites_.empty())
    return {};
  std::string why;
  for (const LaunchSite *site : sites_)
    if (why = whyNotAt(*site, launch); why.empty())
      return whyNotAligned(launch);
  return "no launch site makes it: " + why;
}

} // namespace kopt
