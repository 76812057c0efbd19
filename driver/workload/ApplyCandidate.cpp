// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/ApplyCandidate.h"

#include "driver/source/CandidateLaunch.h"
#include "driver/source/Expression.h"
#include "driver/source/ExpressionTree.h"
#include "driver/workload/HostValues.h"
#include "driver/workload/WorkloadBuilder.h"
#include "runtime/device/GpuLimits.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>

namespace kopt {
namespace {

using Axes = std::array<std::string, 3>;
using KnownExpressions = std::vector<std::pair<std::string, std::int64_t>>;

/// The launch site that the launch was made from; null if there is none.
const LaunchSite *siteOf(const KernelSpec &kernel, const Launch &launch) {
  return launch.site < kernel.launches.size() ? &kernel.launches[launch.site] : nullptr;
}

bool isHostVariable(const LaunchSite *site, const std::string &name) {
  return site && std::ranges::count(site->variables, name) > 0;
}

/// The values for evaluating the candidate's expressions: the launch's own, and the candidate's
/// constants and tunables. A host variable is not a template parameter of the same name.
Bindings valuesOf(const KernelSpec &kernel, const Launch &launch, const Candidate &candidate) {
  Bindings values = launch.bindings;
  const LaunchSite *site = siteOf(kernel, launch);
  for (const auto &[name, value] : candidate.constants)
    if (!isHostVariable(site, name))
      values[name] = value;
  for (const CandidateTunable &tunable : candidate.tunables)
    values[tunable.name] = tunable.value;
  return values;
}

/// True if the candidate's expressions do not depend on those of the launch site.
bool isReplaced(const std::optional<Axes> &axes) {
  return axes && std::ranges::none_of(*axes, [](const std::string &text) {
           return text.find("gridDim.") != text.npos || text.find("blockDim.") != text.npos;
         });
}

/// A captured launch that matches no launch site's expressions has numbers for its geometry. If the
/// candidate changes a constant that a launch site's expressions use, its effect on this launch is
/// unknown: returns why. Nothing if there is no such constant.
std::optional<std::string> unknownEffect(const KernelSpec &kernel, const Launch &launch,
                                         const Candidate &candidate) {
  const bool isCaptured = std::ranges::any_of(
      launch.buffers, [](const Buffer &buffer) { return buffer.fill.kind == FillKind::Captured; });
  const auto hasExpressions = [&](const LaunchSite &site) {
    return site.grid == launch.geometry.grid && site.block == launch.geometry.block &&
           site.sharedBytes == launch.geometry.sharedBytes;
  };
  if (!isCaptured || std::ranges::any_of(kernel.launches, hasExpressions))
    return std::nullopt;
  for (const LaunchSite &site : kernel.launches)
    for (const Axes &texts : {isReplaced(candidate.launch.grid) ? Axes() : site.grid,
                              isReplaced(candidate.launch.block) ? Axes() : site.block,
                              Axes{candidate.launch.sharedBytes ? "" : site.sharedBytes, "", ""}})
      for (const std::string &text : texts)
        for (const std::string &name : namesIn(text).value_or(std::vector<std::string>())) {
          const auto changed = candidate.constants.find(name);
          const auto known = launch.bindings.find(name);
          if (changed != candidate.constants.end() && !isHostVariable(&site, name) &&
              (known == launch.bindings.end() || known->second != changed->second))
            return fmt::format("'{}' changes the launch at {}:{}, whose expressions do not give "
                               "this captured launch",
                               name, site.file, site.line);
        }
  return std::nullopt;
}

/// The launch's geometry, with the candidate's expressions where it has any.
GeometryExpressions expressionsOf(const Launch &launch, const LaunchOverride &changed) {
  GeometryExpressions expressions = launch.geometry;
  const std::map<std::string, std::string> own = dimensionsOf(expressions.grid, expressions.block);
  if (changed.grid)
    expressions.grid = substituted(*changed.grid, own);
  if (changed.block)
    expressions.block = substituted(*changed.block, own);
  if (changed.sharedBytes)
    expressions.sharedBytes = substituted(*changed.sharedBytes, own);
  return expressions;
}

/// What the launch site's expressions were in a captured launch, although the host variables in
/// them are not known: the launch's own numbers. A candidate's expressions are mostly made of them.
/// If the kernel's launch sites have different expressions there is none: it is not known which of
/// them made the launch.
KnownExpressions knownFromLaunch(const KernelSpec &kernel, const Launch &launch) {
  KnownExpressions known;
  const auto isAsFirst = [&](const LaunchSite &site) {
    return !differ(site, kernel.launches.front());
  };
  if (kernel.launches.empty() || !std::ranges::all_of(kernel.launches, isAsFirst))
    return known;
  const auto add = [&](const std::string &text, std::int64_t value) {
    const auto parsed = Expression::parse(text);
    if (parsed && !parsed->names().empty())
      known.emplace_back(plain(parsed->tree()), value);
  };
  const LaunchSite &site = kernel.launches.front();
  const std::array grid{launch.grid.x, launch.grid.y, launch.grid.z},
      block{launch.block.x, launch.block.y, launch.block.z};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    add(site.grid[axis], grid[axis]);
    add(site.block[axis], block[axis]);
  }
  add(site.sharedBytes, launch.sharedBytes);
  return known;
}

/// True if the expression names something that has no value.
bool namesUnknown(const std::string &text, const Bindings &values) {
  const auto names = namesIn(text);
  return names &&
         !std::ranges::all_of(*names, [&](const auto &name) { return values.count(name) > 0; });
}

/// Replaces what is known from the launch in expressions that name host variables without a value.
void fillInKnown(const KnownExpressions &known, const Bindings &values,
                 GeometryExpressions &expressions) {
  std::map<std::string, std::string> texts;
  for (const auto &[part, value] : known)
    texts.emplace(part, std::to_string(value));
  const auto fillIn = [&](std::string &text) {
    if (namesUnknown(text, values))
      text = substituted(text, texts);
  };
  for (std::size_t axis = 0; axis < 3; ++axis) {
    fillIn(expressions.grid[axis]);
    fillIn(expressions.block[axis]);
  }
  fillIn(expressions.sharedBytes);
}

/// The geometry, where `known` tells enough of the host variables in the expressions: it has to be
/// the same for the least and the largest values that they can have had. Fails as
/// evaluateGeometry() does.
Result<Geometry> evaluateKnowing(const KnownExpressions &known,
                                 const GeometryExpressions &expressions, const Bindings &values) {
  auto geometry = evaluateGeometry(expressions, values);
  if (geometry)
    return geometry;
  Bindings least = values, most = values;
  for (const auto &[name, range] : hostRanges(known, values)) {
    least[name] = range.least;
    most[name] = range.most;
  }
  const auto one = evaluateGeometry(expressions, least),
             other = evaluateGeometry(expressions, most);
  return one && other && *one == *other ? one : geometry;
}

/// Why every GPU refuses such a grid or block; nothing if not. Shared memory is checked elsewhere.
std::optional<std::string> impossible(const Dim3 &grid, const Dim3 &block) {
  if (block.count() > gpu::kMostThreads)
    return fmt::format("a block of {} x {} x {} has {} threads; a GPU takes at most {}", block.x,
                       block.y, block.z, block.count(), gpu::kMostThreads);
  if (block.z > gpu::kMostThreadsInZ)
    return fmt::format("a block of {} x {} x {} is {} deep in z; a GPU takes at most {}", block.x,
                       block.y, block.z, block.z, gpu::kMostThreadsInZ);
  if (grid.x > gpu::kMostGrid[0] || grid.y > gpu::kMostGrid[1] || grid.z > gpu::kMostGrid[2])
    return fmt::format("a grid of {} x {} x {} is too large; a GPU takes at most {} x {} x {}",
                       grid.x, grid.y, grid.z, gpu::kMostGrid[0], gpu::kMostGrid[1],
                       gpu::kMostGrid[2]);
  return std::nullopt;
}

tl::unexpected<Error> ofLaunch(const std::string &what, const Launch &launch) {
  return makeError(ErrorCode::Usage, fmt::format("{} in launch '{}'", what, launch.name));
}

std::optional<std::string> refusedShared(const Launch &before, const Launch &changed,
                                         const LaunchOverride &launch) {
  if (changed.sharedBytes > gpu::kMostShared)
    return fmt::format("the launch asks for {} bytes of shared memory; a GPU has at most {}",
                       changed.sharedBytes, gpu::kMostShared);
  if (changed.sharedBytes <= gpu::kSharedWithoutOptIn ||
      before.sharedBytes > gpu::kSharedWithoutOptIn || launch.largeShared)
    return std::nullopt;
  return fmt::format("the launch asks for {} bytes of dynamic shared memory; more than {} need "
                     "cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, "
                     "bytes) before it",
                     changed.sharedBytes, gpu::kSharedWithoutOptIn);
}

std::string clausePlace(const KernelSpec &kernel, const std::string &text) {
  for (const TuneClause &clause : kernel.clauses)
    if (clause.text == text)
      return fmt::format(" ({}:{})", clause.file, clause.line);
  return {};
}

/// The candidate's launch, even if a GPU would refuse it.
Result<Launch> changedLaunch(const KernelSpec &kernel, const Launch &launch,
                             const Candidate &candidate) {
  Launch changed = launch;
  if (const auto why = unknownEffect(kernel, launch, candidate))
    return makeError(ErrorCode::Usage, *why);
  changed.bindings = valuesOf(kernel, launch, candidate);
  changed.geometry = expressionsOf(launch, candidate.launch);
  const KnownExpressions known = knownFromLaunch(kernel, launch);
  fillInKnown(known, changed.bindings, changed.geometry);
  auto geometry = evaluateKnowing(known, changed.geometry, changed.bindings);
  if (!geometry) {
    std::string what = geometry.error().what;
    for (const std::string &context : geometry.error().context)
      what += " " + context;
    return makeError(ErrorCode::Usage, what);
  }
  changed.grid = geometry->grid;
  changed.block = geometry->block;
  changed.sharedBytes = geometry->sharedBytes;
  return changed;
}

std::optional<std::string> refused(const Launch &launch, const Launch &changed,
                                   const Candidate &candidate) {
  auto why = impossible(changed.grid, changed.block);
  return why ? why : refusedShared(launch, changed, candidate.launch);
}

} // namespace

Result<Launch> applyToLaunch(const KernelSpec &kernel, const Launch &launch,
                             const Candidate &candidate) {
  Result<Launch> changed = changedLaunch(kernel, launch, candidate);
  if (!changed)
    return ofLaunch(changed.error().what, launch);
  if (const auto why = refused(launch, *changed, candidate))
    return ofLaunch(*why, launch);
  return changed;
}

std::optional<std::string> whyNotLaunched(const KernelSpec &kernel, const Launch &launch,
                                          const Candidate &candidate) {
  const auto changed = changedLaunch(kernel, launch, candidate);
  if (changed)
    return refused(launch, *changed, candidate);
  const Bindings values = valuesOf(kernel, launch, candidate);
  const auto isUnknown = [&](const std::string &text) {
    return !namesIn(text) || namesUnknown(text, values);
  };
  if (unknownEffect(kernel, launch, candidate) ||
      std::ranges::any_of(expressionsOf(launch, candidate.launch).all(), isUnknown))
    return std::nullopt;
  return changed.error().what;
}

std::optional<std::string> brokenClause(const TuneDeclaration &declaration,
                                        const KernelSpec &kernel,
                                        const std::vector<Launch> &launches,
                                        const Candidate &candidate) {
  for (const TunableParam &param : declaration.params) {
    const auto value = candidate.constants.find(param.name);
    if (value != candidate.constants.end() && std::ranges::count(param.values, value->second) == 0)
      return fmt::format("{} = {} is outside of '{}' ({}:{})", param.name, value->second,
                         param.clause.text, param.clause.file, param.clause.line);
  }
  for (const std::string &requirement : declaration.requirements) {
    const auto names = namesIn(requirement);
    std::string values;
    for (const std::string &name : names ? *names : std::vector<std::string>())
      if (const auto value = candidate.constants.find(name); value != candidate.constants.end())
        values += fmt::format("{}{} = {}", values.empty() ? "" : ", ", name, value->second);
    if (values.empty())
      continue; // it names no constant of the candidate
    for (const Launch &launch : launches)
      if (const auto holds = evaluateExpression(requirement, valuesOf(kernel, launch, candidate));
          holds && *holds == 0)
        return fmt::format("'require {}'{} does not hold with {} in launch '{}'", requirement,
                           clausePlace(kernel, "require " + requirement), values, launch.name);
  }
  return std::nullopt;
}

} // namespace kopt
