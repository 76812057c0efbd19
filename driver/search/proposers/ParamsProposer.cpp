// SPDX-License-Identifier: Apache-2.0
#include "driver/search/proposers/ParamsProposer.h"

#include "driver/source/CandidateLaunch.h"
#include "driver/source/Expression.h"
#include "driver/source/RenderSlice.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <random>
#include <set>

namespace kopt {
namespace {

constexpr std::uint64_t kListable = 4096;
constexpr int kDrawsPerCandidate = 200;

using Point = std::map<std::string, std::int64_t>;

/// The user's tunables and the parent's own.
TuneDeclaration withTunablesOf(const Candidate &parent, TuneDeclaration declaration) {
  for (const CandidateTunable &tunable : parent.tunables) {
    declaration.params.push_back({.name = tunable.name, .values = tunable.values});
    declaration.requirements.insert(declaration.requirements.end(), tunable.requirements.begin(),
                                    tunable.requirements.end());
  }
  return declaration;
}

Point presentValues(const TuneDeclaration &declaration, const ProposalContext &context) {
  Point point;
  for (const CandidateTunable &tunable : context.parent().tunables)
    point[tunable.name] = tunable.value;
  const Bindings &bindings = context.problem.workload.launches.front().bindings;
  for (const TunableParam &param : declaration.params) {
    if (const auto own = context.parent().constants.find(param.name);
        own != context.parent().constants.end())
      point[param.name] = own->second;
    else if (const auto bound = bindings.find(param.name); bound != bindings.end())
      point[param.name] = bound->second;
  }
  return point;
}

bool satisfies(const std::vector<Expression> &requirements, const ProposalContext &context,
               const Point &point) {
  for (const Launch &launch : context.problem.workload.launches) {
    Bindings bindings = launch.bindings;
    for (const auto &[name, value] : point)
      bindings[name] = value;
    for (const Expression &requirement : requirements) {
      const auto holds = requirement.evaluate(bindings);
      if (!holds || *holds == 0)
        return false;
    }
  }
  return true;
}

std::string titleOf(const Point &point, const Point &before) {
  std::string title;
  for (const auto &[name, value] : point)
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

std::uint64_t spaceSize(const TuneDeclaration &declaration) {
  std::uint64_t size = 1;
  for (const TunableParam &param : declaration.params) {
    if (size > kListable)
      break; // it only matters whether the space can be listed
    size *= param.values.size();
  }
  return size;
}

Point pointAt(const TuneDeclaration &declaration, std::uint64_t index) {
  Point point;
  for (const TunableParam &param : declaration.params) {
    point[param.name] = param.values[index % param.values.size()];
    index /= param.values.size();
  }
  return point;
}

} // namespace

ParamsProposer::ParamsProposer(TuneDeclaration declaration, std::uint64_t seed)
    : declaration_(std::move(declaration)), seed_(seed) {}

Status ParamsProposer::propose(const ProposalContext &context, Offers &offers) {
  const TuneDeclaration declaration = withTunablesOf(context.parent(), declaration_);
  if (declaration.params.empty())
    return {};
  std::vector<Expression> requirements;
  for (const std::string &text : declaration.requirements) {
    KOPT_TRY(Expression requirement, Expression::parse(text));
    requirements.push_back(std::move(requirement));
  }
  const Point present = presentValues(declaration, context);
  const std::set<std::string> frozen = frozenConstants(context);
  const auto offer = [&](const Point &point) {
    for (const std::string &name : frozen)
      if (point.contains(name) && point.at(name) != present.at(name))
        return;
    if (!satisfies(requirements, context, point))
      return;
    Candidate candidate = context.parent();
    candidate.parents = {context.parentTrial().candidateHash};
    candidate.proposer = "params";
    candidate.technique = "params";
    candidate.title = titleOf(point, present);
    candidate.rationale = "declared tunables";
    for (const auto &[name, value] : point) {
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
    if (!candidate.title.empty())
      offers.add(std::move(candidate));
  };

  for (const TunableParam &param : declaration.params)
    for (const std::int64_t value : param.values) {
      if (offers.isFull())
        return {};
      Point point = present;
      point[param.name] = value;
      offer(point);
    }
  const std::uint64_t size = spaceSize(declaration);
  std::mt19937_64 random(seed_ * 0x9e3779b97f4a7c15ull +
                         std::uint64_t(context.history.trials.size()));
  if (size <= kListable) {
    std::vector<std::uint64_t> order(size);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    for (std::uint64_t i = 0; i < size && !offers.isFull(); ++i)
      offer(pointAt(declaration, order[i]));
  } else {
    const int draws = kDrawsPerCandidate * int(context.ask.limit);
    for (int draw = 0; draw < draws && !offers.isFull(); ++draw) {
      Point point;
      for (const TunableParam &param : declaration.params)
        point[param.name] = param.values[random() % param.values.size()];
      offer(point);
    }
  }
  return {};
}

} // namespace kopt
