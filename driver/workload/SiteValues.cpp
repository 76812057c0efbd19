// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/SiteValues.h"

#include "driver/source/CandidateLaunch.h"
#include "driver/source/Expression.h"
#include "driver/source/ExpressionTree.h"

#include <algorithm>
#include <fmt/format.h>
#include <variant>
#include <vector>

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
                                 const std::map<std::string, std::int64_t> &bindings) {
  const auto parsed =
      Expression::parse(site && argument < site->args.size() ? site->args[argument] : "");
  if (!parsed)
    return std::nullopt;
  const Node &tree = parsed->tree(), &value = tree.parts.empty() ? tree : tree.parts[0];
  std::vector<MixedNumber> numbers;
  for (const std::string &name : parsed->names())
    if (const auto bound = bindings.find(name); bound != bindings.end() && tree.type.real)
      numbers.push_back(bound->second);
  if (!value.parts.empty() || numbers.size() < parsed->names().size())
    return std::nullopt;
  const auto number = parsed->evaluateMixed(numbers);
  return number ? std::visit([](auto known) { return std::optional(double(known)); }, *number)
                : std::nullopt;
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
