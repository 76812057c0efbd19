// SPDX-License-Identifier: Apache-2.0
#include "driver/search/proposers/ParamsProposer.h"

#include "driver/source/RenderSlice.h"
#include "driver/workload/InferredTunables.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>

namespace kopt {
namespace {

constexpr std::size_t kMostRefused = 500; ///< points in a row that cannot be launched or are known

using Values = std::map<std::string, std::int64_t>;

/// The user's tunables and the parent's own.
TuneDeclaration withTunablesOf(const Candidate &parent, TuneDeclaration declaration) {
  for (const CandidateTunable &tunable : parent.tunables) {
    declaration.params.push_back({.name = tunable.name, .values = tunable.values});
    declaration.requirements.insert(declaration.requirements.end(), tunable.requirements.begin(),
                                    tunable.requirements.end());
  }
  return declaration;
}

/// The values that a candidate has, as far as they are known.
Values valuesOf(const TuneDeclaration &declaration, const ProposalContext &context,
                const Candidate &candidate) {
  Values values;
  for (const CandidateTunable &tunable : candidate.tunables)
    values[tunable.name] = tunable.value;
  const Bindings &bindings = context.problem.workload.launches.front().bindings;
  for (const TunableParam &param : declaration.params) {
    if (const auto own = candidate.constants.find(param.name); own != candidate.constants.end())
      values[param.name] = own->second;
    else if (const auto bound = bindings.find(param.name); bound != bindings.end())
      values.emplace(param.name, bound->second);
  }
  return values;
}

/// The same candidate whatever its values: what a point is a point of.
std::string withoutValues(Candidate candidate, const TuneDeclaration &declaration) {
  for (const TunableParam &param : declaration.params)
    candidate.constants.erase(param.name);
  for (CandidateTunable &tunable : candidate.tunables)
    tunable.value = 0;
  return candidate.contentHash();
}

std::string titleOf(const Values &values, const Values &before) {
  std::string title;
  for (const auto &[name, value] : values)
    if (const auto old = before.find(name); old == before.end() || old->second != value)
      title += fmt::format("{}{} = {}", title.empty() ? "" : ", ", name, value);
  return title;
}

/// Constants whose text the parent has rewritten: their values can no longer be replaced by
/// position.
std::set<std::string> frozenConstants(const ProposalContext &context) {
  std::set<std::string> names;
  for (const NamedConstant &constant :
       constantsInScope(context.problem.kernel, context.problem.specialization))
    for (const auto &[index, text] : context.parent().chunks)
      if (contains(context.problem.specialization.chunks.at(index).source, constant.valueRange))
        names.insert(constant.name);
  return names;
}

/// The space of the tunables. Constants that the parent has rewritten keep their values.
Result<Space> spaceOf(const TuneDeclaration &declaration, const ProposalContext &context,
                      const Values &present) {
  const std::set<std::string> frozen = frozenConstants(context);
  std::vector<SpaceParameter> parameters;
  for (const TunableParam &param : declaration.params) {
    if (!frozen.contains(param.name))
      parameters.push_back({param.name, param.values});
    else if (const auto own = present.find(param.name); own != present.end())
      parameters.push_back({param.name, {own->second}});
  }
  std::vector<Bindings> launches;
  for (const Launch &launch : context.problem.workload.launches)
    launches.push_back(launch.bindings);
  return Space::make(std::move(parameters), declaration.requirements, launches);
}

/// The point of a candidate; nothing if a value is none of the parameter's.
std::optional<Point> pointOf(const Space &space, const Values &values) {
  Point point;
  for (const SpaceParameter &parameter : space.parameters()) {
    const auto value = values.find(parameter.name);
    if (value == values.end())
      return std::nullopt;
    const auto at = std::ranges::find(parameter.values, value->second);
    if (at == parameter.values.end())
      return std::nullopt;
    point.push_back(std::uint16_t(at - parameter.values.begin()));
  }
  return space.contains(point) ? std::optional(point) : std::nullopt;
}

/// What trials of the parent's text with other values became.
void tell(const TuneDeclaration &declaration, const ProposalContext &context, Searched &searched) {
  const std::string text = withoutValues(context.parent(), declaration);
  for (const Trial &trial : context.history.trials) {
    if (withoutValues(trial.candidate, declaration) != text)
      continue;
    const auto point = pointOf(searched.space(), valuesOf(declaration, context, trial.candidate));
    if (!point || searched.isKnown(*point))
      continue;
    const Trial *same = &trial; // of the same machine code
    if (trial.verdict == Verdict::Duplicate)
      same = context.history.find(trial.duplicateOf);
    if (same && isRight(*same) && same->speedup)
      searched.told(*point, -std::log(same->speedup->estimate));
    else if (same && !isRight(*same))
      searched.told(*point, std::nullopt);
  }
}

/// What the values were worth in other runs of the same text.
void tellElsewhere(const TuneDeclaration &declaration, const ProposalContext &context,
                   Searched &searched) {
  const std::string text = withoutValues(context.parent(), declaration);
  std::vector<Searched::Trial> trials;
  for (const TriedNumbers &tried : context.problem.precedents.numbers)
    if (withoutValues(tried.candidate, declaration) == text)
      if (auto point = pointOf(searched.space(), valuesOf(declaration, context, tried.candidate)))
        trials.push_back({std::move(*point), -tried.gain});
  searched.heard(std::move(trials));
}

/// The parent with these values.
Candidate candidateWith(const ProposalContext &context, const Values &values,
                        const Values &present) {
  Candidate candidate = context.parent();
  candidate.parents = {context.parentTrial().candidateHash};
  candidate.proposer = kNumbersRole;
  candidate.technique = kNumbersRole;
  candidate.title = titleOf(values, present);
  candidate.rationale = "tunables";
  candidate.expects.reset();
  for (const auto &[name, value] : values) {
    const auto own = std::ranges::find(candidate.tunables, name, &CandidateTunable::name);
    if (own != candidate.tunables.end())
      own->value = value;
    else
      candidate.constants[name] = value;
  }
  // Values that the source already has are not changes.
  for (const NamedConstant &constant :
       constantsInScope(context.problem.kernel, context.problem.specialization))
    if (const auto own = candidate.constants.find(constant.name);
        own != candidate.constants.end() && own->second == constant.value)
      candidate.constants.erase(own);
  for (const TemplateArg &argument : context.problem.specialization.templateArgs)
    if (const auto own = candidate.constants.find(argument.name);
        own != candidate.constants.end() && argument.integral &&
        std::to_string(own->second) == argument.value)
      candidate.constants.erase(own);
  return candidate;
}

} // namespace

ParamsProposer::ParamsProposer(TuneDeclaration declaration, NumberSearch search)
    : declaration_(std::move(declaration)), search_(search) {}

Status ParamsProposer::propose(const ProposalContext &context, Offers &offers) {
  const TuneDeclaration declaration =
      withTunablesOf(context.parent(), withProvenTunables(declaration_, context.problem.kernel,
                                                          context.problem.specialization,
                                                          context.problem.workload.launches));
  if (declaration.params.empty())
    return {};
  const Values present = valuesOf(declaration, context, context.parent());
  std::optional<Space> own;
  if (!search_.points) {
    KOPT_TRY(own, spaceOf(declaration, context, present));
  }
  const Space &space = search_.points ? *search_.points : *own;
  Searched searched(space);
  tell(declaration, context, searched);
  tellElsewhere(declaration, context, searched);
  const auto searcher = search_.searcher.make(searched, search_.seed * 0x9e3779b97f4a7c15ull +
                                                            context.history.trials.size());
  std::size_t refused = 0;
  const auto offer = [&](const Point &point) {
    searched.asked(point);
    Values values = present;
    for (std::size_t p = 0; p < point.size(); ++p)
      values[space.parameters()[p].name] = space.parameters()[p].values[point[p]];
    Candidate candidate = candidateWith(context, values, present);
    const bool isTaken = !candidate.title.empty() && !offers.add(std::move(candidate));
    refused = isTaken ? 0 : refused + 1;
  };
  while (!offers.isFull() && refused < kMostRefused) {
    const std::optional<Point> point = searcher->ask();
    if (!point)
      break;
    offer(*point);
  }
  offers.leave(kNumbersRole, space.size() - std::min(space.size(), searched.known()));
  return {};
}

} // namespace kopt
