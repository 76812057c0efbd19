// SPDX-License-Identifier: Apache-2.0
#include "driver/search/proposers/ClassProposer.h"

#include "driver/model/Json.h"
#include "driver/search/proposers/LaunchClasses.h"
#include "driver/support/Text.h"
#include "driver/workload/ApplyCandidate.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace kopt {
namespace {

/// The most candidates of an answer. They are ranked by times that were measured, so what comes
/// after the first few is not worth the trials.
constexpr std::size_t kMostOffers = 2;

bool hasSameLaunch(const Candidate &one, const Candidate &other) {
  return toJson(one.launch) == toJson(other.launch);
}

/// Appends those of `more` that are not there yet.
template <class Part> void addMissing(std::vector<Part> &parts, const std::vector<Part> &more) {
  for (const Part &part : more)
    if (std::ranges::count(parts, part) == 0)
      parts.push_back(part);
}

/// Makes one candidate of a pair.
class ClassMaker {
public:
  ClassMaker(Frontend &frontend, const ProposalContext &context, const ClassPair &pair)
      : frontend_(frontend), problem_(context.problem), special_(pair.special->candidate),
        usual_(pair.usual->candidate), pair_(pair) {}

  /// Nothing if more than the body differs, or no condition tells the launches apart.
  Result<std::optional<Candidate>> make() {
    BodyGuard guard;
    if (!hasSameLaunch(special_, usual_) || !hasSameChunks() || !special_.tunables.empty() ||
        !usual_.tunables.empty() || !takeConstants(guard))
      return std::nullopt;
    KOPT_TRY(const auto condition, conditionFor());
    if (!condition)
      return std::nullopt;
    guard.condition = condition->text;
    if (condition->variable.find('.') == std::string::npos)
      guard.variables = {condition->variable};
    guard.extendsChain = usual_.technique == kClassTechnique;
    KOPT_TRY(const RenderedSlice usual, render(usual_));
    KOPT_TRY(const RenderedSlice special, render(special_));
    KOPT_TRY(GuardReply reply,
             frontend_.guard(usual, special, kernelChunk(), problem_.kernel, guard));
    if (!reply.refusal.empty())
      return std::nullopt;
    return candidateWith(std::move(reply.text), condition->text);
  }

private:
  std::size_t kernelChunk() const { return problem_.specialization.kernelChunk; }
  const SliceChunk &kernelSource() const { return problem_.specialization.chunks[kernelChunk()]; }

  Result<RenderedSlice> render(const Candidate &candidate) const {
    return renderSlice(problem_.sliceText, problem_.kernel, problem_.specialization, candidate);
  }

  bool hasSameChunks() const {
    auto one = special_.chunks, other = usual_.chunks;
    one.erase(kernelChunk());
    other.erase(kernelChunk());
    return one == other;
  }

  /// The constants with other values in the two candidates become constants of the special body.
  /// False if that does not do the same. Whether only the body uses them, the front end sees.
  bool takeConstants(BodyGuard &guard) const {
    std::set<std::string> names;
    for (const Candidate *each : {&special_, &usual_})
      for (const auto &[name, value] : each->constants)
        names.insert(name);
    const std::vector<NamedConstant> known =
        constantsInScope(problem_.kernel, problem_.specialization);
    for (const std::string &name : names) {
      const auto constant =
          std::ranges::find_if(known, [&](const auto &each) { return each.name == name; });
      const auto valueIn = [&](const Candidate &candidate) -> std::optional<std::int64_t> {
        const auto own = candidate.constants.find(name);
        if (own != candidate.constants.end())
          return own->second;
        return constant == known.end() ? std::optional<std::int64_t>() : constant->value;
      };
      if (valueIn(special_) == valueIn(usual_) ||
          (constant != known.end() && contains(kernelSource().source, constant->valueRange)))
        continue; // in the texts of the bodies already
      if (constant == known.end() || constant->usedByLaunch ||
          (constant->kind != ConstantKind::Constexpr && constant->kind != ConstantKind::Const))
        return false;
      guard.constants.push_back(name);
    }
    return true;
  }

  /// Nothing if the two are launched in different ways, by a clause that names a constant.
  Result<std::optional<LaunchCondition>> conditionFor() const {
    Workload launched = problem_.workload;
    for (Launch &launch : launched.launches) {
      KOPT_TRY(const Launch other, applyToLaunch(problem_.kernel, launch, special_));
      KOPT_TRY(launch, applyToLaunch(problem_.kernel, launch, usual_));
      if (launch.grid != other.grid || launch.block != other.block ||
          launch.sharedBytes != other.sharedBytes)
        return std::nullopt;
    }
    return conditionOn(measuresOf(problem_.specialization, launched), pair_.wins);
  }

  Candidate candidateWith(std::string text, const std::string &condition) const {
    Candidate candidate = usual_;
    // What one body needs does not disturb the other: its names are new in the file.
    addMissing(candidate.declarations, special_.declarations);
    std::ranges::stable_sort(candidate.declarations, {}, &CandidateDeclaration::before);
    addMissing(candidate.includes, special_.includes);
    candidate.chunks[kernelChunk()] = std::move(text);
    for (const NamedConstant &constant : constantsInScope(problem_.kernel, problem_.specialization))
      if (contains(kernelSource().source, constant.valueRange))
        candidate.constants.erase(constant.name); // its value is in the text
    candidate.proposer = "classes";
    candidate.technique = kClassTechnique;
    const bool isOnOriginal = usual_.contentHash() == Candidate().contentHash();
    candidate.title = fmt::format("{} where {}{}", special_.title, condition,
                                  isOnOriginal ? "" : ", otherwise " + usual_.title);
    candidate.parents = {pair_.special->candidateHash};
    if (!isOnOriginal)
      candidate.parents.push_back(pair_.usual->candidateHash);
    candidate.rationale = rationale();
    return candidate;
  }

  std::string rationale() const {
    std::vector<std::string> wins, others;
    for (std::size_t i = 0; i < pair_.wins.size(); ++i) {
      const LaunchTiming &timing = pair_.special->timings[i];
      (pair_.wins[i] ? wins : others)
          .push_back(fmt::format("{} ({:.3f}x)", timing.launch, timing.speedup.estimate));
    }
    return fmt::format("'{}' is faster on {}, but not on {}", special_.title, join(wins, ", "),
                       join(others, ", "));
  }

  Frontend &frontend_;
  const SearchProblem &problem_;
  const Candidate &special_, &usual_;
  const ClassPair &pair_;
};

} // namespace

Result<std::vector<Candidate>> ClassProposer::propose(const ProposalContext &context,
                                                      std::size_t limit) {
  std::vector<Candidate> proposals;
  const Specialization &specialization = context.problem.specialization;
  if (context.problem.workload.launches.size() < 2 || context.history.empty() ||
      specialization.kernelChunk >= specialization.chunks.size())
    return proposals;
  const SliceChunk &kernel = specialization.chunks[specialization.kernelChunk];
  if (!kernel.editable || !kernel.users.empty())
    return proposals;
  std::set<std::string> known;
  for (const Trial &trial : context.history)
    known.insert(trial.candidateHash);
  for (const ClassPair &pair :
       classPairs(context.history, context.parentTrial(), weightsOf(context.problem.workload))) {
    if (proposals.size() >= std::min(limit, kMostOffers))
      break;
    KOPT_TRY(auto candidate, ClassMaker(frontend_, context, pair).make());
    if (candidate && known.insert(candidate->contentHash()).second &&
        writeBackEdits(context.problem.kernel, specialization, *candidate))
      proposals.push_back(std::move(*candidate));
  }
  return proposals;
}

} // namespace kopt
