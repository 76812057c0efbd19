// SPDX-License-Identifier: Apache-2.0
#include "driver/search/proposers/ClassProposer.h"

#include "driver/model/Json.h"
#include "driver/search/proposers/BodyTokens.h"
#include "driver/search/proposers/GuardedBody.h"
#include "driver/search/proposers/LaunchClasses.h"
#include "driver/source/RenderSlice.h"
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

/// A declaration of one constant as a statement of a function; nothing if it is of another form.
std::optional<std::string> localDeclaration(std::string_view text) {
  for (const std::string_view prefix : {"static ", "inline "})
    if (trim(text).starts_with(prefix))
      text = trim(text).substr(prefix.size());
  std::string local(trim(text));
  if (!local.ends_with(";"))
    local += ";";
  const bool isConstant = local.starts_with("constexpr ") || local.starts_with("const ");
  const bool isOne = std::ranges::count(local, ';') == 1 && std::ranges::count(local, '=') == 1;
  if (!isConstant || !isOne || local.find_first_of("\n,#/") != local.npos ||
      usesWord(local, "__device__") || usesWord(local, "__constant__"))
    return std::nullopt;
  return local;
}

/// Makes one candidate of a pair.
class ClassMaker {
public:
  ClassMaker(const ProposalContext &context, const ClassPair &pair)
      : problem_(context.problem), special_(pair.special->candidate), usual_(pair.usual->candidate),
        pair_(pair) {}

  /// Nothing if more than the body differs, or no condition tells the launches apart.
  Result<std::optional<Candidate>> make() {
    if (!hasSameLaunch(special_, usual_) || !hasSameChunks() || !special_.tunables.empty() ||
        !usual_.tunables.empty())
      return std::nullopt;
    KOPT_TRY(rendered_, render(special_));
    KOPT_TRY(const Rendered usual, render(usual_));
    const std::string usualText = usual.chunk(kernelChunk());
    const auto head = textBeforeBody(usualText);
    if (!head)
      return std::nullopt;
    BodyGuard guard;
    if (!takeConstants(*head, guard))
      return std::nullopt;
    KOPT_TRY(const auto condition, conditionFor(*head));
    if (!condition)
      return std::nullopt;
    guard.condition = condition->text;
    guard.variable = condition->variable;
    guard.extendsChain = usual_.technique == kClassTechnique;
    auto text = guardedKernel(usualText, rendered_.chunk(kernelChunk()), guard);
    if (!text)
      return std::nullopt;
    return candidateWith(std::move(*text), condition->text);
  }

private:
  struct Rendered : RenderedSlice {
    std::string chunk(std::size_t index) const {
      return text.substr(chunks[index].first, chunks[index].second - chunks[index].first);
    }
  };

  std::size_t kernelChunk() const { return problem_.specialization.kernelChunk; }
  const SliceChunk &kernelSource() const { return problem_.specialization.chunks[kernelChunk()]; }

  Result<Rendered> render(const Candidate &candidate) const {
    KOPT_TRY(RenderedSlice slice,
             renderSlice(problem_.sliceText, problem_.kernel, problem_.specialization, candidate));
    return Rendered{std::move(slice)};
  }

  bool hasSameChunks() const {
    auto one = special_.chunks, other = usual_.chunks;
    one.erase(kernelChunk());
    other.erase(kernelChunk());
    return one == other;
  }

  /// The constants with other values in the two candidates become constants of the special body.
  /// False if that does not do the same.
  bool takeConstants(const std::string &head, BodyGuard &guard) const {
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
      if (constant == known.end() || !takeConstant(*constant, head, guard))
        return false;
    }
    return true;
  }

  /// A constant of the file, which only the kernel's body uses.
  bool takeConstant(const NamedConstant &constant, const std::string &head,
                    BodyGuard &guard) const {
    if ((constant.kind != ConstantKind::Constexpr && constant.kind != ConstantKind::Const) ||
        constant.usedByLaunch || usesWord(head, constant.name))
      return false;
    std::optional<std::string> declaration;
    for (std::size_t i = 0; i < rendered_.chunks.size(); ++i) {
      const std::string text = rendered_.chunk(i);
      if (contains(problem_.specialization.chunks[i].source, constant.valueRange))
        declaration = localDeclaration(text);
      else if (i != kernelChunk() && usesWord(text, constant.name))
        return false;
    }
    for (const Candidate *each : {&special_, &usual_})
      for (const CandidateDeclaration &added : each->declarations)
        if (usesWord(added.text, constant.name))
          return false;
    if (!declaration)
      return false;
    guard.constants.push_back({constant.name, *declaration});
    return true;
  }

  /// Nothing if the two are launched in different ways, by a clause that names a constant. Only
  /// what the kernel's own text names can be compared.
  Result<std::optional<LaunchCondition>> conditionFor(const std::string &head) const {
    Workload launched = problem_.workload;
    for (Launch &launch : launched.launches) {
      KOPT_TRY(const Launch other, applyToLaunch(problem_.kernel, launch, special_));
      KOPT_TRY(launch, applyToLaunch(problem_.kernel, launch, usual_));
      if (launch.grid != other.grid || launch.block != other.block ||
          launch.sharedBytes != other.sharedBytes)
        return std::nullopt;
    }
    std::vector<LaunchMeasure> measures = measuresOf(problem_.specialization, launched);
    std::erase_if(measures, [&](const LaunchMeasure &measure) {
      return measure.name.find('.') == std::string::npos && !usesWord(head, measure.name);
    });
    return conditionOn(measures, pair_.wins);
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

  const SearchProblem &problem_;
  const Candidate &special_, &usual_;
  const ClassPair &pair_;
  Rendered rendered_; ///< of the special candidate
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
    KOPT_TRY(auto candidate, ClassMaker(context, pair).make());
    if (candidate && known.insert(candidate->contentHash()).second &&
        writeBackEdits(context.problem.kernel, specialization, *candidate))
      proposals.push_back(std::move(*candidate));
  }
  return proposals;
}

} // namespace kopt
