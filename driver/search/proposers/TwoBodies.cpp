// SPDX-License-Identifier: Apache-2.0
#include "driver/search/proposers/TwoBodies.h"

#include "driver/judge/derive/ProgramLaunches.h"
#include "driver/search/proposers/LaunchClasses.h"
#include "driver/source/CandidateLaunch.h"
#include "driver/source/Expression.h"
#include "driver/source/RenderSlice.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <set>

namespace kopt {
namespace {

using Axes = std::array<std::string, 3>;

constexpr std::size_t kMostRepairs = 3; ///< of one candidate

/// Appends those of `more` that are not there yet.
template <class Part> void addMissing(std::vector<Part> &parts, const std::vector<Part> &more) {
  for (const Part &part : more)
    if (std::ranges::count(parts, part) == 0)
      parts.push_back(part);
}

/// The constants with other values in the two candidates, which become constants of the special
/// body. Nothing if that does not do the same. Whether only the body uses them, the front end sees.
std::optional<std::vector<std::string>>
constantsOf(const SearchProblem &problem, const Candidate &special, const Candidate &usual) {
  std::set<std::string> names;
  for (const Candidate *each : {&special, &usual})
    for (const auto &[name, value] : each->constants)
      names.insert(name);
  const SourceRange &kernel =
      problem.specialization.chunks[problem.specialization.kernelChunk].source;
  const std::vector<NamedConstant> known = constantsInScope(problem.kernel, problem.specialization);
  std::vector<std::string> constants;
  for (const std::string &name : names) {
    const auto constant = std::ranges::find(known, name, &NamedConstant::name);
    const auto valueIn = [&](const Candidate &candidate) -> std::optional<std::int64_t> {
      const auto own = candidate.constants.find(name);
      if (own != candidate.constants.end())
        return own->second;
      return constant == known.end() ? std::optional<std::int64_t>() : constant->value;
    };
    if (valueIn(special) == valueIn(usual) ||
        (constant != known.end() && contains(kernel, constant->valueRange)))
      continue; // in the texts of the bodies already
    if (constant == known.end() || constant->usedByLaunch ||
        (constant->kind != ConstantKind::Constexpr && constant->kind != ConstantKind::Const))
      return std::nullopt;
    constants.push_back(name);
  }
  return constants;
}

/// The launch site's expressions, over the kernel's parameters; nothing if the kernel's sites
/// differ, or are not known.
std::optional<GeometryExpressions> geometryOf(const SearchProblem &problem) {
  const Specialization &specialization = problem.specialization;
  std::optional<GeometryExpressions> geometry;
  for (const LaunchSite &site : problem.kernel.launches) {
    if (site.symbol != specialization.symbol)
      continue;
    const std::map<std::string, std::string> names = parametersAt(site, specialization);
    const GeometryExpressions own{substituted(site.grid, names), substituted(site.block, names),
                                  substituted(site.sharedBytes, names)};
    if (own.grid[0].empty() || own.block[0].empty() || own.sharedBytes.empty() ||
        (geometry && (geometry->grid != own.grid || geometry->block != own.block ||
                      geometry->sharedBytes != own.sharedBytes)))
      return std::nullopt;
    geometry = own;
  }
  return geometry;
}

/// The candidate's launch where the condition holds, and the site's elsewhere.
LaunchOverride conditionalLaunch(const LaunchOverride &own, const GeometryExpressions &site,
                                 const std::string &condition) {
  const auto either = [&](const std::string &one, const std::string &other) {
    return one == other ? one : fmt::format("({} ? {} : {})", condition, one, other);
  };
  const auto eitherOf = [&](const Axes &one, const Axes &other) {
    return Axes{either(one[0], other[0]), either(one[1], other[1]), either(one[2], other[2])};
  };
  LaunchOverride launch;
  launch.largeShared = own.largeShared;
  launch.grid = eitherOf(own.grid.value_or(site.grid), site.grid);
  launch.block = eitherOf(own.block.value_or(site.block), site.block);
  if (own.sharedBytes && own.sharedBytes != site.sharedBytes)
    launch.sharedBytes = either(*own.sharedBytes, site.sharedBytes);
  return launch;
}

bool wasRefused(const Trial &trial) {
  return trial.verdict == Verdict::WrongResult || trial.verdict == Verdict::RunFailed ||
         trial.verdict == Verdict::TimedOut;
}

} // namespace

Result<std::optional<Candidate>> withTwoBodies(Frontend &frontend, const SearchProblem &problem,
                                               const Candidate &special, const Candidate &usual,
                                               const std::string &condition,
                                               std::vector<std::string> variables) {
  const std::size_t kernel = problem.specialization.kernelChunk;
  auto one = special.chunks, other = usual.chunks;
  one.erase(kernel);
  other.erase(kernel);
  const auto constants = constantsOf(problem, special, usual);
  if (one != other || !constants || !special.tunables.empty() || !usual.tunables.empty() ||
      special.options != usual.options) // both bodies are compiled in one file
    return std::nullopt;
  const auto render = [&](const Candidate &candidate) {
    return renderSlice(problem.sliceText, problem.kernel, problem.specialization, candidate);
  };
  KOPT_TRY(const RenderedSlice usualSlice, render(usual));
  KOPT_TRY(const RenderedSlice specialSlice, render(special));
  KOPT_TRY(ChunkReply reply, frontend.guard(usualSlice, specialSlice, kernel, problem.kernel,
                                            {condition, std::move(variables), *constants,
                                             usual.technique == kClassTechnique}));
  if (!reply.refusal.empty())
    return std::nullopt;
  Candidate candidate = usual;
  // What one body needs does not disturb the other: its names are new in the file.
  addMissing(candidate.declarations, special.declarations);
  std::ranges::stable_sort(candidate.declarations, {}, &CandidateDeclaration::before);
  addMissing(candidate.includes, special.includes);
  candidate.chunks[kernel] = std::move(reply.text);
  const SourceRange &source = problem.specialization.chunks[kernel].source;
  for (const NamedConstant &constant : constantsInScope(problem.kernel, problem.specialization))
    if (contains(source, constant.valueRange))
      candidate.constants.erase(constant.name); // its value is in the text
  return candidate;
}

Result<std::optional<Candidate>> repaired(Frontend &frontend, const SearchProblem &problem,
                                          const Candidate &candidate,
                                          const std::vector<Counterexample> &wrong,
                                          const std::vector<Counterexample> &right) {
  std::vector<Counterexample> own;
  for (const Launch &launch : problem.workload.launches)
    own.push_back(counterexampleOf(problem.specialization, launch));
  std::string text;
  for (const auto &[chunk, changed] : candidate.chunks)
    text += changed + "\n";
  for (const NamedConstant &constant : constantsInScope(problem.kernel, problem.specialization))
    text += fmt::format("{}\n", constant.value); // a bound may be spelt by its name
  const auto properties = propertiesWithout(wrong, own, right, text);
  if (!properties)
    return std::nullopt;
  std::vector<std::string> texts, variables;
  bool isOfPointer = false;
  for (const LaunchProperty &property : *properties) {
    texts.push_back(property.text);
    addMissing(variables, property.variables);
    isOfPointer |= property.isOfPointer;
  }
  const std::string condition = join(texts, " && ");
  const LaunchOverride &launch = candidate.launch;
  const bool changesLaunch = launch.changesGeometry();
  const auto site = changesLaunch ? geometryOf(problem) : std::nullopt;
  if (changesLaunch && (isOfPointer || !site))
    return std::nullopt;
  // Helpers of the candidate may have changed, too: the original keeps its own.
  KOPT_TRY(auto made, withTwoBodies(frontend, problem, candidate, Candidate(), condition,
                                    std::move(variables)));
  if (!made)
    return std::nullopt;
  if (changesLaunch)
    made->launch = conditionalLaunch(launch, *site, condition);
  for (const LaunchProperty &property : *properties)
    made->requirements.push_back(property.requirement);
  made->proposer = candidate.proposer;
  made->technique = kRepairTechnique;
  made->title = fmt::format("{} where {}", candidate.title, join(made->requirements, " && "));
  made->parents = {candidate.contentHash()};
  made->rationale = fmt::format("'{}' is right on all launches of the workload, and wrong on '{}'",
                                candidate.title, wrong.front().launch);
  return made;
}

std::vector<Repairable> repairables(const std::vector<Trial> &trials) {
  std::vector<Repairable> found;
  for (auto trial = trials.rbegin(); trial != trials.rend(); ++trial) {
    if (!wasRefused(*trial) || trial->candidate.technique == kRepairTechnique ||
        trial->assurance.counterexamples.empty())
      continue;
    Repairable one{&*trial, trial->assurance.counterexamples, trial->assurance.examples};
    std::size_t repairs = 0;
    bool isOpen = true;
    for (const Trial &other : trials)
      if (other.candidate.technique == kRepairTechnique &&
          std::ranges::count(other.candidate.parents, trial->candidateHash) > 0) {
        ++repairs;
        isOpen = wasRefused(other) && !other.assurance.counterexamples.empty();
        addMissing(one.wrong, other.assurance.counterexamples);
        addMissing(one.right, other.assurance.examples);
      }
    if (isOpen && repairs < kMostRepairs)
      found.push_back(std::move(one));
  }
  return found;
}

} // namespace kopt
