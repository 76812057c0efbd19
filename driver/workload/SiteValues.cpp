// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/SiteValues.h"

#include "driver/source/CandidateLaunch.h"
#include "driver/source/Expression.h"
#include "driver/source/ExpressionTree.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {

using expression::Code;
using expression::Node;

std::string computedValue(const LaunchSite *site, std::size_t argument) {
  if (!site || argument >= site->values.size() || argument >= site->args.size() ||
      site->values[argument] == site->args[argument] || !namesIn(site->values[argument]))
    return "";
  return site->values[argument];
}

std::string overParameters(const std::string &text, const LaunchSite &site,
                           const Specialization &specialization) {
  const auto names = parametersAt(site, specialization);
  const auto named = namesIn(text);
  const bool isKnown =
      named && !named->empty() &&
      std::ranges::all_of(*named, [&](const std::string &one) { return names.contains(one); });
  return isKnown ? substituted(text, names) : std::string();
}

std::optional<double> passedReal(const LaunchSite *site, std::size_t argument,
                                 const DeclaredReals &reals) {
  return site && argument < site->args.size() ? reals.evaluate(site->args[argument]) : std::nullopt;
}

std::string allocatedElements(const LaunchSite *site, std::size_t argument,
                              const KernelParam &param) {
  const std::string bytes =
      site && argument < site->pointers.size() ? site->pointers[argument].bytes : "";
  const auto parsed = Expression::parse(bytes);
  if (!parsed)
    return "";
  const std::uint32_t size = std::max(1u, param.pointeeSize);
  // "(n * 4)" and "(4 * n)" are n elements of 4 bytes.
  if (const Node &tree = parsed->tree(); tree.code == Code::Multiply)
    for (const std::size_t i : {1, 0})
      if (tree.parts[i].code == Code::Integer && tree.parts[i].integer == size)
        return printed(tree.parts[1 - i]);
  return size == 1 ? bytes : fmt::format("{} / {}", bytes, size);
}

bool isNullArgument(const std::string &argument) {
  return argument == "nullptr" || argument == "NULL" || argument == "0";
}

} // namespace kopt
