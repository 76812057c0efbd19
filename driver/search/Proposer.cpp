// SPDX-License-Identifier: Apache-2.0
#include "driver/search/Proposer.h"

#include "driver/source/RenderSlice.h"
#include "driver/workload/ApplyCandidate.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace kopt {

std::optional<std::string> Offers::refusal(const Candidate &candidate) const {
  const auto &[problem, history, ask] = context_;
  const std::string hash = candidate.contentHash();
  if (const Trial *same = history.find(hash))
    return fmt::format("this repeats attempt \"{}\", which ended as {}", same->candidate.title,
                       toString(same->verdict));
  if (std::ranges::count(history.waiting, hash, &WaitingCandidate::hash) > 0 ||
      std::ranges::count(taken_, hash, &Candidate::contentHash) > 0)
    return "this repeats an attempt that is not judged yet";
  for (const Launch &launch : problem.workload.launches)
    if (const auto changed = applyToLaunch(problem.kernel, launch, candidate); !changed)
      return fmt::format("launch {} is not possible: {}", launch.name, changed.error().what);
  if (const auto edits = writeBackEdits(problem.kernel, problem.specialization, candidate); !edits)
    return "the change cannot be written back to the user's source: " + edits.error().what;
  return std::nullopt;
}

std::optional<std::string> Offers::add(Candidate candidate) {
  const auto &[problem, history, ask] = context_;
  if (!ask.technique.empty() && candidate.technique != ask.technique)
    return fmt::format("the technique \"{}\" was asked for", ask.technique);
  if (auto why = refusal(candidate))
    return why;
  // The name of a candidate says what it keeps of its parent, too: its line may be read alone.
  const Trial &parent = context_.parentTrial();
  if (const std::string &kept = parent.candidate.title;
      parent.candidateHash != history.trials.front().candidateHash &&
      candidate.parents == std::vector{parent.candidateHash} && !candidate.title.starts_with(kept))
    candidate.title = kept + " + " + candidate.title;
  if (ask.role != kModelRole) // the parent's are not its own
    candidate.expects.reset();
  taken_.push_back(std::move(candidate));
  return std::nullopt;
}

void Offers::leave(const Candidate &candidate) {
  if (!refusal(candidate))
    ++left_[candidate.technique];
}

void Offers::leave(const std::string &technique, std::uint64_t count) {
  if (count > 0)
    left_[technique] += int(std::min<std::uint64_t>(count, std::numeric_limits<int>::max()));
}

void Offers::offer(Candidate candidate) {
  const std::string &wanted = context_.ask.technique;
  if (isFull() || !(wanted.empty() || wanted == candidate.technique))
    leave(candidate);
  else
    static_cast<void>(add(std::move(candidate)));
}

void ReadyProposer::start(const ProposalContext &context, Inbox &inbox) {
  Offers offers(context);
  const Status status = propose(context, offers);
  ProposerAnswer answer{offers.take()};
  answer.left = offers.takeLeft();
  if (!status)
    answer.candidates = tl::unexpected(status.error());
  inbox.put({context.ask.id, std::move(answer)});
}

} // namespace kopt
