// SPDX-License-Identifier: Apache-2.0
#include "driver/search/proposers/ClassProposer.h"

#include "driver/model/Json.h"
#include "driver/search/proposers/LaunchClasses.h"
#include "driver/search/proposers/TwoBodies.h"
#include "driver/source/RenderSlice.h"
#include "driver/support/Text.h"
#include "driver/workload/ApplyCandidate.h"

#include <fmt/format.h>

namespace kopt {
namespace {

/// The most candidates of an answer. They are ranked by times that were measured, so what comes
/// after the first few is not worth the trials.
constexpr std::size_t kMostOffers = 2;

/// What tells the launches that win from the others; nothing if the two candidates are launched in
/// different ways, by a clause that names a constant.
Result<std::optional<LaunchCondition>> conditionFor(const SearchProblem &problem,
                                                    const Candidate &special,
                                                    const Candidate &usual,
                                                    const std::vector<bool> &wins) {
  Workload launched = problem.workload;
  for (Launch &launch : launched.launches) {
    KOPT_TRY(const Launch other, applyToLaunch(problem.kernel, launch, special));
    KOPT_TRY(launch, applyToLaunch(problem.kernel, launch, usual));
    if (launch.grid != other.grid || launch.block != other.block ||
        launch.sharedBytes != other.sharedBytes)
      return std::nullopt;
  }
  return conditionOn(measuresOf(problem.specialization, launched), wins);
}

std::string rationaleOf(const ClassPair &pair) {
  std::vector<std::string> wins, others;
  for (std::size_t i = 0; i < pair.wins.size(); ++i) {
    const LaunchTiming &timing = pair.special->timings[i];
    (pair.wins[i] ? wins : others)
        .push_back(fmt::format("{} ({:.3f}x)", timing.launch, timing.speedup.estimate));
  }
  return fmt::format("'{}' is faster on {}, but not on {}", pair.special->candidate.title,
                     join(wins, ", "), join(others, ", "));
}

/// Nothing if more than the body differs, or no condition tells the launches apart.
Result<std::optional<Candidate>> candidateOf(Frontend &frontend, const SearchProblem &problem,
                                             const ClassPair &pair) {
  const Candidate &special = pair.special->candidate, &usual = pair.usual->candidate;
  if (toJson(special.launch) != toJson(usual.launch))
    return std::nullopt;
  KOPT_TRY(const auto condition, conditionFor(problem, special, usual, pair.wins));
  if (!condition)
    return std::nullopt;
  std::vector<std::string> variables;
  if (condition->variable.find('.') == std::string::npos)
    variables = {condition->variable};
  KOPT_TRY(auto candidate,
           withTwoBodies(frontend, problem, special, usual, condition->text, std::move(variables)));
  if (!candidate)
    return std::nullopt;
  candidate->proposer = "classes";
  candidate->technique = kClassTechnique;
  const bool isOnOriginal = usual.contentHash() == Candidate().contentHash();
  candidate->title = fmt::format("{} where {}{}", special.title, condition->text,
                                 isOnOriginal ? "" : ", otherwise " + usual.title);
  candidate->parents = {pair.special->candidateHash};
  if (!isOnOriginal)
    candidate->parents.push_back(pair.usual->candidateHash);
  candidate->rationale = rationaleOf(pair);
  return candidate;
}

} // namespace

Status ClassProposer::propose(const ProposalContext &context, Offers &offers) {
  const Specialization &specialization = context.problem.specialization;
  if (specialization.kernelChunk >= specialization.chunks.size())
    return {};
  const SliceChunk &kernel = specialization.chunks[specialization.kernelChunk];
  if (!kernel.editable || !kernel.users.empty())
    return {};
  std::size_t taken = 0;
  const auto isEnough = [&] { return offers.isFull() || taken >= kMostOffers; };
  const auto take = [&](std::optional<Candidate> candidate) {
    taken += candidate && !offers.add(std::move(*candidate));
  };
  const std::vector<Trial> &trials = context.history.trials;
  for (const Repairable &open : repairables(trials))
    if (!isEnough()) {
      KOPT_TRY(auto candidate,
               repaired(frontend_, context.problem, open.trial->candidate, open.wrong, open.right));
      take(std::move(candidate));
    }
  for (const ClassPair &pair :
       classPairs(trials, context.parentTrial(), weightsOf(context.problem.workload),
                  context.problem.workload.objective))
    if (!isEnough()) {
      KOPT_TRY(auto candidate, candidateOf(frontend_, context.problem, pair));
      take(std::move(candidate));
    }
  return {};
}

} // namespace kopt
