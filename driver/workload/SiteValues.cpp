// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/SiteValues.h"

#include "driver/source/CandidateLaunch.h"
#include "driver/source/Expression.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <regex>
#include <utility>

namespace kopt {

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
  return isKnown ? renamed(text, names) : std::string();
}

std::optional<double> passedReal(const LaunchSite *site, std::size_t argument,
                                 const std::map<std::string, std::int64_t> &bindings) {
  static const std::regex kLiteral(R"([-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?[fFL]?)"),
      kConverted(
          R"((?:\((?:float|double)\)|(?:static_cast<)?(?:float|double)>?(?=\())\s*\(?(\w+)\)?)");
  if (!site || argument >= site->args.size())
    return std::nullopt;
  const std::string &text = site->args[argument];
  if (std::regex_match(text, kLiteral))
    return std::strtod(text.c_str(), nullptr);
  std::smatch parts;
  const auto bound =
      std::regex_match(text, parts, kConverted) ? bindings.find(parts[1].str()) : bindings.end();
  return bound == bindings.end() ? std::nullopt : std::optional(double(bound->second));
}

std::string allocatedElements(const LaunchSite *site, std::size_t argument,
                              const KernelParam &param) {
  if (!site || argument >= site->pointers.size() || !namesIn(site->pointers[argument].bytes))
    return "";
  const std::string &bytes = site->pointers[argument].bytes;
  const std::uint32_t size = std::max(1u, param.pointeeSize);
  const std::string after = fmt::format(" * {})", size), before = fmt::format("({} * ", size);
  // "(n * 4)" and "(4 * n)" are n elements of 4 bytes.
  for (const auto &[from, to] : {std::pair{std::string("("), after}, {before, std::string(")")}})
    if (bytes.size() > from.size() + to.size() && bytes.starts_with(from) && bytes.ends_with(to))
      if (std::string elements = bytes.substr(from.size(), bytes.size() - from.size() - to.size());
          namesIn(elements))
        return elements;
  return size == 1 ? bytes : fmt::format("{} / {}", bytes, size);
}

bool isNullArgument(const std::string &argument) {
  return argument == "nullptr" || argument == "NULL" || argument == "0";
}

} // namespace kopt
