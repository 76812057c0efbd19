// SPDX-License-Identifier: Apache-2.0
#include "driver/search/proposers/MergeProposer.h"

#include "driver/source/RenderSlice.h"
#include "driver/support/MergeTexts.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <set>

namespace kopt {
namespace {

/// What is left of three versions of a value; nothing if both changed it, and differently.
template <class T> std::optional<T> mergedValue(const T &base, const T &one, const T &other) {
  if (one == other || other == base)
    return one;
  if (one == base)
    return other;
  return std::nullopt;
}

/// True if both replaced the same declaration, and differently.
bool bothReplace(const Candidate &base, const Candidate &one, const Candidate &other) {
  const auto keeps = [](const Candidate &candidate, const CandidateDeclaration &each) {
    return std::ranges::count(candidate.declarations, each) > 0;
  };
  return one.declarations != other.declarations &&
         std::ranges::any_of(base.declarations, [&](const CandidateDeclaration &each) {
           return !keeps(one, each) && !keeps(other, each);
         });
}

/// The elements of lists without order: those of `one`, without what `other` dropped, and what it
/// added. Nothing if one of the elements, by its key, was changed by both.
template <class T, class Key>
std::optional<std::vector<T>> mergedList(const std::vector<T> &base, const std::vector<T> &one,
                                         const std::vector<T> &other, Key key) {
  const auto find = [&](const std::vector<T> &list, const T &like) -> std::optional<T> {
    const auto found = std::ranges::find(list, std::invoke(key, like), key);
    return found == list.end() ? std::nullopt : std::optional(*found);
  };
  std::vector<T> result;
  for (const std::vector<T> *list : {&one, &other})
    for (const T &each : *list) {
      if (find(result, each))
        continue;
      const auto value = mergedValue(find(base, each), find(one, each), find(other, each));
      if (!value)
        return std::nullopt;
      if (*value)
        result.push_back(**value);
    }
  return result;
}

/// The candidates that a trial was made from by its first parents, itself first.
std::vector<const Trial *> lineOf(const Trial &trial, const SearchHistory &history) {
  std::vector<const Trial *> line = {&trial};
  while (!line.back()->candidate.parents.empty()) {
    const Trial *parent = history.find(line.back()->candidate.parents.front());
    if (!parent || std::ranges::count(line, parent) > 0)
      break;
    line.push_back(parent);
  }
  if (line.back() != &history.trials.front())
    line.push_back(&history.trials.front());
  return line;
}

} // namespace

std::optional<Candidate> merged(const Candidate &base, const Candidate &one, const Candidate &other,
                                const std::vector<std::string> &chunks) {
  if (bothReplace(base, one, other))
    return std::nullopt;
  Candidate result;
  std::set<std::size_t> changed;
  for (const Candidate *each : {&one, &other})
    for (const auto &[index, text] : each->chunks)
      changed.insert(index);
  for (const std::size_t index : changed) {
    const auto textIn = [&](const Candidate &candidate) {
      const auto found = candidate.chunks.find(index);
      return found == candidate.chunks.end() ? chunks.at(index) : found->second;
    };
    auto text = mergeTexts(textIn(base), textIn(one), textIn(other));
    if (!text)
      return std::nullopt;
    result.chunks[index] = std::move(*text);
  }
  using Constant = std::pair<std::string, std::int64_t>;
  const auto constantsOf = [](const Candidate &candidate) {
    return std::vector<Constant>(candidate.constants.begin(), candidate.constants.end());
  };
  const auto constants =
      mergedList(constantsOf(base), constantsOf(one), constantsOf(other), &Constant::first);
  const auto launch = mergedValue(base.launch, one.launch, other.launch);
  const auto tunables =
      mergedList(base.tunables, one.tunables, other.tunables, &CandidateTunable::name);
  const auto includes =
      mergedList(base.includes, one.includes, other.includes, &CandidateInclude::header);
  const auto declarations = mergedList(base.declarations, one.declarations, other.declarations,
                                       &CandidateDeclaration::text);
  const auto requirements =
      mergedList(base.requirements, one.requirements, other.requirements, std::identity());
  const auto options = mergedValue(base.options, one.options, other.options);
  if (!constants || !launch || !tunables || !includes || !declarations || !requirements || !options)
    return std::nullopt;
  result.constants.insert(constants->begin(), constants->end());
  result.launch = *launch;
  result.tunables = *tunables;
  result.includes = *includes;
  result.declarations = *declarations;
  std::ranges::stable_sort(result.declarations, {}, &CandidateDeclaration::before);
  result.requirements = *requirements;
  result.options = *options;
  return result;
}

Status MergeProposer::propose(const ProposalContext &context, Offers &offers) {
  const SearchHistory &history = context.history;
  const Trial &parent = context.parentTrial();
  const std::vector<const Trial *> line = lineOf(parent, history);
  KOPT_TRY(const RenderedSlice slice, renderSlice(context.problem.sliceText, context.problem.kernel,
                                                  context.problem.specialization, Candidate()));
  std::vector<std::string> chunks;
  for (const auto &[begin, end] : slice.chunks)
    chunks.push_back(slice.text.substr(begin, end - begin));

  std::vector<const Trial *> faster;
  for (const Trial &trial : history.trials)
    if (trial.verdict == Verdict::Faster && trial.speedup)
      faster.push_back(&trial);
  std::ranges::stable_sort(faster, std::greater(),
                           [](const Trial *trial) { return trial->speedup->estimate; });
  for (const Trial *other : faster) {
    const std::vector<const Trial *> others = lineOf(*other, history);
    const auto base = std::ranges::find_first_of(line, others);
    if (*base == &parent || *base == other)
      continue;
    auto candidate = merged((*base)->candidate, parent.candidate, other->candidate, chunks);
    if (!candidate)
      continue;
    candidate->proposer = "merge";
    candidate->technique = "combine";
    std::string title = other->candidate.title;
    if (const std::string kept = (*base)->candidate.title + " + "; title.starts_with(kept))
      title.erase(0, kept.size());
    candidate->title = fmt::format("{} with {}", parent.candidate.title, title);
    candidate->parents = {parent.candidateHash, other->candidateHash};
    offers.offer(std::move(*candidate));
  }
  return {};
}

} // namespace kopt
