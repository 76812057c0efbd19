// SPDX-License-Identifier: Apache-2.0
#include "driver/search/proposers/GivenProposer.h"

namespace kopt {

void GivenProposer::start(const ProposalContext &context, Inbox &inbox) {
  ProposerAnswer answer;
  Offers offers(context);
  const std::string &baseline = context.history.trials.front().candidateHash;
  if (context.ask.parents.front() == baseline) {
    answer.notes = given_.notes;
    for (Candidate candidate : given_.candidates) {
      candidate.parents = {baseline};
      const auto why = offers.isFull() ? "the limit of trials is reached" : offers.add(candidate);
      if (!why)
        continue;
      answer.notes.push_back(candidate.title + " is not tried: " + *why);
      tell_("note: " + answer.notes.back());
    }
  }
  answer.candidates = offers.take();
  inbox.put({context.ask.id, std::move(answer)});
}

} // namespace kopt
