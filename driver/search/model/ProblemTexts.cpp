// SPDX-License-Identifier: Apache-2.0
#include "driver/search/model/PromptSections.h"
#include "driver/search/model/SectionTexts.h"
#include "driver/support/Text.h"
#include "driver/workload/OtherScalars.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ranges>

namespace kopt {
namespace {

std::string dims(const Dim3 &dim) { return fmt::format("({}, {}, {})", dim.x, dim.y, dim.z); }

std::string geometryText(const std::array<std::string, 3> &grid,
                         const std::array<std::string, 3> &block, const std::string &sharedBytes) {
  return fmt::format("grid ({}), block ({}), dynamic shared memory {}", fmt::join(grid, ", "),
                     fmt::join(block, ", "), sharedBytes);
}

/// What the source says of launches: the user's clauses, the program's own checks, and who else is
/// compiled from the same text.
std::string declaredText(const SearchProblem &problem) {
  std::string text;
  const KernelSpec &kernel = problem.kernel;
  for (const TuneClause &clause : kernel.clauses)
    text += "- the user declares: " + clause.text + "\n";
  for (const LaunchSite &site : kernel.launches)
    if (site.symbol == problem.specialization.symbol)
      for (const std::string &guard : site.guards)
        text += "- holds where the program launches it: " + guard + "\n";
  for (const Specialization &other : kernel.specializations) {
    if (other.symbol == problem.specialization.symbol)
      continue;
    text += "- the same text is also compiled as " + other.expression;
    const auto site = std::ranges::find(kernel.launches, other.symbol, &LaunchSite::symbol);
    if (site != kernel.launches.end() && site->geometry != GeometryKind::Unresolved)
      text += ", with " + geometryText(site->grid, site->block, site->sharedBytes);
    text += ", and has to stay right for it\n";
  }
  return text;
}

} // namespace

// In launch expressions all values are integers, so real ones come from the arguments.
std::string valuesText(const KernelSpec &kernel, const Specialization &specialization,
                       const Launch &launch) {
  std::map<std::string, std::string> values;
  for (const auto &[name, value] : launch.bindings)
    values[name] = fmt::format("{} = {}", name, value);
  for (const auto &[name, value] : realsOf({kernel, specialization, nullptr}, launch))
    values[name] = fmt::format("{} = {}", name, formatNumber(value));
  return fmt::format("{}", fmt::join(values | std::views::values, ", "));
}

std::string toleranceText(const Tolerance &tolerance) {
  return tolerance.policy == TolerancePolicy::Strict ? "bitwise equal"
         : tolerance.policy == TolerancePolicy::User
             ? fmt::format("relative {}, absolute {}", formatNumber(tolerance.relative),
                           formatNumber(tolerance.absolute))
             : "as close to exact as the baseline, for the type";
}

std::string geometryText(const Launch &launch) {
  return fmt::format("grid {}, block {}, dynamic shared memory {} bytes", dims(launch.grid),
                     dims(launch.block), launch.sharedBytes);
}

std::string subjectText(const SearchProblem &problem) {
  std::string text =
      fmt::format("{}\ncompiled as {}\n", problem.kernel.name, problem.specialization.expression);
  for (const KernelParam &param : problem.specialization.params)
    text += fmt::format("- parameter {}: {}\n", param.name, param.type);
  text += fmt::format("Outputs are compared: {}.\n", toleranceText(problem.workload.tolerance));
  if (problem.workload.objective != Objective::Mean)
    text += fmt::format("What counts is {}.\n", inWords(problem.workload.objective));
  return text;
}

std::string launchesText(const SearchProblem &problem) {
  std::string text;
  for (const Launch &launch : problem.workload.launches) {
    text += fmt::format("- {} (weight {}): {}\n", launch.name, formatNumber(launch.weight),
                        geometryText(launch));
    for (const Buffer &buffer : launch.buffers)
      text += fmt::format("  - {}: {} bytes of {}{}\n", buffer.name, buffer.bytes, buffer.scalar,
                          buffer.readOnly ? ", only read" : "");
    if (const std::string values = valuesText(problem.kernel, problem.specialization, launch);
        !values.empty())
      text += "  - values: " + values + "\n";
  }
  if (!problem.workload.launches.empty()) {
    const GeometryExpressions &site = problem.workload.launches.front().geometry;
    text += "- the launch site computes: " + geometryText(site.grid, site.block, site.sharedBytes) +
            "\n";
  }
  text += declaredText(problem);
  if (problem.device.modelled)
    text += "Launches that are declared `on cuda` have the user's real sizes; the smaller ones "
            "stand for them on the emulated device.\n";
  return text;
}

std::string deviceText(const DeviceInfo &device) {
  std::string text = fmt::format("{} ({})", device.name, device.arch);
  for (const char *name : {"multiprocessors", "shared_per_block"})
    if (const auto fact = device.facts.find(name); fact != device.facts.end())
      text += fmt::format(", {} {}", name, fact->second);
  if (device.l2Bytes)
    text += fmt::format(", L2 cache of {}", formatBytes(double(device.l2Bytes)));
  if (device.dramBytesPerSecond > 0)
    text += fmt::format(", DRAM at most {}/s", formatBytes(device.dramBytesPerSecond));
  if (device.modelled)
    text += "; emulated: counters are exact, times come from a roofline model";
  return text;
}

} // namespace kopt
