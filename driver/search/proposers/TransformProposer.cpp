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
#include <cctype>
#include <fmt/format.h>
#include <functional>
#include <map>
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

bool isWordAt(const std::string &text, std::size_t at, const std::string &word) {
  const auto isPart = [&](std::size_t place) {
    return place < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[place])) || text[place] == '_');
  };
  return !isPart(at - 1) && !isPart(at + word.size()); // before the text there is no place
}

bool hasWord(const std::string &text, const std::string &word) {
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1))
    if (isWordAt(text, at, word))
      return true;
  return false;
}

void replaceWord(std::string &text, const std::string &word, const std::string &other) {
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + other.size()))
    if (isWordAt(text, at, word))
      text.replace(at, word.size(), other);
}

/// Gives the candidate copies of functions that other code uses, too, under names of their own, and
/// lets its own functions call those. `copies`: the new texts, by chunk. False if that cannot be
/// written: another function that is used elsewhere calls one of them.
bool addCopies(const std::map<std::size_t, std::string> &copies, const RenderedSlice &rendered,
               const Specialization &specialization, Candidate &candidate) {
  for (const auto &[index, text] : copies) {
    const std::string &qualified = specialization.chunks[index].name;
    const std::string name = qualified.substr(qualified.rfind(':') + 1); // npos + 1 is 0
    std::string own = name;
    for (int i = 2; hasWord(rendered.text, own); ++i)
      own = name + std::to_string(i);
    std::size_t first = specialization.chunks.size();
    for (std::size_t i = 0; i < specialization.chunks.size(); ++i) {
      const SliceChunk &chunk = specialization.chunks[i];
      const auto [begin, end] = rendered.chunks[i];
      const auto changed = candidate.chunks.find(i);
      std::string body = changed != candidate.chunks.end()
                             ? changed->second
                             : rendered.text.substr(begin, end - begin);
      if (i == index || !hasWord(body, name))
        continue;
      const bool isFunction = chunk.role == ChunkRole::Function || chunk.role == ChunkRole::Kernel;
      if (!isFunction || !chunk.editable || !chunk.users.empty())
        return false;
      first = std::min(first, i);
      replaceWord(body, name, own);
      candidate.chunks[i] = std::move(body);
    }
    if (first == specialization.chunks.size())
      return false;
    CandidateDeclaration copy{text, first, ""};
    replaceWord(copy.text, name, own);
    candidate.declarations.push_back(std::move(copy));
  }
  return true;
}

/// Applies the offer's edits, whose offsets refer to the rendered slice, to the chunks and the
/// parent's declarations that contain them; what is inserted before a chunk becomes a declaration,
/// and so does a changed copy of a function that other code uses, too, because the screen would
/// refuse to change that. Nothing if an edit lies outside every editable chunk; or if it would
/// replace a grid of the parent's own.
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
  // Where the text divides the block, as where the launch does.
  if (const std::string &multiple = offer.blockMultiple; !multiple.empty()) {
    const LaunchOverride part{{}, {{"blockDim.x / " + multiple, "blockDim.y", "blockDim.z"}}, {}};
    if (!dividesBlocks(context.problem.kernel, context.problem.specialization,
                       composed(candidate.launch, part)))
      return std::nullopt;
  }
  candidate.launch = composed(candidate.launch, offer.launch);
  if (!dividesBlocks(context.problem.kernel, context.problem.specialization, candidate.launch))
    return std::nullopt;

  // From the end of the text to its begin; of those at one place the last comes first, too.
  std::vector<SourceEdit> edits = offer.edits;
  std::ranges::stable_sort(edits, {}, [](const SourceEdit &edit) { return edit.range.begin; });
  std::ranges::reverse(edits);
  std::set<std::size_t> started;
  std::map<std::size_t, std::string> copies;
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
    const bool isCopied = !chunk.users.empty();
    if (!chunk.editable || (isCopied && chunk.role != ChunkRole::Function))
      return std::nullopt;
    const auto [begin, end] = rendered.chunks[index];
    if (edit.range.end == begin) {
      candidate.declarations.push_back({std::string(trim(edit.text)), index, ""});
      continue;
    }
    std::string &text = isCopied ? copies[index] : candidate.chunks[index];
    if (started.insert(index).second)
      text = rendered.text.substr(begin, end - begin);
    apply(text, begin);
  }
  if (!addCopies(copies, rendered, context.problem.specialization, candidate))
    return std::nullopt;
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
  /// The candidates of one technique, by what is known of them and in the front end's order.
  struct Variants {
    std::size_t rank = 0;
    std::multimap<double, Candidate, std::greater<>> candidates;
  };
  std::vector<std::pair<std::string, Variants>> techniques;
  for (const TransformOffer &offer : found) {
    if (std::ranges::find(names_, "-" + offer.technique) != names_.end())
      continue;
    std::optional<Candidate> candidate = candidateFrom(offer, rendered, context);
    if (!candidate)
      continue;
    writeByHand(context.problem, *candidate);
    const double known = context.problem.precedents.rank(*candidate);
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
    variants->second.candidates.emplace(known, std::move(*candidate));
  }
  // Techniques take turns, those first that led on before, then by rank, so that a long list of
  // variants does not delay the others.
  std::ranges::stable_sort(techniques, {}, [](const auto &one) {
    return std::pair(std::min(0.0, -one.second.candidates.begin()->first), one.second.rank);
  });
  for (bool isLeft = true; isLeft && !offers.isFull();) {
    isLeft = false;
    for (auto &[technique, variants] : techniques)
      for (bool isTaken = !context.ask.technique.empty() && technique != context.ask.technique;
           !isTaken && !variants.candidates.empty() && !offers.isFull();) {
        isTaken = !offers.add(std::move(variants.candidates.begin()->second));
        variants.candidates.erase(variants.candidates.begin());
        isLeft = true;
      }
  }
  for (const auto &[technique, variants] : techniques)
    for (const auto &[known, candidate] : variants.candidates)
      offers.leave(candidate);
  return {};
}

} // namespace kopt
