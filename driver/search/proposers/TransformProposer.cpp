// SPDX-License-Identifier: Apache-2.0
#include "driver/search/proposers/TransformProposer.h"
#include "driver/source/CandidateLaunch.h"
#include "driver/source/RenderSlice.h"
#include "driver/source/SliceLines.h"
#include "driver/support/Text.h"
#include "driver/workload/ApplyCandidate.h"
#include "driver/workload/ScalarArguments.h"
#include "driver/workload/WorkloadBuilder.h"

#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <optional>
#include <set>
#include <tuple>

namespace kopt {
namespace {

/// The launches that a block's grid is written for as a person does: the launch site's, and the one
/// in which x and y are exchanged.
std::vector<LaunchOverride> plainLaunches() {
  return {
      {{{"gridDim.x", "gridDim.y", "gridDim.z"}}, {{"blockDim.x", "blockDim.y", "blockDim.z"}}},
      {{{"gridDim.y", "gridDim.x", "gridDim.z"}}, {{"blockDim.y", "blockDim.x", "blockDim.z"}}}};
}

/// The launch for whose threads an earlier candidate chose this block and grid: another block takes
/// their place.
std::optional<LaunchOverride> chosenFor(const SearchProblem &problem,
                                        const LaunchOverride &launch) {
  for (const LaunchOverride &plain : plainLaunches())
    for (const LaunchSite &site : problem.kernel.launches)
      if (site.symbol == problem.specialization.symbol &&
          isNatural(withLaunch(site, plain), launch))
        return plain;
  return coveredLaunch(launch);
}

/// Applies the offer's edits, whose offsets refer to the rendered slice, to the chunks and the
/// parent's declarations that contain them; what is inserted before a chunk becomes a declaration.
/// Nothing if an edit lies outside every editable chunk, or in a chunk that other code uses, too,
/// because the screen would refuse that; or if it would replace a grid of the parent's own.
std::optional<Candidate> candidateFrom(const TransformOffer &offer, const RenderedSlice &rendered,
                                       const ProposalContext &context) {
  Candidate candidate = context.parent();
  candidate.parents = {context.parentTrial().candidateHash};
  candidate.proposer = "transform";
  candidate.technique = offer.technique;
  candidate.title = offer.title;
  candidate.rationale = offer.note;
  const auto former =
      isCovering(offer.launch) ? chosenFor(context.problem, candidate.launch) : std::nullopt;
  if (former)
    std::tie(candidate.launch.grid, candidate.launch.block) = std::tie(former->grid, former->block);
  candidate.launch = composed(candidate.launch, offer.launch);
  if (!dividesBlocks(context.problem.kernel, context.problem.specialization, candidate.launch))
    return std::nullopt;

  // From the end of the text to its begin; of those at one place the last comes first, too.
  std::vector<SourceEdit> edits = offer.edits;
  std::ranges::stable_sort(edits, {}, [](const SourceEdit &edit) { return edit.range.begin; });
  std::ranges::reverse(edits);
  std::set<std::size_t> started;
  const std::size_t declared = candidate.declarations.size();
  for (const SourceEdit &edit : edits) {
    const auto holds = [&](const std::pair<std::uint64_t, std::uint64_t> &part) {
      return part.first <= edit.range.begin && edit.range.end <= part.second;
    };
    const auto apply = [&](std::string &text, std::uint64_t begin) {
      text.replace(edit.range.begin - begin, edit.range.end - edit.range.begin, edit.text);
    };
    const auto own = std::size_t(std::ranges::find_if(rendered.declarations, holds) -
                                 rendered.declarations.begin());
    if (own < declared) {
      if (!candidate.declarations[own].file.empty())
        return std::nullopt;
      apply(candidate.declarations[own].text, rendered.declarations[own].first);
      continue;
    }
    const auto index =
        std::size_t(std::ranges::find_if(rendered.chunks, holds) - rendered.chunks.begin());
    if (index == rendered.chunks.size())
      return std::nullopt;
    const SliceChunk &chunk = context.problem.specialization.chunks[index];
    if (!chunk.editable || !chunk.users.empty())
      return std::nullopt;
    const auto [begin, end] = rendered.chunks[index];
    if (edit.range.end == begin) {
      candidate.declarations.push_back({std::string(trim(edit.text)), index, ""});
      continue;
    }
    if (started.insert(index).second)
      candidate.chunks[index] = rendered.text.substr(begin, end - begin);
    apply(candidate.chunks[index], begin);
  }
  std::ranges::stable_sort(candidate.declarations, {}, &CandidateDeclaration::before);
  return candidate;
}

/// The user's line that an offer for one of several loops changes; empty for other offers.
std::string lineOf(const TransformOffer &offer, const RenderedSlice &rendered,
                   const SliceLines &places) {
  if (offer.technique != "unroll" || offer.edits.empty())
    return "";
  const auto begin = rendered.text.begin();
  const auto place = places.at(
      unsigned(std::count(begin, begin + std::ptrdiff_t(offer.edits[0].range.begin), '\n')) + 1);
  return place ? ", line " + std::to_string(place->line) : "";
}

/// The rank of a technique: 0 for the first one of the most severe rule; techniques that no rule
/// recommends come last. `why` receives the rule.
std::size_t rankOf(const std::string &technique, const Diagnosis &diagnosis, const RuleHit **why) {
  std::size_t rank = 0;
  for (const RuleHit &hit : diagnosis.hits)
    for (const std::string &named : hit.techniques) {
      if (named == technique) {
        *why = &hit;
        return rank;
      }
      ++rank;
    }
  return 1000;
}

} // namespace

void writeByHand(const SearchProblem &problem, Candidate &candidate) {
  const auto covered = coveredLaunch(candidate.launch);
  if (!covered || std::ranges::count(plainLaunches(), *covered) == 0)
    return;
  const LaunchSite *one = nullptr;
  for (const LaunchSite &site : problem.kernel.launches) {
    if (site.symbol != problem.specialization.symbol)
      continue;
    if (one && differ(*one, site))
      return;
    one = &site;
    for (std::size_t i = 0; i < problem.specialization.params.size() && i < site.args.size(); ++i)
      if (const std::string &name = problem.specialization.params[i].name;
          site.args[i] != name && std::ranges::count(site.variables, name) > 0)
        return;
  }
  Candidate natural = candidate;
  if (!one || one->grid[0].empty() || one->block[0].empty())
    return;
  static_cast<void>(
      writeNaturally(withLaunch(*one, *covered), blockIn(candidate.launch), natural.launch));
  if (std::ranges::all_of(problem.workload.launches, [&](const Launch &launch) {
        return applyToLaunch(problem.kernel, launch, natural).has_value();
      }))
    candidate = std::move(natural);
}

Status TransformProposer::propose(const ProposalContext &context, Offers &offers) {
  KOPT_TRY(const RenderedSlice rendered,
           renderSlice(context.problem.sliceText, context.problem.kernel,
                       context.problem.specialization, context.parent()));
  Workload launched = context.problem.workload;
  for (Launch &launch : launched.launches) {
    KOPT_TRY(launch, applyToLaunch(context.problem.kernel, launch, context.parent()));
  }
  KOPT_TRY(const std::vector<TransformOffer> found,
           frontend_.transforms(rendered.text, rendered.expression, context.problem.kernel,
                                launchShapesOf(context.problem.specialization, launched)));

  const auto places = SliceLines::inPatchedFiles(rendered, context.problem.kernel,
                                                 context.problem.specialization, context.parent())
                          .value_or(SliceLines());
  /// The candidates of one technique, in the front end's order.
  struct Variants {
    std::size_t rank = 0;
    std::deque<Candidate> candidates;
  };
  std::vector<std::pair<std::string, Variants>> techniques;
  for (const TransformOffer &offer : found) {
    std::optional<Candidate> candidate = candidateFrom(offer, rendered, context);
    if (!candidate)
      continue;
    writeByHand(context.problem, *candidate);
    candidate->title.insert(std::min(offer.title.find(": "), offer.title.size()),
                            lineOf(offer, rendered, places));
    const RuleHit *why = nullptr;
    const std::size_t rank = rankOf(offer.technique, context.parentTrial().diagnosis, &why);
    if (why)
      candidate->rationale = fmt::format("{}: {}", why->id, why->finding);
    auto variants = std::ranges::find(techniques, offer.technique,
                                      [](auto &one) -> auto & { return one.first; });
    if (variants == techniques.end())
      variants = techniques.insert(techniques.end(), {offer.technique, {rank, {}}});
    variants->second.candidates.push_back(std::move(*candidate));
  }
  // Techniques take turns, ordered by rank, so that a long list of variants does not delay the
  // others.
  std::ranges::stable_sort(techniques, {}, [](const auto &one) { return one.second.rank; });
  for (bool isLeft = true; isLeft && !offers.isFull();) {
    isLeft = false;
    for (auto &[technique, variants] : techniques)
      for (bool isTaken = false; !isTaken && !variants.candidates.empty() && !offers.isFull();) {
        isTaken = !offers.add(std::move(variants.candidates.front()));
        variants.candidates.pop_front();
        isLeft = true;
      }
  }
  return {};
}

} // namespace kopt
